"""Length and completeness cues: what gives the key away to somebody who knows nothing of the subject.

Lengths are counted in words. The limits of MS-Exam-Gen (arXiv 2610.06170) stand in the suites: hard items stem >= 18,
options 8 to 60, advantage <= 4, ratio <= 1.15; synthesis items >= 35, 14 to 70, <= 2, <= 1.08 and never uniquely
longest.
"""

from __future__ import annotations

import re

from examgen.audits.items import AuditItem
from examgen.audits.observations import Observation, absent, counted, yes

_CLAUSE = re.compile(
    r"[,;:(—–]|\b(?:because|since|which|while|whereas|although|provided|unless|including|but|therefore|thereby|so that|"
    r"rather than|as well as)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"^(?:n/a|n\.a|(?-i:NA|NaN|nan|null|NULL)|tbd|todo|\.{2,}|-{2,}|–+|\?+|x{3,}|option \w|choice \w|"
    r"distractor ?\w?|answer \w|placeholder|(?:i )?do(?:n't| not) know|not sure|not applicable|"
    r"something else|lorem ipsum.*)\.?$",
    re.IGNORECASE,
)


def stem_words(item: AuditItem) -> Observation:
    """Words of the stem."""
    return Observation(float(len(item.stem_words)))


def option_words_least(item: AuditItem) -> Observation:
    """Words of the shortest option."""
    return Observation(float(min(item.option_lengths))) if item.options else absent()


def option_words_most(item: AuditItem) -> Observation:
    """Words of the longest option."""
    return Observation(float(max(item.option_lengths))) if item.options else absent()


def _lengths(item: AuditItem) -> tuple[int, list[int]] | None:
    """Words of the key and of the distractors; None where there is no key or no distractor."""
    if not item.key_known or not item.distractors:
        return None
    return item.option_lengths[item.key], [item.option_lengths[place] for place in item.distractors]


def key_advantage(item: AuditItem) -> Observation:
    """Words of the key less the mean of the distractors; below zero where the key is shorter."""
    lengths = _lengths(item)
    if lengths is None:
        return absent()
    return Observation(round(lengths[0] - sum(lengths[1]) / len(lengths[1]), 4), f"{lengths[0]} against {lengths[1]}")


def key_ratio(item: AuditItem) -> Observation:
    """Words of the key over the mean of the distractors; a distractor without words counts one."""
    lengths = _lengths(item)
    if lengths is None:
        return absent()
    mean = sum(max(1, length) for length in lengths[1]) / len(lengths[1])
    return Observation(round(lengths[0] / mean, 4), f"{lengths[0]} against {lengths[1]}")


def key_uniquely_longest(item: AuditItem) -> Observation:
    """One where every distractor has fewer words than the key."""
    lengths = _lengths(item)
    return absent() if lengths is None else yes(lengths[0] > max(lengths[1]), f"{lengths[0]} against {lengths[1]}")


def key_longest(item: AuditItem) -> Observation:
    """One where every distractor has fewer characters than the key."""
    if _lengths(item) is None:
        return absent()
    key, longest = len(item.key_text), max(len(item.options[place]) for place in item.distractors)
    return yes(key > longest, f"{key} characters against {longest}")


def key_uniquely_shortest(item: AuditItem) -> Observation:
    """One where every distractor has more words than the key, by half again or more."""
    lengths = _lengths(item)
    if lengths is None:
        return absent()
    return yes(min(lengths[1]) >= max(1.5 * lengths[0], lengths[0] + 2), f"{lengths[0]} against {lengths[1]}")


def key_stands_out(item: AuditItem) -> Observation:
    """One where the key is longest by at least 3 words and more than 1.25 times the mean distractor.

    NBME Item-Writing Guide (2020), ch. 3, "long correct answer"; Haladyna, Downing & Rodriguez 2002, length of options.
    """
    lengths = _lengths(item)
    if lengths is None:
        return absent()
    key, rest = lengths
    return yes(key >= max(rest) + 3 and key > 1.25 * sum(rest) / len(rest), f"{key} against {rest}")


def key_extra_clauses(item: AuditItem) -> Observation:
    """Clause marks (commas, brackets, "because", "although" ...) of the key beyond those of the fullest distractor.

    Excessive completeness of MS-Exam-Gen: a key that has to be right carries the qualifications.
    """
    if _lengths(item) is None:
        return absent()
    marks = [len(_CLAUSE.findall(option)) for option in item.options]
    return Observation(float(marks[item.key] - max(marks[place] for place in item.distractors)), item.key_text[:200])


def placeholder_options(item: AuditItem) -> Observation:
    """Options that are no answer at all: "N/A", "Option 3", "I don't know", "...".

    "None", "other" and "unknown" can be answers and do not count, and so can "Na" (sodium), "X" and "-".
    """
    return counted(option for option in item.options if _PLACEHOLDER.match(option.strip()))


def short_distractors(item: AuditItem) -> Observation:
    """Distractors with less than a third of the words of a key of six words or more (weak distractors)."""
    lengths = _lengths(item)
    if lengths is None or lengths[0] < 6:
        return absent() if lengths is None else counted(())
    return counted(item.options[place] for place in item.distractors if 3 * item.option_lengths[place] < lengths[0])
