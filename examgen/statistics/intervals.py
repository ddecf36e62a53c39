"""Intervals for a proportion and for the difference of two paired proportions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import Estimate, FloatArray, check_probability, not_estimable


def wilson(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    """Wilson's score interval of a proportion (Wilson 1927). n = 0 is not estimable."""
    z = _z(level)
    _check_counts(successes, n)
    method = f"Wilson score interval, {level:.0%}"
    if n == 0:
        return not_estimable(method, "no observation")
    low, high = _wilson_limits(successes, n, z)
    return Estimate(successes / n, low, high, method, n)


def wilson_mean(mean: float, n: int, *, level: float = 0.95) -> Estimate:
    """Wilson's interval around a mean of n scores between 0 and 1, such as means over repeats.

    With scores of 0 and 1 it is Wilson's interval. Otherwise it is conservative: no scores between 0 and 1 vary more
    about a mean m than by m (1 - m).
    """
    z = _z(level)
    method = f"Wilson score interval, {level:.0%}"
    if n == 0:
        return not_estimable(method, "no observation")
    share = check_probability("mean", min(1.0, max(0.0, mean)))
    low, high = _wilson_limits(share * n, n, z)
    return Estimate(share, low, high, method, n)


def clopper_pearson(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    """The exact (conservative) interval of a proportion (Clopper & Pearson 1934)."""
    tail = (1.0 - check_probability("level", level, open_ends=True)) / 2.0
    _check_counts(successes, n)
    method = f"Clopper-Pearson interval, {level:.0%}"
    if n == 0:
        return not_estimable(method, "no observation")
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(special.betaincinv(successes + 1, n - successes, 1 - tail))
    return Estimate(successes / n, low, high, method, n)


def hard_stop(violations: int, n: int, *, level: float = 0.95) -> Estimate:
    """Rate of rule violations with a one-sided exact upper limit: none in n still allows 1 - (1-level)^(1/n).

    For hard-stop rules, where the question is how large a rate the bank can exclude. low is 0.
    """
    tail = 1.0 - check_probability("level", level, open_ends=True)
    _check_counts(violations, n)
    method = f"one-sided Clopper-Pearson upper limit, {level:.0%}"
    if n == 0:
        return not_estimable(method, "no observation")
    high = 1.0 if violations == n else float(special.betaincinv(violations + 1, n - violations, 1 - tail))
    return Estimate(violations / n, 0.0, high, method, n)


def tango(b: int, c: int, n: int, *, level: float = 0.95) -> Estimate:
    """Tango's score interval of the paired difference (b - c)/n; the default for gains.

    b items right by the first arm only, c by the second only, n in all. Defined without any discordant
    item. Source: Tango 1998; agrees with the table in Fagerland, Lydersen & Laake 2014.
    """
    _check_pairs(b, c, n)
    method = f"Tango score interval, {level:.0%}"
    if n == 0:
        _z(level)
        return not_estimable(method, "no item scored for both arms")
    low, high = tango_limits([b], [c], [n], level=level)
    return Estimate((b - c) / n, float(low[0]), float(high[0]), method, n)


def tango_limits(b: ArrayLike, c: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Tango's limits for many pairs at once: three vectors of counts in, two vectors out (n > 0)."""
    z = _z(level)
    wins, losses, total = (np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (b, c, n))
    centre = (wins - losses) / total

    def excess(delta: FloatArray, sign: float) -> FloatArray:
        first = -wins - losses + (2.0 * total - wins + losses) * delta
        last = -losses * delta * (1.0 - delta)
        root = np.sqrt(np.maximum(first * first - 8.0 * total * last, 0.0))
        # the stable form of the larger root of 2n q^2 + first q + last = 0
        safe = np.where(first > 0, root + first, 1.0)
        nuisance = np.where(first > 0, -2.0 * last / safe, (root - first) / (4.0 * total))
        variance = np.maximum(total * (2.0 * nuisance + delta * (1.0 - delta)), 0.0)
        return np.asarray(sign * (wins - losses - total * delta) - z * np.sqrt(variance))

    def bisect(outside: FloatArray, sign: float) -> FloatArray:
        inside = centre.copy()
        for _ in range(64):
            middle = (outside + inside) / 2.0
            out = excess(middle, sign) > 0.0
            outside, inside = np.where(out, middle, outside), np.where(out, inside, middle)
        return np.asarray((outside + inside) / 2.0)

    return bisect(np.full_like(centre, -1.0), 1.0), bisect(np.full_like(centre, 1.0), -1.0)


def bonett_price(b: int, c: int, n: int, *, level: float = 0.95) -> Estimate:
    """Bonett & Price's adjusted Wald interval of the paired difference (2012): closed form, one added each.

    The value stays (b - c)/n; the interval is centred on (b - c)/(n + 2).
    """
    z = _z(level)
    _check_pairs(b, c, n)
    method = f"Bonett-Price interval, {level:.0%}"
    if n == 0:
        return not_estimable(method, "no item scored for both arms")
    first, second = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = z * math.sqrt((first + second - (first - second) ** 2) / (n + 2))
    centre = first - second
    return Estimate((b - c) / n, max(-1.0, centre - half), min(1.0, centre + half), method, n)


def newcombe(a: int, b: int, c: int, d: int, *, level: float = 0.95) -> Estimate:
    """Newcombe's square-and-add interval of the paired difference (1998, method 10).

    a items right by both arms, b by the first only, c by the second only, d by none.
    """
    z = _z(level)
    n = a + b + c + d
    _check_pairs(b, c, n)
    method = f"Newcombe square-and-add interval, {level:.0%}"
    if n == 0:
        return not_estimable(method, "no item scored for both arms")
    first, second, gain = (a + b) / n, (a + c) / n, (b - c) / n
    low_1, high_1 = _wilson_limits(a + b, n, z)
    low_2, high_2 = _wilson_limits(a + c, n, z)
    phi = _newcombe_phi(a, b, c, d)
    down = _square_and_add(first - low_1, high_2 - second, phi)
    up = _square_and_add(high_1 - first, second - low_2, phi)
    return Estimate(gain, max(-1.0, gain - down), min(1.0, gain + up), method, n)


def _square_and_add(one: float, two: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2.0 * phi * one * two + two * two))


def _newcombe_phi(a: int, b: int, c: int, d: int) -> float:
    """Correlation of the two arms, continuity-corrected when positive; 0 with an empty margin."""
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    cross = a * d - b * c
    if cross > 0:
        cross = max(cross - (a + b + c + d) / 2, 0)  # type: ignore[assignment]
    return float(cross / math.sqrt(margins))


def _wilson_limits(successes: float, n: int, z: float) -> tuple[float, float]:
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return low, high


def _z(level: float) -> float:
    return float(stats.norm.ppf(0.5 + check_probability("level", level, open_ends=True) / 2))


def _check_counts(successes: int, n: int) -> None:
    if n < 0 or not 0 <= successes <= n:
        raise StatisticsError(f"{successes} of {n} is not a count")


def _check_pairs(b: int, c: int, n: int) -> None:
    if min(b, c, n) < 0 or b + c > n:
        raise StatisticsError(f"{b} and {c} discordant items of {n} are not counts of pairs")
