import numpy as np
import pytest

from examgen.statistics import (
    StatisticsError,
    distractor_functioning,
    fit_2pl,
    item_statistics,
    kr20,
    split_panel_reliability,
)
from examgen.statistics import ability as theta_of
from examgen.statistics import fit_rasch as rasch

# Bock & Lieberman 1970, sections 6 and 7 of the LSAT: respondents a pattern, patterns 00000 .. 11111.
LSAT6 = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15,
         10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]  # fmt: skip
LSAT7 = [12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28,
         7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18, 136, 32, 308]  # fmt: skip


def lsat(counts):
    rows = [[int(bit) for bit in f"{pattern:05b}"] for pattern, n in enumerate(counts) for _ in range(n)]
    return np.array(rows, dtype=float).T


def test_kr20_and_item_rest_of_lsat():
    assert kr20(lsat(LSAT6)).value == pytest.approx(0.29499719221594417, abs=1e-9)
    assert kr20(lsat(LSAT7)).value == pytest.approx(0.4534087353874262, abs=1e-9)
    frame = item_statistics(lsat(LSAT6))
    assert frame["item_rest"].tolist() == pytest.approx(
        [0.11283268892234179, 0.15317812011652945, 0.17277894329109042, 0.14442809524709369, 0.12159640254709649]
    )
    assert frame["alpha_if_deleted"].tolist() == pytest.approx(
        [0.275356210798234, 0.23758390464668158, 0.2167994629432819, 0.2459327104335709, 0.26629441120825126]
    )
    assert frame["sufficient"].all()


def test_item_statistics_equal_a_naive_twin():
    scores = (np.random.default_rng(3).random((7, 40)) < np.linspace(0.3, 0.9, 7)[:, None]).astype(float)
    frame = item_statistics(scores)
    for item in range(7):
        rest = np.delete(scores, item, axis=0)
        assert frame["item_rest"][item] == pytest.approx(np.corrcoef(scores[item], rest.sum(axis=0))[0, 1])
        assert frame["alpha_if_deleted"][item] == pytest.approx(kr20(rest).value)


def test_a_dozen_endpoints_are_marked_insufficient():
    scores = (np.random.default_rng(3).random((50, 12)) < 0.7).astype(float)
    scores[0] = 1.0
    frame = item_statistics(scores)
    assert not frame["sufficient"].any()
    assert frame["item_rest"].isna()[0]
    assert "12 respondents" in kr20(scores).note
    assert fit_2pl(scores).loglik is None
    assert "200 needed" in fit_2pl(scores).note


def test_kr20_edges():
    assert kr20(np.ones((3, 10))).value is None
    assert kr20(np.ones((1, 10))).value is None
    holes = lsat(LSAT6)[:, :500].copy()
    holes[0, :3] = np.nan
    found = kr20(holes)
    assert found.n == 497
    assert "3 respondents" in found.note
    assert item_statistics(np.full((2, 3), np.nan))["right"].isna().all()


def test_feldt_interval_covers():
    rng, hits = np.random.default_rng(5), []
    slopes = np.linspace(-1, 1, 12)
    draw = lambda n: rng.random((12, n)) < 1 / (1 + np.exp(-(rng.standard_normal(n) * 1.3 - slopes[:, None])))  # noqa: E731
    truth = kr20(draw(40_000).astype(float)).value
    for _ in range(200):
        found = kr20(draw(80).astype(float))
        hits.append(found.low <= truth <= found.high)
    assert 0.89 <= np.mean(hits) <= 0.99


def test_2pl_of_lsat_7_is_the_published_fit():
    fit = fit_2pl(lsat(LSAT7))
    assert fit.loglik == pytest.approx(-2658.805, abs=1e-3)
    assert fit.items["a"].tolist() == pytest.approx([0.988, 1.081, 1.707, 0.765, 0.736], abs=2e-3)
    assert fit.items["b"].tolist() == pytest.approx([-1.8793, -0.7475, -1.0572, -0.6353, -2.5208], abs=2e-3)
    assert fit.converged


def test_2pl_and_rasch_of_lsat_6_are_the_published_fits():
    fit = fit_2pl(lsat(LSAT6))
    assert fit.loglik == pytest.approx(-2466.653, abs=1e-3)
    assert fit.items["a"].tolist() == pytest.approx([0.8257, 0.7227, 0.8909, 0.6884, 0.6569], abs=2e-3)
    assert fit.items["b"].tolist() == pytest.approx([-3.3588, -1.3701, -0.2797, -1.8664, -3.1259], abs=5e-3)
    assert rasch(lsat(LSAT6)).loglik == pytest.approx(-2466.938, abs=1e-3)
    # standard errors of the slopes in ltm, remembered, not looked up: a rough check of the delta method
    assert fit.items["a_se"].tolist() == pytest.approx([0.258, 0.187, 0.233, 0.185, 0.210], rel=0.1)


def test_2pl_recovers_with_missing_answers():
    rng = np.random.default_rng(1)
    a, b, theta = np.array([0.8, 1.2, 1.6, 1.0, 2.0, 1.4]), np.linspace(-1.2, 1.2, 6), rng.standard_normal(3000)
    scores = (rng.random((6, 3000)) < 1 / (1 + np.exp(-a[:, None] * (theta - b[:, None])))).astype(float)
    scores[rng.random(scores.shape) < 0.15] = np.nan
    scores = np.vstack([scores, np.ones(3000)])
    fit = fit_2pl(scores, nodes=31)
    assert fit.items["a"].tolist()[:6] == pytest.approx(a, abs=0.35)
    assert fit.items["b"].tolist()[:6] == pytest.approx(b, abs=0.2)
    assert fit.items["a"].isna().tolist()[6]
    assert "1 items without variation" in fit.note
    found = theta_of(scores, fit)
    assert np.corrcoef(found["theta"], theta)[0, 1] > 0.7
    assert (found["se"] > 0).all()
    with pytest.raises(StatisticsError):
        theta_of(scores[:3], fit)


def test_distractors():
    answers = [["A", "A", "B", None, "Z"], ["C", "C", "C", "C", "C"]]
    frame = distractor_functioning(answers, ["A", "C"], [list("ABC"), list("ABC")])
    first = frame.set_index(["item_id", "option"])
    assert first.loc[("0", "A"), "n"] == 3
    assert first.loc[("0", "B"), "share"] == pytest.approx(1 / 3)
    assert bool(first.loc[("0", "B"), "functioning"])
    assert not bool(first.loc[("1", "A"), "functioning"])
    assert frame["rest_correlation"].isna().sum() == 6
    empty = distractor_functioning([[None, None]], ["A"], [list("AB")])
    assert empty["share"].isna().all()
    assert empty["functioning"].isna().all()
    with pytest.raises(StatisticsError):
        distractor_functioning(answers, ["A"], [list("ABC")])


def test_split_panel(mmlu_redux):
    found = split_panel_reliability(mmlu_redux[0], splits=40)
    assert 0.92 < found.value < 0.97
    assert split_panel_reliability(np.ones((5, 3))).value is None
    assert split_panel_reliability(np.ones((5, 6))).value is None
    noise = (np.random.default_rng(0).random((400, 12)) < 0.7).astype(float)
    assert abs(split_panel_reliability(noise, splits=60).value) < 0.2
