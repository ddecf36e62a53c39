"""Item-writing flaws that cue the testwise: what in the wording sets the key apart. NBME = NBME Item-Writing Guide
(2020), ch. 3, "flaws that cue the testwise examinee"; HDR = Haladyna, Downing & Rodriguez, Applied Measurement in
Education 15 (2002).
"""

from __future__ import annotations

import re

from examgen.audits.items import AuditItem, words
from examgen.audits.observations import Observation, counted, yes
from examgen.ids import normalised


def clang(item: AuditItem) -> Observation:
    """Content words (more than three letters, compared by stem) that the stem shares with the key and no distractor.

    NBME: "word repeats"; HDR: clang association.
    """
    if not item.key_known:
        return counted(())
    elsewhere = {stem for place in item.distractors for stem in item.option_stems[place]}
    shared = item.stem_stems & item.option_stems[item.key] - elsewhere
    return counted(sorted(stem for stem in shared if len(stem) > 3 and not stem.isdigit()))


def key_in_stem(item: AuditItem) -> Observation:
    """The key's own text stands in the stem and no distractor's does. NBME: logical cue."""
    if not item.key_known:
        return counted(())
    stem = f" {' '.join(item.stem_folded)} "
    inside = [len(" ".join(option)) > 5 and f" {' '.join(option)} " in stem for option in item.option_folded]
    alone = inside[item.key] and sum(inside) == 1
    return yes(alone, item.key_text)


def convergence(item: AuditItem) -> Observation:
    """The key is where the options meet: it shares one content word with one distractor and another with another,
    no other option does so, and its words recur in the other options more often than anybody's.

    In a two-by-two factorial every option meets two others and nothing is given away. NBME: convergence strategy.
    """
    if not item.key_known or len(item.options) < 3:
        return counted(())
    sets = [frozenset(s for s in stems if len(s) > 1) for stems in item.option_stems]
    everywhere = frozenset.intersection(*sets)
    own = [stems - everywhere for stems in sets]
    meets = [_meets(own, place) for place in range(len(own))]
    recurs = [sum(len(stems & other) for j, other in enumerate(own) if j != place) for place, stems in enumerate(own)]
    best = all(recurs[item.key] > recurs[place] for place in item.distractors)
    alone = bool(meets[item.key]) and best and not any(meets[place] for place in item.distractors)
    return yes(alone, ", ".join(meets[item.key]))


def _meets(own: list[frozenset[str]], place: int) -> list[str]:
    """Words by which an option meets two others that do not share them with each other."""
    links = [own[place] & other for j, other in enumerate(own) if j != place]
    for first, left in enumerate(links):
        for right in links[first + 1 :]:
            if left - right and right - left:
                return sorted((left - right) | (right - left))
    return []


_ABBREVIATION = re.compile(r"\b(?=[A-Za-z\d-]*[A-Z][A-Za-z\d-]*[A-Z])[A-Za-z][A-Za-z\d-]*\b")
_ROMAN = re.compile(r"^[IVXLC]+$")


def _abbreviations(text: str) -> list[str]:
    letters = [character for character in text if character.isalpha()]
    if len(letters) > 12 and sum(character.isupper() for character in letters) > 0.6 * len(letters):
        return []
    found = _ABBREVIATION.findall(text)
    return [
        word
        for word in found
        if not _ROMAN.match(word) and sum(c.isupper() for c in word) * 2 >= len(word) - word.count("-")
    ]


def abbreviation_cue(item: AuditItem) -> Observation:
    """Abbreviations in the key that stand neither in the stem nor in any distractor, while no distractor has any.

    Roman numerals and text in capitals throughout do not count. Issue 4's "abbreviation only in the key"; NBME: cues.
    """
    if not item.key_known:
        return counted(())
    if any(_abbreviations(item.options[place]) for place in item.distractors):
        return counted(())
    known = set(words(item.stem))
    return counted(word for word in _abbreviations(item.key_text) if word not in known)


_HEDGE = re.compile(
    r"\b(?:may|might|could|typically|generally|usually|often|sometimes|possibly|probably|tends? to|in most cases|in "
    r"some cases|"
    r"relatively|can be|potentially)\b"
)


def hedged_key(item: AuditItem) -> Observation:
    """Hedges ("may", "typically", "can be") in the key while no distractor has one. NBME: testwise examinees pick the
    qualified option. The month of May is none.
    """
    if not item.key_known or any(_HEDGE.search(item.options[place]) for place in item.distractors):
        return counted(())
    return counted(_HEDGE.findall(item.key_text))


_NEGATED = re.compile(r"\b(?:not|no|never|without|neither|cannot|nor)\b|n['’]t\b", re.IGNORECASE)


def negation_cue(item: AuditItem) -> Observation:
    """The key is the one option with a negation, or the one without, among four or more. HDR: word choices
    positively.
    """
    if not item.key_known or len(item.options) < 4:
        return counted(())
    negated = [_NEGATED.search(option) is not None or normalised(option) == "none" for option in item.options]
    alone = (
        len({negated[place] for place in item.distractors}) == 1 and negated[item.key] != negated[item.distractors[0]]
    )
    return yes(alone, item.key_text[:100])
