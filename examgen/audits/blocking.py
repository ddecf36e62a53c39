"""Which pairs of texts can be alike at all: a filter that loses no pair above the threshold.

Two texts of lengths a and b have normalised indel similarity t when (1 - t)(a + b) insertions and deletions turn one
into the other. Each of them changes the count of one character by one, and the counts of neighbouring characters by
three, so the counts of two alike texts differ by no more than that in all (bag distance, Bartolini et al. 2002;
q-gram distance, Ukkonen 1992). The counts of 32 classes of characters are compared in blocks of rows within the reach
of the lengths, those of 1,021 classes of neighbours for what is left; what then is left is few enough to be compared
as text. Memory is a kilobyte a text and does not grow with the pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.spatial.distance import cdist

CLASSES = 32
"""Classes of characters: letters by themselves, digits in pairs, everything else together by its code."""

NEIGHBOURS = 1_021
"""Classes of pairs of neighbouring characters (a prime, so that common pairs seldom share one)."""

_CELLS = 4_000_000
"""Distances held at a time: 32 MB."""

_PAIRS = 5_000


def _class_of_codes() -> np.ndarray:
    classes = np.arange(65_536) % 3 + 29
    for place in range(26):
        classes[ord("a") + place] = place
    classes[ord(" ")] = 26
    for digit in range(10):
        classes[ord("0") + digit] = 27 + digit % 2
    return classes.astype(np.int64)


_CODE_CLASSES = _class_of_codes()


def code_units(text: str) -> np.ndarray:
    """The text's code units of 16 bits."""
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")


def character_counts(texts: Sequence[str]) -> np.ndarray:
    """Counts of the classes of characters, (n, 32); code units of 16 bits are counted, as `len` of the text in
    UTF-16.
    """
    counts = np.zeros((len(texts), CLASSES))
    for place, text in enumerate(texts):
        units = code_units(text)
        counts[place] = np.bincount(_CODE_CLASSES[units], minlength=CLASSES)
    return counts


def neighbour_counts(texts: Sequence[str]) -> np.ndarray:
    """Counts of 1,021 classes of neighbouring code units, at most 255 each, which only loosens the bound."""
    counts = np.zeros((len(texts), NEIGHBOURS), dtype=np.uint8)
    for place, text in enumerate(texts):
        units = code_units(text).astype(np.int64)
        found = np.bincount((units[:-1] * 31 + units[1:]) * 7919 % NEIGHBOURS, minlength=NEIGHBOURS)
        counts[place] = np.minimum(found, 255)
    return counts


def _close_neighbours(counts: np.ndarray, left: np.ndarray, right: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Which pairs have counts of neighbours within the allowed distance."""
    kept = np.zeros(len(left), dtype=bool)
    for begin in range(0, len(left), _PAIRS):
        part = slice(begin, begin + _PAIRS)
        one, two = counts[left[part]], counts[right[part]]
        distance = (np.maximum(one, two) - np.minimum(one, two)).sum(axis=1, dtype=np.int32)
        kept[part] = distance <= allowed[part]
    return kept


def candidate_pairs(texts: Sequence[str], threshold: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of pairs (places in `texts`) that may reach the similarity; every pair that does is among them."""
    if len(texts) < 2:
        return
    sizes = np.array([len(text) for text in texts])
    order = np.argsort(sizes, kind="stable")
    lengths = sizes[order]
    ordered = [texts[place] for place in order]
    counts, neighbours = character_counts(ordered), neighbour_counts(ordered)
    reach = np.searchsorted(lengths, np.floor(lengths * (2 - threshold) / threshold + 1e-6), side="right")
    # Beyond the basic plane a character is two code units: each edit then moves two counts.
    wide = 2 if any(ord(character) > 0xFFFF for text in texts for character in text) else 1
    begin, end = 0, 0
    while begin < len(texts):
        rows = max(1, min(512, _CELLS // max(1, int(reach[begin] - begin))))
        end = min(begin + rows, len(texts))
        last = int(reach[end - 1])
        distances = cdist(counts[begin:end], counts[begin:last], "cityblock")
        allowed = wide * (1 - threshold) * (lengths[begin:end, None] + lengths[None, begin:last]) + 1e-6
        left, right = np.nonzero(distances <= allowed)
        bound = 3 * allowed[left, right]
        left, right = left + begin, right + begin
        wanted = (right > left) & (right < reach[left])
        left, right, bound = left[wanted], right[wanted], bound[wanted]
        wanted = _close_neighbours(neighbours, left, right, bound)
        yield order[left[wanted]], order[right[wanted]]
        begin = end
