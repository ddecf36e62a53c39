"""Items answered several times by each arm (seeds of a model, or several people as one arm): how many are needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from examgen.errors import StudyError
from examgen.statistics.plan import mean_difference_n

Answers = Mapping[str, Mapping[str, Sequence[bool]]]
"""Endpoint -> item -> right or wrong, once for each answer."""


@dataclass(frozen=True, slots=True)
class Components:
    """What a pilot with repeated answers says of a pair.

    `gain`: first minus second mean score. `between`: variance over items of the difference of expected scores;
    `within`: mean variance of one answer on an item, first and second arm. `answers`: mean answers an item of each.
    """

    items: int
    gain: float
    between: float
    within: tuple[float, float]
    answers: tuple[float, float]


def components(answers: Answers, pair: tuple[str, str], name: str) -> Components | None:
    """Variance components of a pair from items that both arms answered twice or more; None when hardly any was.

    The within variance of an item is p(1 - p) k/(k - 1), unbiased; the between variance is what is left of the
    variance of the differences of means, at least 0 (moments of a two-level model). `StudyError` for an unknown arm.
    """
    for arm in pair:
        if arm not in answers:
            raise StudyError(f"{name}: no endpoint is called {arm!r}; it holds {', '.join(sorted(answers)) or 'none'}")
    one, two = (answers[arm] for arm in pair)
    shared = [i for i in sorted(one.keys() & two.keys()) if min(len(one[i]), len(two[i])) > 1]
    if len(shared) < 2:
        return None
    within = tuple(fmean(_within(arm[i]) for i in shared) for arm in (one, two))
    noise = fmean(_within(one[i]) / len(one[i]) + _within(two[i]) / len(two[i]) for i in shared)
    differences = [fmean(one[i]) - fmean(two[i]) for i in shared]
    return Components(
        len(shared), fmean(differences), max(0.0, variance(differences) - noise), (within[0], within[1]),
        (fmean(len(one[i]) for i in shared), fmean(len(two[i]) for i in shared)),
    )  # fmt: skip


def _within(said: Sequence[bool]) -> float:
    share, count = fmean(said), len(said)
    return share * (1 - share) * count / (count - 1)


def repeated_lines(
    gain: float, between: float, within: tuple[float, float], *, power: float, alpha: float,
    repeats: Sequence[int] = (1, 2, 3, 5, 10),
) -> list[str]:
    """Items for a gain of mean scores by the number of answers each arm gives to an item."""  # fmt: skip
    needs = [
        (k, mean_difference_n(gain, between=between, within_first=within[0], within_second=within[1], repeats=k,
                              power=power, alpha=alpha))
        for k in repeats
    ]  # fmt: skip
    told = ", ".join(f"{k} {'answer' if k == 1 else 'answers'} {n:,}" for k, n in needs)
    return [
        f"Repeated answers (mean scores, normal formula; alpha {alpha:g}, power {power:g}): variance between items "
        f"{between:.4f}, within {within[0]:.4f} and {within[1]:.4f}",
        f"    items for a gain of {100 * gain:+.1f} points by answers an item and arm: {told}",
    ]
