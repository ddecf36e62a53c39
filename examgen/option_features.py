"""What an option looks like, without its meaning: the features of the cue probe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

HEDGES = frozenset(WORD.findall(
    "may might can could often usually typically generally sometimes likely possibly frequently commonly probably "
    "tends suggests appears mostly rarely occasionally"
))
ABSOLUTES = frozenset(WORD.findall(
    "always never all none every only must exclusively any no entirely completely invariably"
))
CONNECTIVES = frozenset(WORD.findall(
    "because and but or while whereas which that so therefore although rather than when if with without by "
    "since thus instead"
))
ARTICLES = frozenset(("a", "an", "the"))

CENTRED = (
    "characters", "words", "mean word length", "commas", "semicolons, colons and dashes", "parentheses", "digits",
    "upper-case tokens", "hedges", "absolutes", "connectives", "type-token ratio", "final full stop",
    "initial article", "word overlap with the other options",
)
"""Features taken as the difference from the item's mean."""
RELATIVE = ("uniquely longest", "uniquely shortest", "log length over mean length", "rank of length")
STRUCTURE = CENTRED + RELATIVE
STEM = ("TF-IDF cosine with the stem", "largest TF-IDF cosine")


@dataclass(frozen=True)
class Options:
    """All options of a bank one below the other: row r belongs to item `item[r]`, item i begins at `start[i]`."""

    item: NDArray[np.int64]
    start: NDArray[np.int64]
    texts: list[str]

    @classmethod
    def of(cls, options: Sequence[Sequence[str]]) -> Options:
        """Stack the options of the items; each item has at least one."""
        sizes = np.array([len(texts) for texts in options], dtype=np.int64)
        start = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        return cls(np.repeat(np.arange(sizes.size), sizes), start, [t for texts in options for t in texts])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Options per item."""
        return np.diff(np.append(self.start, self.item.size))

    def item_mean(self, values: Array) -> Array:
        """Mean over the options of an item, repeated for each of its rows; `values` (rows,) or (rows, k)."""
        sums = np.add.reduceat(values, self.start, axis=0)
        sizes = self.sizes if values.ndim == 1 else self.sizes[:, None]
        means: Array = (sums / sizes)[self.item]
        return means

    def item_max(self, values: Array) -> Array:
        """Largest value over the options of an item, repeated for each of its rows."""
        largest: Array = np.maximum.reduceat(values, self.start, axis=0)[self.item]
        return largest


def structure_features(options: Options) -> Array:
    """(rows, len(STRUCTURE)): form alone. No feature tells the place of an option: key positions are audited apart."""
    tokens = [WORD.findall(text) for text in options.texts]
    plain = np.array([_counts(text, words) for text, words in zip(options.texts, tokens, strict=True)])
    overlap = _overlaps(options, [frozenset(w.lower() for w in words) for words in tokens])
    centred = np.column_stack([plain, overlap])
    centred = centred - options.item_mean(centred)
    length = plain[:, 0]
    longest, shortest = options.item_max(length), -options.item_max(-length)
    ties_long = options.item_mean((length == longest).astype(float)) * options.sizes[options.item]
    ties_short = options.item_mean((length == shortest).astype(float)) * options.sizes[options.item]
    unique_long = (length == longest) & (np.rint(ties_long) == 1)
    unique_short = (length == shortest) & (np.rint(ties_short) == 1)
    ratio = np.log(np.maximum(length, 1.0) / np.maximum(options.item_mean(length), 1.0))
    return np.column_stack([centred, unique_long, unique_short, ratio, _rank_in_item(options, length)])


def uniquely_longest(options: Options, keys: NDArray[Any], unit: str = "characters") -> float:
    """Share of items whose key is the one longest option, in characters or words."""
    measure = len if unit == "characters" else lambda text: len(WORD.findall(text))
    length = np.array([measure(text) for text in options.texts], dtype=float)
    at_key = options.start + keys
    top = length == options.item_max(length)
    alone = np.rint(options.item_mean(top.astype(float)) * options.sizes[options.item]) == 1
    return float((top & alone)[at_key].mean())


def _counts(text: str, words: list[str]) -> tuple[float, ...]:
    lower = [word.lower() for word in words]
    count = max(1, len(words))
    return (
        len(text), len(words), sum(map(len, words)) / count, text.count(","),
        sum(text.count(mark) for mark in ";:–—") + text.count(" - "), text.count("("),
        sum(map(str.isdigit, text)), sum(word.isupper() and len(word) > 1 for word in words),
        sum(word in HEDGES for word in lower), sum(word in ABSOLUTES for word in lower),
        sum(word in CONNECTIVES for word in lower), len(set(lower)) / count, text.rstrip().endswith("."),
        bool(lower) and lower[0] in ARTICLES,
    )


def _overlaps(options: Options, sets: list[frozenset[str]]) -> Array:
    """Mean Jaccard overlap of each option's words with those of its item's other options."""
    found = np.zeros(len(sets))
    for begin, size in zip(options.start, options.sizes, strict=True):
        for one in range(begin, begin + size):
            for two in range(one + 1, begin + size):
                union = len(sets[one] | sets[two])
                share = len(sets[one] & sets[two]) / union if union else 0.0
                found[one] += share / (size - 1)
                found[two] += share / (size - 1)
    return found


def _rank_in_item(options: Options, length: Array) -> Array:
    """Rank of the length within the item, 0 shortest to 1 longest, ties at their mean."""
    below, equal = np.zeros(length.size), np.zeros(length.size)
    width = int(options.sizes.max(initial=1))
    for shift in range(1, width):
        same = options.item[shift:] == options.item[:-shift]
        first, second = length[:-shift][same], length[shift:][same]
        rows = np.flatnonzero(same)
        below[rows] += second < first
        below[rows + shift] += first < second
        equal[rows] += second == first
        equal[rows + shift] += second == first
    ranks: Array = (below + equal / 2) / np.maximum(options.sizes[options.item] - 1, 1)
    return ranks


def stem_cosines(
    options: Options, stems: Sequence[str], fold: NDArray[np.int64], n_folds: int
) -> tuple[Array, Array]:
    """TF-IDF cosine of each option with its stem: fitted on all items (rows,), and per left-out fold (rows, folds).

    A document is a stem or an option; idf = ln((1 + N) / (1 + df)) + 1, and a term unseen in training weighs
    nothing. Column f is fitted without the items of fold f: its document counts are subtracted from the whole,
    nothing is fitted twice. `fold` gives the fold of each item.
    """
    option_terms, stem_terms = _term_counts([*options.texts, *stems], len(options.texts))
    owner = np.concatenate([fold[options.item], fold])
    documents = sparse.vstack([option_terms, stem_terms]).tocsr()
    present = documents.copy()
    present.data = np.ones_like(present.data)
    member = sparse.csr_matrix((np.ones(owner.size), (owner, np.arange(owner.size))), shape=(n_folds, owner.size))
    per_fold = np.asarray((member @ present).todense())
    counts = np.vstack([per_fold.sum(axis=0, keepdims=True), per_fold.sum(axis=0) - per_fold])
    sizes = np.bincount(owner, minlength=n_folds)
    totals = np.concatenate(([owner.size], owner.size - sizes))[:, None]
    weights = np.where(counts > 0, (np.log((1.0 + totals) / (1.0 + counts)) + 1.0) ** 2, 0.0).T
    shared = option_terms.multiply(stem_terms[options.item]) @ weights
    own = np.sqrt(option_terms.multiply(option_terms) @ weights)
    stem = np.sqrt(stem_terms.multiply(stem_terms) @ weights)[options.item]
    product = own * stem
    cosine = np.divide(shared, product, out=np.zeros_like(product), where=product > 0)
    return cosine[:, 0], cosine[:, 1:]


def stem_features(options: Options, cosine: Array) -> Array:
    """(…, 2): the cosine minus its item's mean, and whether it is the item's largest; `cosine` (rows,) or (rows, k)."""
    largest = (cosine >= options.item_max(cosine) - 1e-12) & (cosine > 0)
    return np.stack([cosine - options.item_mean(cosine), largest.astype(float)], axis=-1)


def _term_counts(texts: Sequence[str], split: int) -> tuple[Any, Any]:
    """Term counts of the first `split` texts and of the rest, as sparse rows over one vocabulary."""
    vocabulary: dict[str, int] = {}
    pointers: list[int] = [0]
    columns: list[int] = []
    for text in texts:
        columns.extend(vocabulary.setdefault(word.lower(), len(vocabulary)) for word in WORD.findall(text))
        pointers.append(len(columns))
    matrix = sparse.csr_matrix((np.ones(len(columns)), columns, pointers), shape=(len(texts), max(1, len(vocabulary))))
    matrix.sum_duplicates()
    return matrix[:split], matrix[split:]
