"""Balance: over a bank the key must stand out neither by its length, nor its numbers, nor its qualifying words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

from examgen.ids import seed_of
from examgen.writing.numbers import NUMBER_WORDS

_NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:\.\d+)?|" + "|".join(NUMBER_WORDS[1:]) + r")(?![\w])", re.IGNORECASE)
_QUALIFIERS = tuple(
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (
        "fewer|less|rare|rarely|absent|lower|few",
        "more|at least|or more|higher|common|most",
        "not|no|without|un\\w+|in\\w+|ir\\w+",
    )
)
"""Words of small amounts, of large amounts, and of denial."""
_WEIGHT = 0.4
"""How much score a pick may cost to undo one step of imbalance: about the spread of scores within a subtopic."""


class _Scored(Protocol):
    @property
    def stem(self) -> str: ...

    @property
    def options(self) -> tuple[str, ...]: ...

    @property
    def score(self) -> float: ...


S = TypeVar("S", bound=_Scored)


def select(drafts: Sequence[S], wanted: int, *names: str) -> list[S]:
    """The best drafts, picked one by one so that their keys (first option) lean neither way from the other options.

    True statements prefer short words, which a selector could learn: most batches start as if keys had been short.
    The names (of subtopic and stratum) seed the first leans, so that batches of one or two balance each other as well.
    """
    left = sorted(drafts, key=lambda draft: (-draft.score, draft.stem))
    seed = seed_of("balance", *names)
    state = [
        -0.5 if seed % 3 else 0.5,
        *(0.5 if seed >> place & 1 else -0.5 for place in range(8, 10 + len(_QUALIFIERS))),
    ]
    picked: list[S] = []
    while left and len(picked) < wanted:
        best = max(left, key=lambda draft: draft.score - _WEIGHT * _worsening(state, lean(draft.options)))
        left.remove(best)
        picked.append(best)
        state = [before + step for before, step in zip(state, lean(best.options), strict=True)]
    return picked


def lean(options: Sequence[str]) -> tuple[int, ...]:
    """Signs of the key (first) less the mean option: letters, letters a word, sum of numbers, qualifying words."""
    measures = (
        [float(len(option)) for option in options],
        [len(option) / len(option.split()) for option in options],
        [_sum(option) for option in options],
        *([float(len(kind.findall(option))) for option in options] for kind in _QUALIFIERS),
    )
    return tuple(_sign(values) for values in measures)


def _worsening(state: Sequence[float], leans: Sequence[int]) -> float:
    return sum((abs(before + step) - abs(before)) for before, step in zip(state, leans, strict=True)) / 2


def _sign(values: Sequence[float]) -> int:
    difference = values[0] - sum(values) / len(values)
    return (difference > 1e-9) - (difference < -1e-9)


def _sum(text: str) -> float:
    numbers = [match.group().lower() for match in _NUMBER.finditer(text)]
    return sum(float(NUMBER_WORDS.index(number)) if number in NUMBER_WORDS else float(number) for number in numbers)
