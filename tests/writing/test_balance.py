"""Keys lean neither way from their options, as far as there is a choice."""

from __future__ import annotations

from dataclasses import dataclass

from examgen.writing.balance import lean, select


@dataclass(frozen=True)
class Item:
    stem: str
    options: tuple[str, ...]
    score: float


def test_lean_compares_the_key_with_the_mean() -> None:
    assert lean(["at least six", "at least two"])[:3] == (0, 0, 1)
    assert lean(["short", "much longer"])[0] == -1
    assert lean(["rare", "seen"])[3] == 1


def test_picks_alternate_where_they_can() -> None:
    items = [Item(f"short {n}", ("abc", "abcdefgh"), 1.0) for n in range(6)] + [
        Item(f"long {n}", ("abcdefgh", "abc"), 0.9) for n in range(6)
    ]
    for seed in range(8):
        picked = select(items, 6, str(seed))
        assert sum(lean(item.options)[0] for item in picked) == 0


def test_without_a_choice_the_best_come_first() -> None:
    items = [Item(str(n), ("same", "size"), float(n)) for n in range(4)]
    assert [item.score for item in select(items, 3, "x")] == [3.0, 2.0, 1.0]
    assert select(items, 9, "x")[:3] == select(items, 3, "x")
