import numpy as np
import pytest

from examgen.statistics import StatisticsError, dif_table, mantel_haenszel


def test_equals_statsmodels():
    from statsmodels.stats.contingency_tables import StratifiedTable

    tables = np.random.default_rng(2).integers(3, 40, (6, 2, 2))
    found = mantel_haenszel(tables)
    expected = StratifiedTable([t.astype(float) for t in tables])
    test = expected.test_null_odds(correction=True)
    assert found.odds_ratio == pytest.approx(expected.oddsratio_pooled)
    assert (found.chi2, found.p) == pytest.approx((test.statistic, test.pvalue))
    assert (found.low, found.high) == pytest.approx(expected.oddsratio_pooled_confint())
    assert found.delta == pytest.approx(-2.35 * np.log(found.odds_ratio))


def test_edges():
    assert mantel_haenszel(np.zeros((2, 2, 2))).odds_ratio is None
    infinite = mantel_haenszel([[[5, 0], [3, 4]]])
    assert infinite.odds_ratio is None
    assert infinite.note == "the odds ratio is infinite"
    assert mantel_haenszel([[[5, 0], [4, 0]]]).chi2 is None
    with pytest.raises(StatisticsError):
        mantel_haenszel(np.ones((2, 2)))


def test_a_shifted_item_is_found_and_a_dozen_endpoints_are_refused():
    rng = np.random.default_rng(7)
    focal = np.arange(800) % 2 == 1
    theta, b = rng.standard_normal(800), np.linspace(-1, 1, 12)
    shift = np.zeros((12, 800))
    shift[5, focal] = 1.2
    scores = (rng.random((12, 800)) < 1 / (1 + np.exp(-(theta - b[:, None] - shift)))).astype(float)
    frame = dif_table(scores, focal)
    assert frame["size"][5] == "C"
    assert frame["delta"][5] < -1.5
    assert (frame["size"].drop(5) == "A").sum() >= 9
    few = dif_table(scores[:, :12], focal[:12])
    assert few["odds_ratio"].isna().all()
    assert few["note"].str.contains("6 respondents").all()
    with pytest.raises(StatisticsError):
        dif_table(scores, focal[:5])


def test_size_under_the_null():
    rng, rejected = np.random.default_rng(3), []
    focal = np.arange(200) % 2 == 1
    for _ in range(60):
        theta = rng.standard_normal(200)
        scores = (rng.random((8, 200)) < 1 / (1 + np.exp(-(theta - np.linspace(-1, 1, 8)[:, None])))).astype(float)
        rejected += (dif_table(scores, focal)["p"] < 0.05).tolist()
    assert np.mean(rejected) < 0.07
