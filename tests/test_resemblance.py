"""Near duplicates: the estimate against the true share of shingles, and the search for the nearest."""

from __future__ import annotations

import random

from examgen.resemblance import Neighbours, resemblance, sketch


def words(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return [f"word{rng.randrange(5000)}" for _ in range(count)]


def shingles(text: list[str]) -> set[tuple[str, ...]]:
    return {tuple(text[n : n + 5]) for n in range(len(text) - 4)}


def test_the_estimate_is_near_the_true_jaccard_similarity() -> None:
    base = words(1, 3000)
    for changed in (0, 300, 1200):
        other = base[: 3000 - changed] + words(2, changed)
        true = len(shingles(base) & shingles(other)) / len(shingles(base) | shingles(other))
        assert abs(resemblance(sketch(" ".join(base)), sketch(" ".join(other))) - true) < 0.1


def test_short_and_empty_texts() -> None:
    assert sketch("") == []
    assert resemblance(sketch("two words"), sketch("two words")) == 1.0
    assert resemblance([], sketch("x")) == 0.0


def test_the_nearest_earlier_sketch_is_found() -> None:
    seen = Neighbours()
    assert seen.nearest(sketch("anything at all")) == ("", 0.0)
    seen.add("far", sketch(" ".join(words(3, 500))))
    seen.add("near", sketch(" ".join(words(4, 500))))
    name, score = seen.nearest(sketch(" ".join(words(4, 500)[:480] + words(5, 20))))
    assert name == "near"
    assert score > 0.85
