"""An item as the audits read it: any multiple-choice item, ours or from somebody else's bank, its words cut once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from examgen.records import LETTERS, BankItem, Candidate, Evidence

_WORD = re.compile(r"[^\W_]+(?:[-'’./][^\W_]+)*%?")
_SENTENCE_END = re.compile(r"(?<=[.?!:])[\"'”)]?\s+(?=[\"'“(]?[A-Z0-9])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|Dr|Mr|Mrs|Ms|St|No|Fig|al|[A-Z])\.$")

_STOP = """
a an and are as at be been being but by can could did do does for from had has have he her his how i if in into is
it its may might more most much must no nor not of on one or our shall she should so some such than that the their
them then there these they this those to too upon was we were what when where which while who whom whose why will
with would you your following about above after all also any because before below between both during each either
few further only other out over own same through under until very
"""
STOP_WORDS = frozenset(_STOP.split())
"""Words that carry no content of their own when two texts are compared."""

_SUFFIXES = (
    "izations",
    "isations",
    "ization",
    "isation",
    "ational",
    "ically",
    "ations",
    "ation",
    "ating",
    "ative",
    "ators",
    "ator",
    "ingly",
    "ments",
    "ment",
    "ities",
    "ness",
    "ings",
    "ions",
    "ates",
    "ated",
    "ies",
    "ied",
    "ing",
    "ion",
    "ate",
    "ity",
    "ous",
    "als",
    "ics",
    "ive",
    "ers",
    "ors",
    "al",
    "ic",
    "er",
    "or",
    "ed",
    "es",
    "ly",
    "s",
    "y",
    "e",
)


def words(text: str) -> list[str]:
    """The words of a text as written: letters and digits, with inner hyphens, points and apostrophes."""
    return _WORD.findall(text)


@lru_cache(maxsize=200_000)
def stemmed(word: str) -> str:
    """A word without case, possessive and common English endings; at least four letters are kept."""
    bare = word.casefold().replace("’", "'").removesuffix("'s").rstrip("'")
    for suffix in _SUFFIXES:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= 4:
            return bare[: -len(suffix)]
    return bare


def content_stems(tokens: Iterable[str]) -> list[str]:
    """Stemmed words without stop words, in order."""
    return [stemmed(word) for word in tokens if word.casefold() not in STOP_WORDS]


def sentences(text: str) -> list[str]:
    """Sentences of a short text; the full stop of a common abbreviation ends none."""
    parts: list[str] = []
    for part in _SENTENCE_END.split(text.strip()):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {part}"
        else:
            parts.append(part)
    return [part for part in parts if part.strip()]


@dataclass(frozen=True)
class AuditItem:
    """A multiple-choice item: `options` in the order shown, `key` the 0-based place of the right one."""

    item_id: str
    stem: str
    options: tuple[str, ...]
    key: int
    explanation: str = ""
    topic: str = ""
    subtopic: str = ""
    stratum: str = ""
    candidate_id: str = ""
    topic_id: str = ""
    writer: str = ""
    evidence: tuple[Evidence, ...] = field(default=())

    @classmethod
    def of(cls, candidate: Candidate | BankItem) -> AuditItem:
        """The audited view of a candidate or of a locked item."""
        return cls(
            item_id=candidate.item_id,
            stem=candidate.stem,
            options=tuple(candidate.options),
            key=candidate.key,
            explanation=candidate.explanation,
            topic=candidate.topic,
            subtopic=candidate.subtopic,
            stratum=candidate.stratum,
            candidate_id=candidate.candidate_id,
            topic_id=candidate.topic_id,
            writer=candidate.writer,
            evidence=tuple(candidate.evidence),
        )

    @property
    def row_id(self) -> str:
        """What names the item's row: the candidate's id, or the item's own where there is none."""
        return self.candidate_id or self.item_id

    @property
    def key_known(self) -> bool:
        """Whether the key points at one of the options."""
        return 0 <= self.key < len(self.options)

    @property
    def key_text(self) -> str:
        """Text of the right option; empty where the key points nowhere."""
        return self.options[self.key] if self.key_known else ""

    @property
    def key_letter(self) -> str:
        """Letter of the right option; empty where the key points nowhere."""
        return LETTERS[self.key] if self.key_known and self.key < len(LETTERS) else ""

    @cached_property
    def distractors(self) -> tuple[int, ...]:
        """Places of the wrong options."""
        return tuple(place for place in range(len(self.options)) if place != self.key)

    @cached_property
    def stem_words(self) -> list[str]:
        """Words of the stem."""
        return words(self.stem)

    @cached_property
    def stem_folded(self) -> list[str]:
        """Words of the stem, case folded."""
        return [word.casefold() for word in self.stem_words]

    @cached_property
    def option_words(self) -> list[list[str]]:
        """Words of each option."""
        return [words(option) for option in self.options]

    @cached_property
    def option_folded(self) -> list[list[str]]:
        """Words of each option, case folded."""
        return [[word.casefold() for word in option] for option in self.option_words]

    @cached_property
    def option_lengths(self) -> list[int]:
        """Number of words of each option."""
        return [len(option) for option in self.option_words]

    @cached_property
    def stem_stems(self) -> frozenset[str]:
        """Content stems of the stem."""
        return frozenset(content_stems(self.stem_words))

    @cached_property
    def option_stems(self) -> list[frozenset[str]]:
        """Content stems of each option."""
        return [frozenset(content_stems(option)) for option in self.option_words]

    @cached_property
    def stem_sentences(self) -> list[str]:
        """Sentences of the stem."""
        return sentences(self.stem)

    @cached_property
    def lead_in(self) -> str:
        """The last sentence of the stem: what is asked."""
        return self.stem_sentences[-1] if self.stem_sentences else ""

    @property
    def asks(self) -> bool:
        """Whether the lead-in is a question; otherwise the options complete it."""
        return self.stem.rstrip(" \"'”)").endswith("?")
