import numpy as np
import pytest

from examgen.statistics import (
    StatisticsError,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    percent_agreement,
)


def ratings_of(seed, n, raters, keep=1.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    given = np.where(rng.random((n, raters)) < 0.7, truth[:, None], rng.integers(0, 3, (n, raters)))
    return [["abc"[x] if rng.random() < keep else None for x in row] for row in given]


def test_equal_to_sklearn_and_statsmodels():
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters
    from statsmodels.stats.inter_rater import fleiss_kappa as expected_fleiss

    pairs = ratings_of(1, 80, 2)
    assert cohen_kappa(pairs).value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    triples = ratings_of(2, 60, 4)
    table, _ = aggregate_raters(np.array(triples))
    assert fleiss_kappa(triples).value == pytest.approx(expected_fleiss(table))


def test_gwet_where_kappa_collapses():
    """118 + 5 agreements and 2 disagreements of 125: kappa's paradox, AC1 stays near the agreement."""
    pairs = [["+", "+"]] * 118 + [["-", "-"]] * 5 + [["+", "-"]] + [["-", "+"]]
    share = (2 * 118 + 2) / 250
    chance = 2 * share * (1 - share)
    agree = 123 / 125
    assert gwet_ac1(pairs).value == pytest.approx((agree - chance) / (1 - chance))
    assert percent_agreement(pairs).value == pytest.approx(agree)
    lopsided = [["+", "+"]] * 95 + [["+", "-"]] * 5
    assert cohen_kappa(lopsided).value == pytest.approx(0.0)
    assert gwet_ac1(lopsided).value > 0.9


def naive_jackknife(coefficient, rows):
    values = np.array([coefficient(rows[:i] + rows[i + 1 :]).value for i in range(len(rows))])
    n = len(rows)
    return np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())


@pytest.mark.parametrize("coefficient", [cohen_kappa, fleiss_kappa, gwet_ac1, percent_agreement])
def test_jackknife_equals_leaving_each_item_out(coefficient):
    rows = ratings_of(4, 25, 2, keep=0.95)
    found = coefficient(rows)
    rated = [row for row in rows if None not in row]
    half = 2.0638985616280205 if len(rated) == 25 else None
    error = naive_jackknife(coefficient, rated)
    from scipy import stats

    half = stats.t.ppf(0.975, len(rated) - 1) * error
    assert found.low == pytest.approx(max(-1, found.value - half))
    assert found.high == pytest.approx(min(1, found.value + half))


def test_coverage_of_the_jackknife():
    truth, hits = fleiss_kappa(ratings_of(99, 20_000, 3)).value, []
    for seed in range(150):
        found = fleiss_kappa(ratings_of(seed, 60, 3))
        hits.append(found.low <= truth <= found.high)
    assert 0.89 <= np.mean(hits) <= 0.99


def test_edges():
    assert cohen_kappa([["a", "a"]] * 4).value is None
    assert fleiss_kappa([["a", "a", "a"]] * 4).value is None
    assert gwet_ac1([["a", "a"]] * 4).value is None
    assert cohen_kappa([["a", None]]).value is None
    assert fleiss_kappa([]).value is None
    assert percent_agreement([["a", "a"], ["a", "b"]]).low is None
    with pytest.raises(StatisticsError):
        cohen_kappa([["a", "b", "a"]])
