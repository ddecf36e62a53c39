"""Item-writing flaws of the options. NBME = NBME Item-Writing Guide (2020), ch. 3; HDR = Haladyna, Downing & Rodriguez,
Applied Measurement in Education 15 (2002) 309-333. Each rule says exactly what counts; none needs a model.
"""

from __future__ import annotations

import re
from itertools import combinations

from examgen.audits.facts import differences, opposed
from examgen.audits.items import AuditItem
from examgen.audits.observations import Observation, counted, yes
from examgen.ids import normalised

_THINGS = (
    r"(?:above|these|them|those|foregoing|preceding|listed|given|options?|answers?|choices?|alternatives?|"
    r"statements?|others?)"
)
_REST = (
    rf"(?:(?: {_THINGS}){{1,3}}|(?: {_THINGS}){{0,3}} (?:is|are) (?:all )?"
    r"(?:correct|true|right|valid|possible|accurate))"
)
_ALL = re.compile(rf"(?:all|each|every one)(?: three| four)?(?: of)?(?: the)?{_REST}", re.IGNORECASE)
_NONE = re.compile(rf"(?:none|neither|not any|no)(?: one)?(?: of)?(?: the)?{_REST}", re.IGNORECASE)


def bare_text(text: str) -> str:
    """An option without case and outer punctuation."""
    return normalised(text).strip(" .!;:()'\"")


def all_of_the_above(item: AuditItem) -> Observation:
    """An option that is "all of the above" or the like, as a whole: "all of the above-knee muscles" is none.

    NBME, HDR: partial knowledge of two options gives the key away.
    """
    return counted(option for option in item.options if _ALL.fullmatch(bare_text(option)))


def is_all_of_the_above(option: str) -> bool:
    """Whether an option as a whole is "all of the above" or the like."""
    return _ALL.fullmatch(bare_text(option)) is not None


def none_of_the_above(item: AuditItem) -> Observation:
    """An option that is "none of the above" or the like. A plain "None" may be a quantity and does not count.

    NBME, HDR: it measures only that wrong options are recognised.
    """
    return counted(option for option in item.options if _NONE.fullmatch(bare_text(option)))


_MARK = r"\(?(?:[A-J]|[IV]{1,4})\)?"
_COMBINED = re.compile(
    rf"(?i:both |only |options? |statements? |choices? |neither |either )*{_MARK}(?:, ?{_MARK})*,? ?(?:and|or|nor|&|"
    rf"\+) ?(?:only )?{_MARK}"
    rf"(?: only| both)?|(?:statements? )?{_MARK} only|only {_MARK}"
)
_NUMBERED = re.compile(r"(?i:both |only )*\(?\d\)?(?:, ?\(?\d\)?)*,? ?(?:and|&) ?\(?\d\)?(?: only)?|\(?\d\)? only")
_ENUMERATED = re.compile(r"(?:^|[\s(])(?:1[.):]|\(1\)|(?i:statement 1))(?=\s)")


def combined_options(item: AuditItem) -> Observation:
    """Options that combine others by letter or numeral ("both A and C", "I and III only"; K-type).

    Arabic numbers count only where the stem numbers statements. HDR: avoid complex (K-type) items.
    """
    numbered = _ENUMERATED.search(item.stem) is not None
    return counted(
        option
        for option in item.options
        if _COMBINED.fullmatch(option.strip(" .")) or (numbered and _NUMBERED.fullmatch(option.strip(" .")))
    )


_TRUTH = re.compile(
    r"(?:true|false|yes|no|correct|incorrect|right|wrong)(?:[,;/ ]+(?:and |or )?(?:true|false|yes|no))*"
)


def true_false_options(item: AuditItem) -> Observation:
    """Every option is a truth value or a row of them ("True, False"): a true-false item in disguise.

    NBME: one-best-answer instead of true-false families; HDR: avoid multiple true-false in this form.
    """
    bare = [bare_text(option) for option in item.options]
    return yes(len(bare) > 1 and all(_TRUTH.fullmatch(option) for option in bare), " / ".join(bare))


_ABSOLUTE = re.compile(
    r"\b(?:always|never|all|only|every|none|completely|entirely|totally|solely|exclusively|invariably|impossible|"
    r"under no circumstances|without exception|guarantee[sd]?|absolutely)\b",
    re.IGNORECASE,
)
_TEMPERED = re.compile(
    r"\b(?:not|almost|nearly|virtually|practically|if and|not necessarily|above|at|after|over|the|an|first) "
    r"(?:always|all|only|every|"
    r"completely|entirely|exclusively)\b|\ball[- ](?:trans|or|cause|important|purpose|in)\b|\bread[- ]only\b|\bnot "
    r"only\b|"
    r"\bonly (?:child|son|daughter)\b|^(?:all|none) of (?:the|these|them)\b|\bevery (?:\w+ )?(?:other|second|third|"
    r"fourth|\d+|two|three|four|six|day|week|month|year|hour)\b",
    re.IGNORECASE,
)


def _absolutes(text: str) -> list[str]:
    return _ABSOLUTE.findall(_TEMPERED.sub(" ", text))


def absolute_terms(item: AuditItem) -> Observation:
    """Absolute terms ("always", "never", "only") in distractors while the key has none.

    Tempered uses ("not all", "almost always", "every 6 months") and whole "all/none of the above" do not count.
    NBME: absolute terms cue the testwise, who know that absolutes are rarely right.
    """
    if not item.key_known or _absolutes(item.key_text):
        return counted(())
    texts = [item.options[place] for place in item.distractors]
    open_ones = [text for text in texts if not _ALL.fullmatch(bare_text(text)) and not _NONE.fullmatch(bare_text(text))]
    return counted(
        term for text in open_ones if bare_text(text) not in ("none", "all") for term in _absolutes(text)[:1]
    )


_VAGUE = re.compile(
    r"(?<![\w-])(?:usually|often|frequently|sometimes|occasionally|rarely|seldom|generally|commonly|many|several|some|"
    r"mostly|in most cases|in many cases|tends? to|relatively|fairly)(?![\w-])",
    re.IGNORECASE,
)


def vague_terms(item: AuditItem) -> Observation:
    """Options with a vague frequency or quantity ("usually", "often", "several"): one to a count.

    NBME, HDR: people disagree on what such words mean.
    """
    return counted(match.group() for option in item.options for match in list(_VAGUE.finditer(option))[:1])


def length_heterogeneity(item: AuditItem) -> Observation:
    """Words of the longest over words of the shortest option, where the longest has six or more; 1 otherwise.

    HDR: keep the length of choices about equal.
    """
    lengths = [max(1, length) for length in item.option_lengths]
    return Observation(round(max(lengths) / min(lengths), 3) if lengths and max(lengths) >= 6 else 1.0)


def _without_article(option: list[str]) -> list[str]:
    return option[1:] if option[:1] in (["a"], ["an"], ["the"]) else option


_JOINS = """
and or with plus including in of on at as by for from followed combined together
"""
_JOINING = frozenset(_JOINS.split())


def nested_options(item: AuditItem) -> Observation:
    """One option holds another: it ends with the other's words behind a qualifier ("deep white matter", "white
    matter"), or goes on from them with a joining word ("MRI", "MRI and CT").

    "Optic nerve sheath" is no case of "optic nerve", and what is excluded ("without ...", "not ...") nests nothing.
    HDR: keep choices independent, not overlapping; MedRCube 2.2.
    """
    found = []
    for left, right in combinations(range(len(item.options)), 2):
        short, long = sorted((_without_article(item.option_folded[place]) for place in (left, right)), key=len)
        size = len(short)
        if size == len(long) or not any(len(word) > 2 and word.isalpha() for word in short):
            continue
        extra = long[:-size] if long[-size:] == short else long[size:] if long[:size] == short else []
        if not extra or {"not", "no", "non", "without", "except", "neither"} & set(extra):
            continue
        if long[-size:] == short or (long[:size] == short and extra[0] in _JOINING):
            found.append(f"{' '.join(short)} < {' '.join(long)}")
    return counted(found)


def near_duplicate_options(item: AuditItem) -> Observation:
    """Pairs of options with the same content words in the same order and the same facts: only function words or
    endings differ.

    Options that differ in a typed detail (a number, a site, an opposite) are what a good item is made of and are
    exempt, and so is one that differs in a symbol or in the case of a short token (alleles, variables). HDR:
    independent choices.
    """
    found = []
    skeletons = [_skeleton(option) for option in item.option_words]
    for left, right in combinations(range(len(item.options)), 2):
        a, b = item.options[left], item.options[right]
        if not skeletons[left] or skeletons[left] != skeletons[right] or normalised(a) == normalised(b):
            continue
        if re.sub(r"[\w\s.,;:'\"()-]", "", a) == re.sub(r"[\w\s.,;:'\"()-]", "", b) and not differences(a, b):
            found.append(f"{a} ~ {b}"[:200])
    return counted(found)


_LINKING = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "that", "which", "is", "by", "for", "with", "it", "its"]
)


def _skeleton(option: list[str]) -> list[str]:
    """Words of an option for comparison: without articles and plain prepositions, longer ones without plural or
    verb ending.
    """
    kept = []
    for word in option:
        folded = word.casefold()
        if folded not in _LINKING or len(word) == 1:
            kept.append(re.sub(r"(?<=\w{3})(?:es|s|ed|ing)$", "", folded) if len(word) > 3 else word)
    return kept if any(len(word) > 3 for word in kept) else []


def _opposite_pair(left: list[str], right: list[str]) -> bool:
    """Whether two options are equal but for one word and its opposite."""
    if len(left) != len(right):
        return False
    swapped = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    return len(swapped) == 1 and opposed(*swapped[0])


def opposite_pair(item: AuditItem) -> Observation:
    """The key and one distractor are opposites and no other options are: the choice is between the two.

    Two pairs of opposites, or a factorial of two, give nothing away. NBME: logical cue (collectively exhaustive
    subset).
    """
    if not item.key_known or len(item.options) < 4:
        return counted(())
    pairs = [
        p
        for p in combinations(range(len(item.options)), 2)
        if _opposite_pair(item.option_folded[p[0]], item.option_folded[p[1]])
    ]
    alone = len(pairs) == 1 and item.key in pairs[0]
    return yes(alone, " / ".join(item.options[place] for place in pairs[0]) if alone else "")
