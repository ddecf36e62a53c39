"""What a rule sees: a number to be judged, and the words that show where it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LONGEST_DETAIL = 400
"""Characters of a detail kept in a row."""


@dataclass(frozen=True)
class Observation:
    """A measured value and what was seen; value None means that the rule does not apply to the item."""

    value: float | None
    detail: str = ""


_ABSENT = Observation(None)
_NONE_SEEN = Observation(0.0)


def absent() -> Observation:
    """The rule does not apply."""
    return _ABSENT


def counted(details: Iterable[str]) -> Observation:
    """As many as there are details."""
    found = list(details)
    return Observation(float(len(found)), "; ".join(found)[:LONGEST_DETAIL]) if found else _NONE_SEEN


def yes(condition: bool, detail: str = "") -> Observation:
    """One where the condition holds, with the detail; zero otherwise."""
    return Observation(1.0, detail[:LONGEST_DETAIL]) if condition else _NONE_SEEN
