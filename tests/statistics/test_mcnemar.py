import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from examgen.statistics import (
    Design,
    StatisticsError,
    critical_values,
    mcnemar_p,
    power_exact,
    power_simulated,
    rejection_probability,
)


def exact_rational(b: int, c: int) -> float:
    n, small = b + c, min(b, c)
    if n == 0:
        return 1.0
    return float(min(Fraction(1), 2 * Fraction(sum(math.comb(n, k) for k in range(small + 1)), 2**n)))


def enumerated_power(n: int, design: Design) -> float:
    """Every trinomial table, one at a time."""
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if b + c == 0 or not mcnemar_p(b, c, design.test, design.alternative) < design.alpha * (1 - 1e-12):
                continue
            if design.direction == "gain" and b < c:
                continue
            ways = math.comb(n, b) * math.comb(n - b, c)
            rest = max(0.0, 1 - design.p_b - design.p_c)
            total += ways * design.p_b**b * design.p_c**c * rest ** (n - b - c)
    return total


@pytest.mark.parametrize(("b", "c"), [*itertools.product(range(9), range(9)), (16, 1), (13, 2), (150, 86)])
def test_exact_p_is_the_rational_one(b, c):
    assert mcnemar_p(b, c) == pytest.approx(exact_rational(b, c), rel=1e-12)


def test_published_p_values():
    assert mcnemar_p(5, 0) == 0.0625
    assert mcnemar_p(6, 0) == 0.03125
    assert mcnemar_p(16, 1) == pytest.approx(0.000274658203125, abs=1e-15)
    assert mcnemar_p(8, 4) == pytest.approx(0.3876953125, abs=1e-14)
    assert mcnemar_p(13, 2) == pytest.approx(0.00738525390625, abs=1e-14)
    # Bentur table (Fagerland et al. 2014): exact .0703, mid-p .0391, asymptotic .0339
    assert round(mcnemar_p(1, 7), 4) == 0.0703
    assert round(mcnemar_p(1, 7, "midp"), 4) == 0.0391
    assert round(mcnemar_p(1, 7, "asymptotic"), 4) == 0.0339


def test_equals_statsmodels_and_scipy():
    from statsmodels.stats.contingency_tables import mcnemar

    for b, c in [(3, 9), (12, 12), (40, 22), (1, 0)]:
        table = [[5, b], [c, 7]]
        assert mcnemar_p(b, c) == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-10)
        plain = mcnemar(table, exact=False, correction=False).pvalue
        assert mcnemar_p(b, c, "asymptotic") == pytest.approx(plain, rel=1e-10)
        if b != c:
            corrected = mcnemar(table, exact=False, correction=True).pvalue
            assert mcnemar_p(b, c, "corrected") == pytest.approx(corrected, rel=1e-10)
        one_sided = stats.binomtest(b, b + c, alternative="greater").pvalue
        assert mcnemar_p(b, c, "exact", "greater") == pytest.approx(one_sided, rel=1e-10)


@pytest.mark.parametrize("test", ["exact", "midp", "asymptotic", "corrected"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 11, 0.0625, 0.3])
def test_critical_values_equal_a_search(test, alternative, alpha):
    design = Design(0.2, 0.1, alpha, test, alternative)
    totals = np.arange(0, 41)
    for total, crit in zip(totals, critical_values(totals, design), strict=True):
        top = total // 2 if alternative == "two-sided" else total
        significant = [
            m for m in range(top + 1)
            if mcnemar_p(int(total - m), m, test, alternative) < alpha * (1 - 1e-12)
        ]  # fmt: skip
        assert crit == max(significant, default=-1), total


@pytest.mark.parametrize("n", [0, 1, 6, 12, 30])
@pytest.mark.parametrize("cells", [(0.5, 0.1), (0.2, 0.05), (0.3, 0.0), (0.6, 0.4), (0.0, 0.0), (0.1, 0.3), (1, 0)])
@pytest.mark.parametrize("test", ["exact", "midp", "asymptotic"])
def test_power_equals_the_full_enumeration(n, cells, test):
    for alternative, direction in [("two-sided", "either"), ("two-sided", "gain"), ("greater", "either")]:
        design = Design(*cells, test=test, alternative=alternative, direction=direction)
        assert power_exact(n, design).value == pytest.approx(enumerated_power(n, design), abs=1e-12)


def test_published_powers():
    assert power_exact(168, Design(16 / 168, 1 / 168)).value == pytest.approx(0.9777311262109025, abs=1e-9)
    assert power_exact(168, Design(8 / 168, 4 / 168)).value == pytest.approx(0.13418142060854343, abs=1e-9)
    assert power_exact(168, Design(13 / 168, 2 / 168)).value == pytest.approx(0.798163705545956, abs=1e-9)
    assert power_exact(184, Design(0.1, 0.025)).value == pytest.approx(0.79923, abs=5e-6)
    assert power_exact(185, Design(0.1, 0.025)).value == pytest.approx(0.8016136299482258, abs=1e-9)


@pytest.mark.parametrize("cells", [(0.1, 0.025), (16 / 168, 1 / 168), (8 / 168, 4 / 168), (0.4, 0.3)])
def test_simulation_agrees_with_exact(cells):
    design = Design(*cells)
    exact = power_exact(168, design).value
    simulated = power_simulated(168, design, replicates=40_000, seed=7)
    assert abs(simulated.value - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 40_000)
    assert simulated.seed == 7
    assert power_simulated(168, design, replicates=500, seed=3) == power_simulated(168, design, replicates=500, seed=3)


def test_interval_of_the_simulation_covers():
    design = Design(0.1, 0.04)
    exact = power_exact(120, design).value
    runs = [power_simulated(120, design, replicates=400, seed=seed) for seed in range(200)]
    assert 0.90 <= np.mean([run.low <= exact <= run.high for run in runs]) <= 0.99


def test_size_is_never_above_alpha_for_the_exact_test():
    sizes = [power_exact(168, Design(p / 2, p / 2)).value for p in np.linspace(0.01, 1.0, 60)]
    assert max(sizes) <= 0.05
    assert max(sizes) == pytest.approx(0.0426, abs=0.002)
    assert power_exact(168, Design(6 / 168, 6 / 168)).value == pytest.approx(0.0244, abs=0.0005)


def test_rejection_probability_stays_a_probability():
    given = rejection_probability(np.arange(0, 3000), Design(0.3, 0.2))
    assert given.min() >= 0.0
    assert given.max() <= 1.0
    assert not np.isnan(given).any()
    assert (given[:6] == 0).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: Design(0.6, 0.5),
        lambda: Design(-0.1, 0.5),
        lambda: Design(0.1, 0.1, alpha=1.0),
        lambda: Design(0.1, 0.1, test="wald"),
        lambda: Design(0.1, 0.1, alternative="less"),
        lambda: mcnemar_p(-1, 2),
        lambda: mcnemar_p(1.5, 2),
        lambda: mcnemar_p(1, 2, "wald"),
        lambda: power_exact(-1, Design(0.1, 0.1)),
        lambda: power_simulated(10, Design(0.1, 0.1), replicates=0),
    ],
)
def test_misuse_is_refused(call):
    with pytest.raises(StatisticsError):
        call()
