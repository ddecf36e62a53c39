"""Near duplicates among documents: sketches of their runs of words, and the share of runs two texts have in common."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

SHINGLE_WORDS = 5
SKETCH_SIZE = 256
"""Smallest shingle hashes kept; the standard error of a resemblance r is about sqrt(r(1-r)/256), at most 0.03."""

_WORD = re.compile(r"\w+")


def sketch(text: str) -> list[int]:
    """The `SKETCH_SIZE` smallest 64-bit hashes of the text's five-word shingles, ascending (Broder 1997, bottom-k)."""
    words = [zlib.crc32(word.encode()) for word in _WORD.findall(text.casefold())]
    if not words:
        return []
    codes = np.array(words, dtype=np.uint64)
    length = max(1, len(codes) - SHINGLE_WORDS + 1)
    hashes: npt.NDArray[np.uint64] = np.zeros(length, dtype=np.uint64)
    for offset in range(min(SHINGLE_WORDS, len(codes))):
        hashes = _mixed(hashes * np.uint64(0x9E3779B97F4A7C15) + codes[offset : offset + length])
    return [int(value) for value in np.unique(hashes)[:SKETCH_SIZE]]


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of SplitMix64: spreads every bit over all others, modulo 2**64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = values ^ (values >> np.uint64(31))
    return mixed


def resemblance(first: Sequence[int], second: Sequence[int]) -> float:
    """Estimated Jaccard similarity of two texts' shingle sets from their sketches, 0 to 1."""
    if not first or not second:
        return 0.0
    union = sorted({*first, *second})[:SKETCH_SIZE]
    both = {*first}.intersection(second)
    return sum(value in both for value in union) / len(union)


class Neighbours:
    """Sketches seen so far, asked for the one that resembles a new one most."""

    def __init__(self) -> None:
        self._sketches: dict[str, Sequence[int]] = {}
        self._holders: dict[int, list[str]] = {}

    def nearest(self, values: Sequence[int]) -> tuple[str, float]:
        """Name and resemblance of the nearest sketch added before; ("", 0.0) when none shares anything."""
        shared = Counter(name for value in values for name in self._holders.get(value, ()))
        # A tie goes to the name that sorts first, not to the order of adding.
        best = ("", 0.0)
        for name in sorted(shared, key=lambda name: (-shared[name], name))[:5]:
            score = resemblance(values, self._sketches[name])
            if score > best[1]:
                best = (name, score)
        return best

    def add(self, name: str, values: Sequence[int]) -> None:
        """Remember a sketch under a name."""
        self._sketches[name] = values
        for value in values:
            self._holders.setdefault(value, []).append(name)
