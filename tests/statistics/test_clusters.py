import itertools

import numpy as np
import pytest

from examgen.statistics import (
    StatisticsError,
    accuracy_intervals,
    clustered_p,
    clustered_se,
    clustered_t,
    design_effect,
    intraclass_correlation,
    observed_design_effect,
    sign_flip_p,
    tango,
    wilson,
)


def test_clustered_se_equals_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(5)
    values, groups = rng.integers(0, 2, 90).astype(float), rng.integers(0, 7, 90)
    fit = sm.OLS(values, np.ones(90)).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    assert clustered_se(values, groups) == pytest.approx(float(fit.bse[0]), rel=1e-12)


def test_t_interval_has_its_small_sample_factor():
    values, groups = np.array([1, 1, 0, 1, 0, 0, 1, 1.0]), np.array([0, 0, 0, 1, 1, 2, 2, 2])
    found = clustered_t(values, groups)
    half = 4.302652729911275 * clustered_se(values, groups) * np.sqrt(3 / 2)
    assert (found.low, found.high) == pytest.approx((0.625 - half, 0.625 + half))


@pytest.mark.parametrize("seed", range(5))
def test_sign_flip_equals_the_enumeration(seed):
    rng = np.random.default_rng(seed)
    differences, groups = rng.integers(-1, 2, 40).astype(float), rng.integers(0, 9, 40)
    sums = np.array([differences[groups == g].sum() for g in np.unique(groups)])
    totals = [abs((np.array(signs) * sums).sum()) for signs in itertools.product((-1, 1), repeat=len(sums))]
    expected = np.mean(np.array(totals) >= abs(sums.sum()) - 1e-9)
    assert sign_flip_p(differences, groups) == pytest.approx(expected, abs=1e-12)


def test_sign_flip_floor():
    assert sign_flip_p(np.ones(10), np.repeat(np.arange(5), 2)) == pytest.approx(0.0625)
    assert sign_flip_p(np.ones(12), np.repeat(np.arange(6), 2)) == pytest.approx(0.03125)
    assert sign_flip_p(np.zeros(4), [1, 1, 2, 2]) == 1.0
    with pytest.raises(StatisticsError):
        sign_flip_p([0.5, 0.25], [0, 1])


def test_edges_have_a_defined_answer():
    assert clustered_t([], []).value is None
    one = clustered_t([1.0, 0.0], ["a", "a"])
    assert (one.value, one.low) == (0.5, None)
    assert clustered_p([1.0, 0.0], ["a", "a"]) is None
    assert clustered_p([0.0, 0.0], ["a", "b"]) == 1.0
    assert clustered_p([1.0, 1.0], ["a", "b"]) is None
    assert observed_design_effect([1.0, 1.0], ["a", "b"]).value is None
    assert intraclass_correlation([1.0, 1.0, 1.0], ["a", "b", "b"]).value is None
    missing = clustered_t([1.0, np.nan, 0.0], ["a", "b", "c"])
    assert (missing.value, missing.n, missing.note) == (0.5, 2, "2 clusters")
    with pytest.raises(StatisticsError):
        clustered_t([1.0, 0.0], ["a"])
    with pytest.raises(StatisticsError):
        clustered_t([1.0, 0.0], ["a", None])


def test_design_effect():
    assert design_effect([8] * 21, 0.05) == pytest.approx(1.35)
    assert design_effect([8] * 21, -0.2) == 1.0
    assert design_effect([1] * 50, 0.5) == 1.0


def test_clustering_nearly_cancels_in_real_pairs(mmlu_redux):
    scores, _, frame = mmlu_redux
    first, second, subject = scores[:, 0], scores[:, 1], frame["subject"]
    assert observed_design_effect(first, subject).value * 56 / 57 == pytest.approx(9.61, abs=0.01)
    assert intraclass_correlation(first, subject).value == pytest.approx(0.089, abs=1e-3)
    paired = observed_design_effect(first - second, subject).value
    assert paired * 56 / 57 == pytest.approx(1.21, abs=0.01)


def test_size_under_clustering():
    """21 clusters of 8 with icc about .2: the clustered tests keep 5 %, McNemar does not."""
    from examgen.statistics import mcnemar_p

    rng, groups = np.random.default_rng(3), np.repeat(np.arange(21), 8)
    rejected = []
    for _ in range(400):
        tilt = rng.dirichlet(np.array([0.1, 0.1, 0.8]) * 4.0, size=21)
        draws = np.array([rng.choice([1, -1, 0], size=8, p=row) for row in tilt]).ravel().astype(float)
        p_t = clustered_p(draws, groups)
        item = mcnemar_p(int((draws == 1).sum()), int((draws == -1).sum()))
        rejected.append((p_t is not None and p_t < 0.05, sign_flip_p(draws, groups) < 0.05, item < 0.05))
    size = np.mean(rejected, axis=0)
    assert size[0] < 0.085
    assert size[1] < 0.075
    assert size[2] > 0.10


def test_coverage_of_the_t_interval():
    rng, groups = np.random.default_rng(9), np.repeat(np.arange(16), 30)
    hits = []
    for _ in range(400):
        rates = rng.beta(8 * 0.8, 8 * 0.2, size=16)
        scores = (rng.random(480) < rates[groups]).astype(float)
        found = clustered_t(scores, groups)
        hits.append(found.low <= 0.8 <= found.high)
    assert 0.91 <= np.mean(hits) <= 0.98


@pytest.mark.parametrize(("values", "right"), [([1.0] * 12, 12), ([0.0] * 12, 0), ([1.0, 0.0, 1.0] * 4, 8)])
def test_equal_clusters_give_the_interval_of_independent_items(values, right):
    """All right, all wrong, the same accuracy in every topic: a width of 0 would claim certainty."""
    found, plain = clustered_t(values, np.repeat(np.arange(4), 3)), wilson(right, 12)
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert found.method == "Wilson score interval, 95%, no variation between clusters"
    assert "4 clusters with equal means" in found.note


def test_equal_clusters_of_differences():
    found, plain = clustered_t([1.0, -1.0, 0.0, 1.0] * 3, np.repeat(np.arange(3), 4)), tango(6, 3, 12)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    assert found.method.startswith("Tango")
    fractions = clustered_t([0.5, -0.25] * 4, np.repeat(np.arange(4), 2))
    assert fractions.method.startswith("t interval over items")
    assert fractions.low < 0.125 < fractions.high


def test_fractions_get_a_conservative_wilson_interval():
    found = accuracy_intervals(np.array([0.5, 1.0, 0.25]), method="wilson")[0]
    assert found.value == pytest.approx(1.75 / 3)
    assert 0 < found.low < found.value < found.high < 1
    assert "means over repeats" in found.method
