import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from examgen.statistics import (
    StatisticsError,
    bonett_price,
    clopper_pearson,
    hard_stop,
    newcombe,
    tango,
    tango_limits,
    wilson,
)


def test_bentur_table_of_fagerland():
    assert (tango(1, 7, 21).low, tango(1, 7, 21).high) == pytest.approx((-0.517, -0.026), abs=5e-4)
    found = bonett_price(1, 7, 21)
    assert (found.low, found.high) == pytest.approx((-0.508, -0.013), abs=5e-4)
    found = newcombe(1, 1, 7, 12)
    assert (found.low, found.high) == pytest.approx((-0.507, -0.026), abs=5e-4)


def naive_tango(b, c, n, z):
    def score(delta):
        first, last = -b - c + (2 * n - b + c) * delta, -c * delta * (1 - delta)
        nuisance = (np.sqrt(first**2 - 8 * n * last) - first) / (4 * n)
        return (b - c - n * delta) / np.sqrt(n * (2 * nuisance + delta * (1 - delta)))

    centre = (b - c) / n
    low = optimize.brentq(lambda x: score(x) - z, -1 + 1e-9, centre - 1e-9)
    high = optimize.brentq(lambda x: score(x) + z, centre + 1e-9, 1 - 1e-9)
    return low, high


@pytest.mark.parametrize(("b", "c", "n"), [(16, 1, 168), (8, 4, 168), (3, 3, 10), (1, 7, 21), (40, 2, 500)])
def test_tango_equals_a_root_finder(b, c, n):
    found = tango(b, c, n)
    assert (found.low, found.high) == pytest.approx(naive_tango(b, c, n, stats.norm.ppf(0.975)), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_paired_intervals_hold_the_gain_and_mirror(a, b, c, d):
    n = a + b + c + d
    for make in (tango, bonett_price):
        one, other = make(b, c, n), make(c, b, n)
        if n == 0:
            assert one.value is None
            continue
        assert -1 <= one.low <= one.value <= one.high <= 1
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
    found = newcombe(a, b, c, d)
    if n:
        assert -1 <= found.low <= found.value + 1e-12 <= found.high + 2e-12


def test_no_discordant_item_still_has_an_interval():
    found = tango(0, 0, 20)
    z2 = stats.norm.ppf(0.975) ** 2
    assert (found.low, found.high) == pytest.approx((-z2 / (20 + z2), z2 / (20 + z2)))
    assert tango(20, 0, 20).high == pytest.approx(1.0)
    assert tango(0, 20, 20).low == pytest.approx(-1.0)


def test_one_proportion_equals_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    for k, n in [(0, 10), (3, 10), (10, 10), (163, 168)]:
        found = wilson(k, n)
        assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)
        found = clopper_pearson(k, n)
        assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, method="beta"), abs=1e-12)
    assert wilson(0, 0).value is None
    assert hard_stop(0, 59).high == pytest.approx(1 - 0.05 ** (1 / 59))
    assert hard_stop(0, 59).high < 0.05


@pytest.mark.parametrize(("p_b", "p_c", "n"), [(0.1, 0.025, 100), (0.05, 0.05, 168), (0.3, 0.1, 30)])
def test_coverage_of_the_paired_intervals(p_b, p_c, n):
    rng = np.random.default_rng(11)
    tables = rng.multinomial(n, [p_b, p_c, (1 - p_b - p_c) * 0.7, (1 - p_b - p_c) * 0.3], size=1500)
    low, high = tango_limits(tables[:, 0], tables[:, 1], np.full(1500, n))
    gain = p_b - p_c
    assert 0.93 <= np.mean((low <= gain) & (gain <= high)) <= 0.985
    for make in (lambda b, c, a, d: bonett_price(b, c, n), lambda b, c, a, d: newcombe(a, b, c, d)):
        found = [make(*(int(x) for x in row)) for row in tables]
        assert 0.93 <= np.mean([e.low <= gain <= e.high for e in found]) <= 0.99


def test_coverage_of_wilson():
    for p, n in [(0.5, 40), (0.9, 60), (0.97, 168)]:
        k = np.arange(n + 1)
        covered = [wilson(int(i), n).low <= p <= wilson(int(i), n).high for i in k]
        assert 0.92 <= float(stats.binom.pmf(k, n, p) @ np.array(covered)) <= 0.99


@pytest.mark.parametrize("call", [lambda: wilson(3, 2), lambda: tango(3, 3, 5), lambda: wilson(1, 2, level=1.0)])
def test_misuse_is_refused(call):
    with pytest.raises(StatisticsError):
        call()
