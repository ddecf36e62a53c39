"""How many items a paired comparison needs, with proof: power, floor, ceiling, clustering, attrition."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import optimize, stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import (
    Estimate,
    FloatArray,
    check_probability,
    not_estimable,
)
from examgen.statistics.mcnemar import (
    Alternative,
    Design,
    Test,
    discordant_window,
    mcnemar_p,
    power_at,
    rejection_probability,
)


@dataclass(frozen=True, slots=True)
class RequiredN:
    """Items needed for a power, with a certificate.

    `first`: the first n with power >= target. `sustained`: from here on power never falls below the target
    again. The proof: below `lower` power < target, from `upper` on power >= target, and every n between was
    computed exactly. All four are None when no n up to the search limit will do (`note` says why).
    """

    first: int | None
    sustained: int | None
    lower: int | None
    upper: int | None
    power_at_first: float | None
    target: float
    design: Design
    note: str = ""


def required_n(design: Design, *, power: float = 0.8, limit: int = 20_000_000) -> RequiredN:
    """First and sustained n reaching `power`, exact and certified.

    R(D), the power given D discordant items, is saw-toothed. Its running maximum and its suffix minimum are
    monotone, and D is stochastically increasing in n, so their expectations are non-decreasing in n and
    bracket the power: both ends come by bisection, and only the n between them are computed. Beyond the D
    computed, R is bounded below by two Hoeffding bounds, which increase in D: the proof covers every n.
    """
    check_probability("power", power, open_ends=True)
    if limit < 1:
        raise StatisticsError(f"limit must be at least 1, not {limit}")
    design = _towards_gain(design)
    if design.theta <= 0.5 or design.p_d == 0.0:
        note = "no gain to detect: p_b must exceed p_c"
        return RequiredN(None, None, None, None, None, power, design, note)
    needed = _discordant_for_certificate(design, power)
    if needed > limit * design.p_d * 4 + 100 or needed > 50_000_000:
        note = f"more than {limit:,} items"
        return RequiredN(None, None, None, None, None, power, design, note)
    given = rejection_probability(np.arange(needed + 1), design)
    above = np.maximum.accumulate(given)
    below = np.minimum.accumulate(np.append(given, _tail_bound(needed, design))[::-1])[::-1][:-1]
    lower = _first_n(lambda n: _expected(above, 1.0, n, design.p_d), power, limit)
    if lower is None:
        note = f"more than {limit:,} items"
        return RequiredN(None, None, None, None, None, power, design, note)
    beyond = _tail_bound(needed, design)
    upper = _first_n(lambda n: _expected(below, beyond, n, design.p_d), power, limit * 4)
    if upper is None:
        note = f"more than {limit * 4:,} items for a certificate"
        return RequiredN(None, None, lower, None, None, power, design, note)
    curve = _powers_between(lower, upper, given, design)
    reached = curve >= power
    reached[-1] = True  # proved by the bracket
    first = lower + int(np.argmax(reached))
    misses = np.flatnonzero(~reached)
    sustained = lower + int(misses[-1]) + 1 if misses.size else lower
    return RequiredN(first, sustained, lower, upper, float(curve[first - lower]), power, design)


def power_curve(design: Design, sizes: list[int]) -> pd.DataFrame:
    """Exact power at each of the `sizes`; columns n, power, floor_reached (chance of enough discordance)."""
    floor = discordance_floor(design.alpha, design.test, design.alternative)
    rows = [(n, power_at(n, design), probability_of_floor(n, design.p_d, floor)) for n in sizes]
    return pd.DataFrame(rows, columns=["n", "power", "floor_reached"])


def discordance_floor(alpha: float = 0.05, test: Test = "exact", alternative: Alternative = "two-sided") -> int:
    """Fewest discordant items, all in one direction, that reach p < alpha (6 at .05, exact and two-sided)."""
    check_probability("alpha", alpha, open_ends=True)
    count = 1
    while not mcnemar_p(count, 0, test, alternative) < alpha * (1.0 - 1e-12):
        count += 1
    return count


def probability_of_floor(n: int, p_d: float, floor: int = 6) -> float:
    """P(at least `floor` of n items are discordant): no test can be significant without it."""
    check_probability("p_d", p_d)
    return float(stats.binom.sf(floor - 1, n, p_d))


def floor_n(p_d: float, *, floor: int = 6, probability: float = 0.8) -> int | None:
    """Smallest n at which `floor` discordant items are seen with at least `probability`; None if p_d is 0."""
    check_probability("p_d", p_d)
    check_probability("probability", probability, open_ends=True)
    if p_d == 0.0:
        return None
    return _first_n(lambda n: probability_of_floor(n, p_d, floor), probability, 2**62)


def probability_perfect(accuracy: float, n: int) -> float:
    """P(all n items right) = accuracy ** n: at a perfect score the bank no longer separates systems."""
    return check_probability("accuracy", accuracy) ** n


def ceiling_n(accuracy: float, threshold: float = 0.01) -> int | None:
    """Smallest n with P(perfect score) < threshold (152 for 97 % and .01); None when accuracy is 1."""
    check_probability("accuracy", accuracy)
    check_probability("threshold", threshold, open_ends=True)
    if accuracy == 1.0:
        return None
    if accuracy == 0.0:
        return 1
    n = max(1, math.floor(math.log(threshold) / math.log(accuracy)) - 1)
    while accuracy**n >= threshold:
        n += 1
    return n


def hard_stop_n(rate: float, level: float = 0.95) -> int:
    """Items without a single violation that exclude a rate of `rate` or more (299 for 1 % at one-sided 95 %).

    The smallest n with (1 - rate)^n < 1 - level: the upper limit that `intervals.hard_stop` then gives is below rate.
    """
    check_probability("rate", rate, open_ends=True)
    check_probability("level", level, open_ends=True)
    found = ceiling_n(1.0 - rate, 1.0 - level)
    assert found is not None  # an accuracy below 1 always has one
    return found


def minimum_detectable_gain(
    n: int,
    *,
    worse: float | None = None,
    discordance: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    test: Test = "exact",
    alternative: Alternative = "two-sided",
) -> Estimate:
    """Smallest net gain p_b - p_c (share of items) that n items detect with `power`, exact.

    Give either `worse` (p_c, items only the second arm gets right) or `discordance` (p_b + p_c): the gain alone
    does not fix the power. Power is monotone in p_b at fixed p_c, and in theta at fixed p_d, so the
    root is unique. Not estimable when even the largest possible gain stays below `power`.
    """
    if (worse is None) == (discordance is None):
        raise StatisticsError("give either worse (p_c) or discordance (p_b + p_c), not both or none")
    check_probability("power", power, open_ends=True)
    if worse is not None:
        fixed, top = check_probability("worse", worse), 1.0 - worse
        method = f"minimum detectable gain at p_c = {fixed:.4g}, power {power:g}, exact"

        def gain_design(gain: float) -> Design:
            return Design(min(1.0 - fixed, fixed + gain), fixed, alpha, test, alternative, "gain")

        high = top - fixed
    else:
        fixed = check_probability("discordance", float(discordance or 0.0))
        method = f"minimum detectable gain at p_d = {fixed:.4g}, power {power:g}, exact"

        def gain_design(gain: float) -> Design:
            return Design((fixed + gain) / 2, max(0.0, (fixed - gain) / 2), alpha, test, alternative, "gain")

        high = fixed
    if high <= 0 or power_at(n, gain_design(high)) < power:
        return not_estimable(method, f"no gain reaches power {power:g} with {n} items", n=n)
    gain = float(optimize.brentq(lambda x: power_at(n, gain_design(x)) - power, 0.0, high, xtol=1e-11, rtol=1e-12))
    return Estimate(gain, None, None, method, n)


def _towards_gain(design: Design) -> Design:
    """A two-sided design with p_c > p_b is its mirror image."""
    if design.p_c > design.p_b and design.alternative == "two-sided":
        return replace(design, p_b=design.p_c, p_c=design.p_b)
    return design


def _tail_bound(discordant: int, design: Design) -> float:
    """A lower bound of R(D) for every D >= discordant, increasing in D (Hoeffding, twice).

    Every test offered rejects a losing count m when 2 exp(-2 D (1/2 - m/D)^2) < alpha (up to the
    continuity correction of one half), and the winning count strays below D theta likewise.
    """
    level = design.alpha / 2 if design.alternative == "two-sided" else design.alpha
    room = math.sqrt(discordant) * (design.theta - 0.5) - math.sqrt(math.log(1.0 / level) / 2)
    room -= 2.0 / math.sqrt(discordant)  # whole counts, and the continuity correction
    return 1.0 - math.exp(-2.0 * room * room) if room > 0 else 0.0


def _discordant_for_certificate(design: Design, power: float) -> int:
    """A D from which the tail bound is close enough to 1 not to widen the bracket."""
    level = design.alpha / 2 if design.alternative == "two-sided" else design.alpha
    slack = (1.0 - power) / 100.0
    reach = math.sqrt(math.log(1.0 / level) / 2) + math.sqrt(math.log(1.0 / slack) / 2) + 0.5
    return int((reach / (design.theta - 0.5)) ** 2) + 50


def _expected(values: FloatArray, beyond: float, n: int, p_d: float) -> float:
    """E f(D_n) for f given on 0..len-1 and constant `beyond` it."""
    low, high = discordant_window(n, p_d)
    last = values.size - 1
    if low > last:
        return beyond
    total = np.arange(low, min(high, last) + 1)
    inside = float(stats.binom.pmf(total, n, p_d) @ values[total])
    return inside + (beyond * float(stats.binom.sf(last, n, p_d)) if high > last else 0.0)


def _first_n(increasing: Callable[[int], float], target: float, limit: int) -> int | None:
    """Smallest n with increasing(n) >= target, by doubling and bisection; None beyond the limit."""
    high = 1
    while increasing(high) < target:
        if high >= limit:
            return None
        high = min(2 * high, limit)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if increasing(middle) >= target:
            high = middle
        else:
            low = middle
    return high


def _powers_between(lower: int, upper: int, given: FloatArray, design: Design) -> FloatArray:
    """Power at lower..upper by the recurrence pmf(n+1) = (1-p_d) pmf(n) + p_d shift(pmf(n))."""
    low, _ = discordant_window(lower, design.p_d)
    _, high = discordant_window(upper, design.p_d)
    total = np.arange(low, high + 1)
    inside = np.minimum(total, given.size - 1)
    weight = np.where(total < given.size, given[inside], 0.0)
    if high >= given.size:
        more = np.arange(given.size, high + 1)
        weight[more - low] = rejection_probability(more, design)
    pmf = stats.binom.pmf(total, lower, design.p_d)
    powers = np.empty(upper - lower + 1)
    for index in range(powers.size):
        powers[index] = pmf @ weight
        shifted = np.concatenate(([0.0], pmf[:-1]))
        pmf = (1.0 - design.p_d) * pmf + design.p_d * shifted
    return np.minimum(powers, 1.0)
