"""Size of every test and coverage of every interval that has none of its own elsewhere: exact sums or fixed seeds."""

import numpy as np
import pytest
from scipy import stats

from examgen.statistics import (
    Design,
    clopper_pearson,
    hard_stop,
    hard_stop_n,
    holm,
    interaction_test,
    mcnemar_p,
    power_exact,
)

SHARES = np.linspace(0.01, 1.0, 40)


@pytest.mark.parametrize(
    ("test", "largest"), [("exact", 0.0426), ("midp", 0.0534), ("asymptotic", 0.0534), ("corrected", 0.0426)]
)
def test_size_of_each_form_of_mcnemar(test, largest):
    """168 items, no gain, any discordance: mid-p and asymptotic go a little above 5 %, the other two never."""
    size = max(power_exact(168, Design(p / 2, p / 2, test=test)).value for p in SHARES)
    assert size == pytest.approx(largest, abs=0.0015)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.05 / 3])
def test_size_of_the_one_sided_test(alpha):
    for p in (0.02, 0.1, 0.5):
        assert power_exact(200, Design(p / 2, p / 2, alpha, alternative="greater")).value <= alpha


@pytest.mark.parametrize(("p", "n"), [(0.5, 20), (0.02, 60), (0.97, 168)])
def test_exact_intervals_never_cover_less_than_they_say(p, n):
    k = np.arange(n + 1)
    weight = stats.binom.pmf(k, n, p)
    both = [clopper_pearson(int(i), n) for i in k]
    assert weight @ np.array([e.low <= p <= e.high for e in both]) >= 0.95
    assert weight @ np.array([p <= hard_stop(int(i), n).high for i in k]) >= 0.95


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.05])
def test_a_clean_run_of_the_planned_size_excludes_the_rate(rate):
    n = hard_stop_n(rate)
    assert hard_stop(0, n).high < rate <= hard_stop(0, n - 1).high
    assert hard_stop_n(0.01) == 299


def strata(rng, sizes, gains=None):
    """Discordant tables of independent strata: (b, c, n) each, with a gain of 7 points or those given."""
    return [
        (*rng.multinomial(n, [0.05 + gain, 0.05, 0.9 - gain])[:2].tolist(), n)
        for n, gain in zip(sizes, gains or [0.07] * len(sizes), strict=True)
    ]


def test_size_of_the_interaction_over_three_strata_and_by_permutation():
    rng = np.random.default_rng(12)
    three = [interaction_test(strata(rng, (100, 120, 160))).p for _ in range(500)]
    assert 0.025 <= np.mean([p is not None and p < 0.05 for p in three]) <= 0.085
    permuted = [interaction_test(strata(rng, (64, 104)), permutations=199, seed=i).p_permutation for i in range(400)]
    assert np.mean([p < 0.05 for p in permuted]) <= 0.08


def test_coverage_of_the_difference_of_two_gains():
    rng, gains = np.random.default_rng(13), (0.12, 0.04)
    found = [interaction_test(strata(rng, (120, 160), gains)) for _ in range(600)]
    assert 0.92 <= np.mean([e.low is not None and e.low <= 0.08 <= e.high for e in found]) <= 0.98


def test_holm_keeps_the_level_of_the_family():
    rng = np.random.default_rng(14)
    wrong = 0
    for _ in range(500):
        tables = rng.multinomial(150, [0.1, 0.1, 0.8], size=6)
        wrong += min(holm([mcnemar_p(int(b), int(c), "midp") for b, c, _ in tables])) < 0.05
    assert wrong / 500 <= 0.075
