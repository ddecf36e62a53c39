"""Which pairs of texts can be alike in a bank too large to compare every pair: an inverted index of rare pieces.

Two texts that are 90 % alike share most of their runs of characters. Each text is indexed by the runs of five and of
nine characters that at most `COMMON` texts of the bank hold; texts that share two of them are compared. Runs that many
texts hold ("which of the following") say nothing and would cost the square of their number. So work grows with the
number of texts and not with its square, and memory is that of the index.

Texts made from one template can share common runs alone. For them every text is also compared with its neighbours in
two orders, of the texts and of the texts read backwards (the sorted neighbourhood of Hernández and Stolfo 1995): a
family of thousands of variants gets partners for each, though not all pairs.

This may lose a pair, unlike `blocking`: one whose edits leave no rare run of five characters whole. A test finds every
pair that brute force finds among 3,000 texts with edits in random places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from examgen.audits.blocking import candidate_pairs, code_units

COMMON = 64
"""A run that more texts than this hold is no anchor."""

RUNS = (5, 9)
"""Lengths of the runs: short ones for short texts and for edits everywhere, long ones where short ones are common."""

SHARED = 2
"""Anchors that two texts must share to be compared."""

SHORT = 40
"""Texts below this length have too few runs; they are compared by bounds on their characters."""

WINDOW = 8
"""Neighbours compared in each of the two orders."""

_SLOTS = 1 << 24
_ROWS = 256


def _runs(text: str) -> np.ndarray:
    """Slots of the distinct runs of a text."""
    units = code_units(text).astype(np.uint64)
    found = []
    for length in RUNS:
        if len(units) < length:
            continue
        hashed = np.full(len(units) - length + 1, length, dtype=np.uint64)
        for place in range(length):
            hashed = hashed * np.uint64(0x9E3779B97F4A7C15) + units[place : len(units) - length + 1 + place]
        found.append((hashed ^ (hashed >> np.uint64(29))) >> np.uint64(16))
    return np.unique(np.concatenate(found) % np.uint64(_SLOTS)).astype(np.int64) if found else np.empty(0, np.int64)


def _index(texts: Sequence[str]) -> sparse.csr_array:
    """Texts by anchors: 1 where a text holds a run that some other text holds and not too many."""
    held = np.zeros(_SLOTS, dtype=np.int32)
    for text in texts:
        held[_runs(text)] += 1
    anchor = (held > 1) & (held <= COMMON)
    kept = [runs[anchor[runs]].astype(np.int32) for runs in map(_runs, texts)]
    starts = np.concatenate(([0], np.cumsum([len(runs) for runs in kept])))
    places = np.concatenate(kept) if kept else np.empty(0, dtype=np.int32)
    return sparse.csr_array((np.ones(len(places), dtype=np.int16), places, starts), shape=(len(texts), _SLOTS))


def _sharing(texts: Sequence[str]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of texts that share anchors."""
    index = _index(texts)
    across = index.T.tocsr()
    for begin in range(0, len(texts), _ROWS):
        shared = (index[begin : begin + _ROWS] @ across).tocoo()
        left, right = shared.row + begin, shared.col
        wanted = (shared.data >= SHARED) & (right > left)
        yield left[wanted], right[wanted]


def _neighbours(texts: Sequence[str]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of texts that stand close to each other in one of the two orders."""
    for keys in (list(texts), [text[::-1] for text in texts]):
        order = np.array(sorted(range(len(texts)), key=keys.__getitem__))
        for step in range(1, min(WINDOW, len(texts) - 1) + 1):
            yield np.minimum(order[:-step], order[step:]), np.maximum(order[:-step], order[step:])


def anchored_pairs(texts: Sequence[str], threshold: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of pairs (places in `texts`, the earlier first) that may reach the similarity. A pair may come twice."""
    sizes = np.array([len(text) for text in texts])
    for left, right in _neighbours(texts):
        yield _near_in_length(left, right, sizes, threshold)
    for left, right in _sharing(texts):
        yield _near_in_length(left, right, sizes, threshold)
    short = np.flatnonzero(sizes < SHORT * (2 - threshold) / threshold)
    for left, right in candidate_pairs([texts[int(place)] for place in short], threshold):
        wanted = np.minimum(sizes[short[left]], sizes[short[right]]) < SHORT
        left, right = short[left[wanted]], short[right[wanted]]
        yield np.minimum(left, right), np.maximum(left, right)


def _near_in_length(
    left: np.ndarray, right: np.ndarray, sizes: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    gap, whole = np.abs(sizes[left] - sizes[right]), sizes[left] + sizes[right]
    wanted = gap <= (1 - threshold) * whole + 1e-6
    return left[wanted], right[wanted]
