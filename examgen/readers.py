"""Open-book readers without a model: the option that passages support best, by words or by vectors."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from examgen.ids import seed_of
from examgen.records import BankItem, Chunk

Vectors = npt.NDArray[np.float32]


_WORD = re.compile(r"[^\W_]+(?:[.\-/][^\W_]+)*")


_STOP = frozenset(
    {
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "could",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "may",
        "more",
        "most",
        "no",
        "not",
        "of",
        "on",
        "or",
        "than",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "will",
        "with",
        "would",
    }
)


READ_PASSAGES = 5
"""Passages the open-book readers look at for one item."""


@dataclass(frozen=True)
class BaselineAnswer:
    """The bank place chosen and the likelihood given to each option (summing to 1), in the bank's own order."""

    choice: int
    probabilities: tuple[float, ...]


def words(text: str) -> list[str]:
    """Content words, lower case, in order; numbers and hyphenated terms stay whole."""
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP]


def softmax(scores: Sequence[float], sharpness: float = 1.0) -> tuple[float, ...]:
    """Scores as likelihoods."""
    top = max(scores)
    raised = [math.exp(sharpness * (score - top)) for score in scores]
    return tuple(value / sum(raised) for value in raised)


def best_place(scores: Sequence[float], item: BankItem) -> int:
    """The place of the highest score; ties are broken by a draw seeded with the item and the option's text."""
    top = max(scores)
    tied = [place for place, score in enumerate(scores) if score >= top - 1e-12]
    return min(tied, key=lambda place: (seed_of("tie", item.item_id, item.options[place]), place))


def scored(scores: Sequence[float], item: BankItem, sharpness: float = 1.0) -> BaselineAnswer:
    """The best place, and scores made likelihoods by a softmax of the given sharpness."""
    return BaselineAnswer(best_place(scores, item), softmax(scores, sharpness))


class LexicalReader:
    """Open book: BM25 (Robertson & Zaragoza 2009, k1 1.2, b 0.75) finds passages, then each option is read in them.

    An option's score is the summed rarity of its words found in the best sentence window of a passage, the rarity
    of the
    stem's words in the same window counting as its relevance.
    """

    def __init__(self, chunks: Sequence[Chunk], k1: float = 1.2, b: float = 0.75) -> None:
        self._texts = [chunk.text for chunk in sorted(chunks, key=lambda chunk: chunk.chunk_id)]
        bags = [Counter(words(text)) for text in self._texts]
        lengths = [max(1, sum(bag.values())) for bag in bags]
        mean = sum(lengths) / max(1, len(lengths))
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, bag in enumerate(bags):
            for word, count in bag.items():
                found[word].append((number, count))
        total = len(bags)
        self._rarity = {
            word: math.log(1 + (total - len(places) + 0.5) / (len(places) + 0.5)) for word, places in found.items()
        }
        self._weights = {
            word: [
                (n, self._rarity[word] * count * (k1 + 1) / (count + k1 * (1 - b + b * lengths[n] / mean)))
                for n, count in places
            ]
            for word, places in found.items()
        }
        self._windows: dict[int, list[frozenset[str]]] = {}

    def passages(self, query: str, count: int = READ_PASSAGES) -> list[int]:
        """Numbers of the passages that fit a query best, best first."""
        scores: dict[int, float] = defaultdict(float)
        for word in set(words(query)):
            for number, weight in self._weights.get(word, ()):
                scores[number] += weight
        return sorted(scores, key=lambda number: (-scores[number], number))[:count]

    def _windows_of(self, number: int) -> list[frozenset[str]]:
        """Word sets of each sentence with its neighbour."""
        if number not in self._windows:
            sentences = [
                set(words(part)) for part in re.split(r"(?<=[.!?])\s+|\n+", self._texts[number]) if part.strip()
            ]
            pairs = [a | b for a, b in pairwise(sentences)]
            self._windows[number] = [frozenset(window) for window in sentences + pairs]
        return self._windows[number]

    def read(self, item: BankItem) -> BaselineAnswer:
        """The option best supported by the passages found for stem and options together."""
        windows = [
            window
            for number in self.passages(item.stem + " " + " ".join(item.options))
            for window in self._windows_of(number)
        ]
        stem = set(words(item.stem))
        weigh = self._rarity.get
        scores = []
        for option in item.options:
            own = set(words(option)) - stem or set(words(option))
            whole = sum(weigh(word, 3.0) for word in own) or 1.0
            about = sum(weigh(word, 0.0) for word in stem) or 1.0
            scores.append(
                max(
                    (
                        sum(weigh(word, 0.0) for word in own & window)
                        / whole
                        * (0.3 + sum(weigh(word, 0.0) for word in stem & window) / about)
                        for window in windows
                    ),
                    default=0.0,
                )
            )
        return scored(scores, item, 10.0)


class EmbeddingReader:
    """Open book by vectors: the option whose statement (stem and option together) lies nearest to a passage."""

    def __init__(self, passages: Vectors, embed: Callable[[list[str]], Vectors]) -> None:
        self._passages = passages
        self._embed = embed

    def read_all(self, items: Sequence[BankItem]) -> list[BaselineAnswer]:
        """Answers to many items with one embedding call."""
        texts = [f"{item.stem} {option}" for item in items for option in item.options]
        if not texts:
            return []
        nearness = (self._embed(texts) @ self._passages.T).max(axis=1)
        answers, start = [], 0
        for item in items:
            stop = start + len(item.options)
            answers.append(scored([float(value) for value in nearness[start:stop]], item, 50.0))
            start = stop
        return answers
