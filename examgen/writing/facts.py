"""What the whole corpus states: its statements, where they lie, and whether it supports a claim elsewhere."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from examgen.evidence import Statement, chunk_span, fold, sentences, statements, stitch, words_set
from examgen.lexicons import SiblingSet
from examgen.records import Chunk, Evidence
from examgen.writing.harvest import harvest
from examgen.writing.numbers import NUMBER_WORDS

_STOP = words_set(
    "a an the of in on at to for from by with within without and or but nor as is are was were be been being has "
    "have had do does did that which who whose whereas while than not no more most least at less other same such "
    "both either each all any their its it they this these those can may might must should will would could also "
    "into over under between through during after before when where if because so only per about typically usually "
    "often generally according compared"
)


_ECHO = 0.65
"""Share of common words from which two statements with the same names and numbers state one fact."""


@lru_cache(maxsize=65536)
def terms_of(text: str) -> frozenset[str]:
    """Content terms of a text: lower case, plural endings off, number words as digits, stop words left out."""
    found = set()
    for word in re.findall(r"[^\W_]+(?:[-./][^\W_]+)*%?", text.lower()):
        if word in NUMBER_WORDS:
            found.add(str(NUMBER_WORDS.index(word)))
        elif word not in _STOP:
            found.add(_stem(word))
    return frozenset(found)


def _stem(word: str) -> str:
    for ending, instead in (("ies", "y"), ("ses", "s"), ("s", "")):
        if len(word) > 4 and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)] + instead
    return word


@lru_cache(maxsize=65536)
def names_of(text: str) -> frozenset[str]:
    """Terms that name a frame: those with capitals inside or digits, such as MOGAD, FLAIR, 2017."""
    return frozenset(w.lower() for w in re.findall(r"\b(?:\w*[A-Z]\w*[A-Z][\w-]*|(?:19|20)\d\d|McDonald)\b", text))


@dataclass(frozen=True, eq=False)
class CorpusFacts:
    """Statements of all sources in order, with an index of their terms."""

    statements: tuple[Statement, ...]
    terms: tuple[frozenset[str], ...]
    postings: dict[str, tuple[int, ...]]
    vocabulary: frozenset[str]
    rarities: dict[str, float]
    kinds: tuple[SiblingSet, ...] = ()

    @classmethod
    def from_chunks(cls, chunks: Iterable[Chunk]) -> CorpusFacts:
        """Read each source's text as its chunks give it; statements that a chunk cuts are read whole."""
        by_source: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            by_source[chunk.source_id].append(chunk)
        found: list[Statement] = []
        lower: set[str] = set()
        running: list[str] = []
        for source in sorted(by_source, key=lambda name: (by_source[name][0].path, name)):
            parts = sorted(by_source[source], key=lambda chunk: (chunk.start, chunk.end))
            text = stitch(parts)
            offset = parts[0].start if text[: parts[0].start].strip() else 0
            lower.update(re.findall(r"(?<![\w-])[a-z][a-z-]+", text))
            found += [
                _with_heading(each, parts)
                for each in statements(text, source, path=parts[0].path)
                if each.start >= offset
            ]
            running += [fold(text[each.start : each.end]) for each in sentences(text)]
        found = _without_echoes(found)
        terms = tuple(terms_of(statement.text) for statement in found)
        postings: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(terms):
            for word in words:
                postings[word].append(number)
        rarities = {word: math.log((1 + len(found)) / (1 + len(places))) for word, places in postings.items()}
        return cls(tuple(found), terms, {word: tuple(p) for word, p in postings.items()}, frozenset(lower), rarities,
                   harvest(running))  # fmt: skip

    def statements_in(self, chunks: Sequence[Chunk]) -> list[tuple[Statement, Evidence]]:
        """Statements that lie whole in one of the chunks, with that chunk as evidence; in order of source and place."""
        found = []
        sources = {chunk.source_id for chunk in chunks}
        for statement in self.statements:
            if statement.source_id not in sources:
                continue
            evidence = next(filter(None, (_evidence(statement, chunk) for chunk in chunks)), None)
            if evidence:
                found.append((statement, evidence))
        return found

    def rarity(self, term: str) -> float:
        """Inverse document frequency of a term over statements."""
        return self.rarities.get(term, math.log(1 + len(self.statements)))

    def supports(self, stem: str, option: str, value: str, original: str) -> bool:
        """Whether some statement says of the stem what the option says with `value`: then it is no false option.

        It must hold the value as a phrase, every name of the stem, and most of the rarer words of stem and option.
        """
        needed = terms_of(value)
        if not needed:
            return False
        names = names_of(stem)
        rest = (terms_of(stem) | terms_of(option)) - needed - terms_of(original)
        weight = sum(self.rarity(term) for term in rest)
        phrase = re.compile(rf"(?<![\w-]){re.escape(value.lower())}(?![\w-])")
        common = min((self.postings.get(term, ()) for term in needed), key=len)
        for number in common:
            statement, terms = self.statements[number], self.terms[number]
            if (
                not needed <= terms
                or not phrase.search(statement.text.lower())
                or not names <= {w.lower() for w in names_of(statement.text)}
            ):
                continue
            shared = sum(self.rarity(term) for term in rest & terms)
            if weight and shared / weight >= 0.62 and original.lower() not in statement.text.lower():
                return True
        return False


def similarity(first: frozenset[str], second: frozenset[str], facts: CorpusFacts) -> float:
    """Share of the rarer words that two term sets have in common, between 0 and 1."""
    weight = sum(facts.rarity(term) for term in first & second)
    return weight / max(1e-9, min(sum(map(facts.rarity, first)), sum(map(facts.rarity, second))))


def _without_echoes(found: Sequence[Statement]) -> list[Statement]:
    """The statements without those that repeat an earlier one nearly word for word, names and numbers included.

    A fact that several documents state is asked once.
    """
    kept: list[Statement] = []
    seen: dict[frozenset[str], list[frozenset[str]]] = defaultdict(list)
    for statement in found:
        words = terms_of(statement.text)
        marks = frozenset(word for word in words if any(letter.isdigit() for letter in word)) | names_of(statement.text)
        if all(len(words & other) / len(words | other) < _ECHO for other in seen[marks]):
            kept.append(statement)
        seen[marks].append(words)
    return kept


def _evidence(statement: Statement, chunk: Chunk) -> Evidence | None:
    span = chunk_span(statement, chunk)
    if span is None:
        return None
    start, end = span
    return Evidence(
        source_id=chunk.source_id, chunk_id=chunk.chunk_id, quote=statement.quote, start=start, end=end
    )


def _with_heading(statement: Statement, parts: Sequence[Chunk]) -> Statement:
    """The heading of the last chunk that starts before the statement and holds it."""
    holders = [chunk for chunk in parts if chunk.start <= statement.start and statement.end <= chunk.end]
    return replace(statement, heading=holders[-1].heading) if holders else statement
