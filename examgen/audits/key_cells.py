"""How a bank writes which option is right: a label, a number counted from 0 or 1, or the text of the option.

The way is settled once for the whole bank, by what makes sense of most of its rows. Row by row it could not be: "2" is
the third of "2", "4", "6", "8" in a bank that counts from 0, and the first in one that repeats the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from examgen.ids import normalised
from examgen.records import LETTERS

UNSURE = "no key is 0 or the last number, so they are taken to count from 0; if from 1, give counted_from=1"


@dataclass(frozen=True)
class KeyWay:
    """How keys are written: "label", "text" or "number" (then counted from `base`); `note` says what was assumed."""

    kind: str
    base: int = 0
    note: str = ""

    def __str__(self) -> str:
        told = f"key as {self.kind}" + (f" counted from {self.base}" if self.kind == "number" else "")
        return f"{told} ({self.note})" if self.note else told


def number_of(value: Any) -> int | None:
    """A whole number written as such; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if value == int(value) else None
    found = re.fullmatch(r"\s*(-?\d+)(?:\.0+)?\s*", str(value))
    return int(found[1]) if found else None


def single(value: Any, options: Sequence[str]) -> Any:
    """The one key of a cell that holds a list: its only entry, or the place of the only true mark."""
    if not isinstance(value, list | tuple):
        return value
    if len(value) == 1:
        return value[0]
    marks = [number_of(int(mark) if isinstance(mark, bool) else mark) for mark in value]
    if len(value) == len(options) and sorted(mark or 0 for mark in marks) == [0] * (len(value) - 1) + [1]:
        return options[marks.index(1)]
    return value


def _by_label(value: Any, options: Sequence[str], labels: Sequence[str]) -> int:
    bare = str(value).strip().casefold().strip("()[]. ").removeprefix("option ").removeprefix("answer ").strip()
    known = {label.strip().casefold().strip("()[]. "): place for place, label in enumerate(labels)}
    letters = {letter.casefold(): place for place, letter in enumerate(LETTERS[: len(options)])}
    if bare in known or bare in letters:
        return known.get(bare, letters.get(bare, -1))
    found = re.match(r"\(?([A-Ja-j])\)?[.):]\s", f"{value} ")
    return known.get(found[1].casefold(), letters.get(found[1].casefold(), -1)) if found else -1


def _by_text(value: Any, options: Sequence[str]) -> int:
    told = normalised(str(value))
    texts = [normalised(option) for option in options]
    return texts.index(told) if told and texts.count(told) == 1 else -1


def _by_number(value: Any, options: Sequence[str], base: int) -> int:
    number = number_of(value)
    return number - base if number is not None and 0 <= number - base < len(options) else -1


def key_place(value: Any, options: Sequence[str], labels: Sequence[str], way: KeyWay) -> int:
    """Place of the key; -1 where none fits. A word in a bank of numbers is still read as a label or a text."""
    if value is None or isinstance(value, list | tuple | dict):
        return -1
    if way.kind == "number" and number_of(value) is not None:
        return _by_number(value, options, way.base)
    first, second = _by_label(value, options, labels), _by_text(value, options)
    if way.kind == "text":
        first, second = second, first
    return first if first >= 0 else second


def way_of(rows: Iterable[tuple[Any, Sequence[str], Sequence[str]]], base: int | None = None) -> KeyWay:
    """The way that makes sense of most rows of (key, options, labels); `base` 0 or 1 settles that it is a number."""
    if base is not None:
        return KeyWay("number", base)
    counts = {"label": 0, "text": 0, 0: 0, 1: 0}
    typed = False
    for value, options, labels in rows:
        if value is None or isinstance(value, list | tuple | dict):
            continue
        typed = typed or (isinstance(value, int | float) and not isinstance(value, bool))
        counts["label"] += _by_label(value, options, labels) >= 0
        counts["text"] += _by_text(value, options) >= 0
        counts[0] += _by_number(value, options, 0) >= 0
        counts[1] += _by_number(value, options, 1) >= 0
    number = max(counts[0], counts[1])
    if counts["label"] and counts["label"] >= max(counts["text"], number):
        return KeyWay("label")
    # A number that is also the text of an option: a typed number is a place, a written one repeats the text.
    if counts["text"] > number or (counts["text"] == number and not typed):
        return KeyWay("text")
    return KeyWay("number", int(counts[1] > counts[0]), UNSURE if counts[0] == counts[1] else "")
