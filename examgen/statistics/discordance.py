"""The discordance of a pair of arms, from what people have: accuracies, agreement, or a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from examgen.errors import StatisticsError
from examgen.statistics.estimate import check_probability
from examgen.statistics.intervals import tango, wilson
from examgen.statistics.mcnemar import Design
from examgen.statistics.sizing import required_n


@dataclass(frozen=True, slots=True)
class Discordance:
    """p_b (first arm only right) and p_c (second only), as shares of items, and where they come from.

    `gain_low` and `gain_high` are the 95 % Tango limits of the gain when a pilot gave the numbers,
    otherwise None; `n` is the size of that pilot, otherwise 0.
    """

    p_b: float
    p_c: float
    source: str
    n: int = 0
    gain_low: float | None = None
    gain_high: float | None = None

    def __post_init__(self) -> None:
        check_probability("p_b", self.p_b)
        check_probability("p_c", self.p_c)
        if self.p_b + self.p_c > 1.0 + 1e-12:
            raise StatisticsError(f"p_b + p_c is {self.p_b + self.p_c:.4f}: more than all items")

    @property
    def gain(self) -> float:
        """Net gain p_b - p_c."""
        return self.p_b - self.p_c

    @property
    def p_d(self) -> float:
        """Share of discordant items p_b + p_c."""
        return self.p_b + self.p_c


def discordance_from_gain(gain: float, *, worse: float) -> Discordance:
    """From the net gain and `worse`, the share of items that only the second arm gets right."""
    return Discordance(gain + worse, worse, f"gain {gain:.4g}, worse {worse:.4g}")


def discordance_from_accuracies(
    first: float,
    second: float,
    *,
    agreement: float | None = None,
    correlation: float | None = None,
) -> Discordance:
    """From two accuracies and how alike the arms are: one of the two must be given.

    `agreement`: share of items on which both are right or both wrong. `correlation`: phi between their
    scores over items (0 is independence). Accuracies alone do not fix the discordance; for its range
    see `discordance_range`. Raises StatisticsError when the accuracies do not allow the value.
    """
    check_probability("first", first)
    check_probability("second", second)
    if (agreement is None) == (correlation is None):
        raise StatisticsError(
            "accuracies alone do not fix the discordance: give agreement or correlation (one of them)"
        )
    lowest, highest = _both_right_limits(first, second)
    if agreement is not None:
        both = (check_probability("agreement", agreement) - 1.0 + first + second) / 2.0
        source = f"accuracies {first:g} and {second:g}, agreement {agreement:g}"
    else:
        phi = float(correlation or 0.0)
        both = first * second + phi * math.sqrt(first * (1 - first) * second * (1 - second))
        source = f"accuracies {first:g} and {second:g}, correlation {phi:g}"
    if not lowest - 1e-9 <= both <= highest + 1e-9:
        low, high = (1.0 - first - second + 2.0 * edge for edge in (lowest, highest))
        raise StatisticsError(
            f"{source}: not possible; with these accuracies agreement lies between {low:.4f} and {high:.4f}"
        )
    both = min(max(both, lowest), highest)
    return Discordance(max(0.0, first - both), max(0.0, second - both), source)


def discordance_from_pilot(first: ArrayLike, second: ArrayLike) -> Discordance:
    """From the scores of a pilot, two vectors (n_items,) of 1, 0 and nan; items missing in one are left out.

    The table is an estimate and a small pilot a poor one: the limits of the gain come with it.
    """
    one, two = (np.asarray(scores, dtype=np.float64).ravel() for scores in (first, second))
    if one.shape != two.shape:
        raise StatisticsError(f"the pilot has {one.size} and {two.size} scores: give the same items")
    seen = ~(np.isnan(one) | np.isnan(two))
    n = int(seen.sum())
    if n == 0:
        raise StatisticsError("the pilot holds no item scored for both arms")
    b = int(((one == 1) & (two == 0) & seen).sum())
    c = int(((one == 0) & (two == 1) & seen).sum())
    gain = tango(b, c, n)
    return Discordance(b / n, c / n, f"pilot of {n} items ({b}, {c})", n, gain.low, gain.high)


def discordance_range(first: float, second: float) -> list[Discordance]:
    """Three tables with the same accuracies: perfect dependence, independence, most negative dependence."""
    check_probability("first", first)
    check_probability("second", second)
    lowest, highest = _both_right_limits(first, second)
    cases = (
        ("perfect dependence", highest),
        ("independence", first * second),
        ("most negative dependence", lowest),
    )
    return [Discordance(max(0.0, first - both), max(0.0, second - both), name) for name, both in cases]


def required_n_range(first: float, second: float, *, power: float = 0.8, alpha: float = 0.05) -> pd.DataFrame:
    """Items needed for two accuracies when the discordance is not known: one row a dependence.

    Columns dependence, p_b, p_c, first, sustained, lower, upper (whole numbers, missing where there is
    no gain). The spread is what not knowing the agreement costs.
    """
    rows = []
    for table in discordance_range(first, second):
        need = required_n(Design(table.p_b, table.p_c, alpha), power=power)
        rows.append((table.source, table.p_b, table.p_c, need.first, need.sustained, need.lower, need.upper))
    names = ["dependence", "p_b", "p_c", "first", "sustained", "lower", "upper"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype(dict.fromkeys(names[3:], "Int64"))


def discordance_limits(pilot: Discordance, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson limits of the share of discordant items in a pilot."""
    if pilot.n == 0:
        raise StatisticsError("only a pilot has limits; this discordance was assumed")
    share = wilson(round(pilot.p_d * pilot.n), pilot.n, level=level)
    return float(share.low or 0.0), float(1.0 if share.high is None else share.high)


def _both_right_limits(first: float, second: float) -> tuple[float, float]:
    """Fréchet bounds of P(both right)."""
    return max(0.0, first + second - 1.0), min(first, second)
