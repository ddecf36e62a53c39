"""Typed facts of a text: the numbers, units, years, negations, comparators, names, sites and opposites that a
word-level similarity overlooks. "lesions of 3 mm" and "lesions of 8 mm" are 98 % alike as strings and say
different things.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from examgen.audits.terms import COMPARATORS, DRUG_ENDINGS, NUMBER_WORDS, OPPOSITES, PREFIXES, TERMS, UNITS


@dataclass(frozen=True)
class Fact:
    """A checkable detail: its kind, its value in one spelling, and where it stands."""

    kind: str
    value: str
    text: str
    start: int
    end: int

    @property
    def name(self) -> tuple[str, str]:
        """What two equal facts share."""
        return self.kind, self.value


@dataclass(frozen=True)
class Difference:
    """A fact that one text has and another has not, or has otherwise; an empty side says that it is missing there."""

    kind: str
    before: str
    after: str

    def __str__(self) -> str:
        if self.before == self.after:
            return f"{self.kind}: {self.before} stands elsewhere"
        return f"{self.kind}: {self.before or '(none)'} -> {self.after or '(none)'}"


def _alternatives(phrases: Sequence[str]) -> str:
    return "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len, reverse=True))


_NUMBER = re.compile(r"(?<![\w.,])(?:(?<=\s)[-−]|(?<=^)[-−])?\d+(?:[ ,]\d{3})*(?:[.,]\d+)?(?![\w]*[A-Za-z]\d)")
_SCALED = re.compile(rf"(?P<gap>[\s-]*)(?P<unit>{_alternatives(list(UNITS))})(?![^\W_])")
_NUMBER_WORD = re.compile(rf"\b(?:{_alternatives(list(NUMBER_WORDS))})\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|neither|nor|cannot|none|lacks?|lacking|fails?\s+to)\b|n['’]t\b|\bnon-?(?=[a-z]{4})",
    re.IGNORECASE,
)
_COMPARATOR = re.compile(
    rf"\b(?:{_alternatives([p for p in COMPARATORS if p[0].isalpha()])})\b|[≥≤]|[<>]=?", re.IGNORECASE
)
_TERM = re.compile(rf"\b(?:{_alternatives(list(TERMS) + list(OPPOSITES))})\b", re.IGNORECASE)
_NAME = re.compile(r"\b[^\W_]+(?:-[^\W_]+)*\b")
_NUMBERED_WORD = re.compile(r"[A-Z][a-z]{2,}-\d+")
_DRUG = re.compile(rf"\b[a-z]{{3,}}(?:{_alternatives(DRUG_ENDINGS)})s?\b", re.IGNORECASE)


def _number(text: str) -> str:
    bare = text.replace("−", "-").replace(" ", "")
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", bare):
        bare = bare.replace(",", "")
    return f"{float(bare.replace(',', '.')):.12g}" if bare.count(",") + bare.count(".") <= 1 else bare


def _numeric(text: str) -> list[Fact]:
    found: list[Fact] = []
    for match in _NUMBER.finditer(text):
        raw = match.group()
        scaled = _SCALED.match(text, match.end())
        plain_year = re.fullmatch(r"(?:1[89]|20)\d\d", raw) is not None and scaled is None
        found.append(Fact("year" if plain_year else "number", _number(raw), raw, match.start(), match.end()))
        if scaled:
            found.append(Fact("unit", UNITS[scaled["unit"]], scaled["unit"], scaled.start("unit"), scaled.end("unit")))
    for match in _NUMBER_WORD.finditer(text):
        value = NUMBER_WORDS[match.group().casefold()]
        found.append(Fact("number", value, match.group(), match.start(), match.end()))
        scaled = _SCALED.match(text, match.end())
        if scaled:
            found.append(Fact("unit", UNITS[scaled["unit"]], scaled["unit"], scaled.start("unit"), scaled.end("unit")))
    return found


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \"'“(")
    return not before or before[-1] in ".?!:\n"


def _named(text: str) -> list[Fact]:
    found: list[Fact] = []
    for match in _NAME.finditer(text):
        word = match.group()
        letters = [character for character in word if character.isalpha()]
        capitals = sum(character.isupper() for character in letters)
        first = word[0].isupper() and capitals == 1 and _starts_sentence(text, match.start())
        # "Aquaporin-4" that begins a sentence or an option is the "aquaporin-4" inside one: its number is the fact.
        ordinary = first and _NUMBERED_WORD.fullmatch(word) is not None
        mixed = bool(letters) and any(character.isdigit() for character in word) and capitals >= 1 and not ordinary
        proper = word[0].isupper() and capitals == 1 and len(word) > 3 and not first
        if capitals >= 2 or mixed or proper:
            value = re.sub(r"(?<=[A-Z])s$", "", word).casefold().replace("-", "")
            found.append(Fact("name", value, word, match.start(), match.end()))
    return found


@lru_cache(maxsize=50_000)
def facts(text: str) -> tuple[Fact, ...]:
    """The facts of a text in reading order; where two overlap the one that starts first, then the longer, stands."""
    found = _numeric(text)
    found += [Fact("negation", "not", m.group(), m.start(), m.end()) for m in _NEGATION.finditer(text)]
    for match in _COMPARATOR.finditer(text):
        value = COMPARATORS[" ".join(match.group().casefold().split())]
        found.append(Fact("comparator", value, match.group(), match.start(), match.end()))
    for match in _TERM.finditer(text):
        folded = " ".join(match.group().casefold().split())
        kind = "opposite" if folded in OPPOSITES else TERMS[folded]
        found.append(Fact(kind, OPPOSITES.get(folded, folded), match.group(), match.start(), match.end()))
    found += [
        Fact("name", m.group().casefold().removesuffix("s"), m.group(), m.start(), m.end())
        for m in _DRUG.finditer(text)
    ]
    found += _named(text)
    found.sort(key=lambda fact: (fact.start, -fact.end))
    kept: list[Fact] = []
    for fact in found:
        if not kept or fact.start >= kept[-1].end:
            kept.append(fact)
    return tuple(kept)


def differences(before: str, after: str, ordered: bool = True) -> list[Difference]:
    """How the facts of two texts differ.

    Ordered, the facts are aligned in reading order, so that two swapped numbers differ; otherwise as multisets, for
    texts that say the same in other words.
    """
    left, right = facts(before), facts(after)
    if not ordered:
        both = Counter(f.name for f in left) & Counter(f.name for f in right)
        return _paired(_beyond(left, Counter(both)), _beyond(right, Counter(both)))
    lost: list[Fact] = []
    gained: list[Fact] = []
    matcher = SequenceMatcher(None, [f.name for f in left], [f.name for f in right], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            lost += left[a:b]
            gained += right[c:d]
    return _paired(lost, gained)


def _beyond(items: Sequence[Fact], shared: Counter[tuple[str, str]]) -> list[Fact]:
    rest = []
    for fact in items:
        if shared[fact.name]:
            shared[fact.name] -= 1
        else:
            rest.append(fact)
    return rest


def _paired(left: Sequence[Fact], right: Sequence[Fact]) -> list[Difference]:
    """Differences of two runs of facts: those of the same kind face each other, the rest stand alone."""
    found, rest = [], list(right)
    for fact in left:
        partner = next((other for other in rest if other.kind == fact.kind), None)
        if partner is not None:
            rest.remove(partner)
        found.append(Difference(fact.kind, fact.text, partner.text if partner else ""))
    return found + [Difference(fact.kind, "", fact.text) for fact in rest]


@lru_cache(maxsize=100_000)
def opposed(word: str, other: str) -> bool:
    """Whether two words are opposites: listed as such, or one stem behind two contrary prefixes (hyper-, hypo-)."""
    left, right = word.casefold(), other.casefold()
    if left == right:
        return False
    if left in OPPOSITES and right in OPPOSITES:
        return OPPOSITES[left].split(":")[0] == OPPOSITES[right].split(":")[0] and OPPOSITES[left] != OPPOSITES[right]
    for group in PREFIXES:
        one, two = _split(left, group), _split(right, group)
        if one and two and one[0] != two[0] and one[1] == two[1] and len(one[1]) >= 4:
            return True
    return False


def _split(word: str, group: Sequence[str]) -> tuple[str, str] | None:
    """The prefix of a word from the group and what follows; None where it has none and the group wants one."""
    prefix = next((prefix for prefix in group if prefix and word.startswith(prefix)), "")
    return (prefix, word[len(prefix) :].lstrip("-")) if prefix or "" in group else None
