import numpy as np
import pytest

from examgen.statistics import (
    StatisticsError,
    cochran_q,
    order_stability,
    position_test,
    recall_by_position,
    score_changes,
)


def simulate(rng, n, bias, k=4):
    """Answers (option numbers) of a responder with item abilities and a pull towards position 0."""
    strength = rng.normal(0.8, 1.5, n)
    utility = np.zeros((n, k))
    utility[:, 0] = strength
    noise = rng.gumbel(size=(n, k, k))
    shown = np.zeros((k, k))
    for r in range(k):
        shown[r, (np.arange(k) + r) % k == 0] = bias
    return np.argmax(utility[:, None, :] + shown[None] + noise, axis=2)


def test_cochran_q_equals_statsmodels():
    from statsmodels.stats.contingency_tables import cochrans_q

    cells = (np.random.default_rng(0).random((40, 4)) < 0.6).astype(int)
    expected = cochrans_q(cells)
    found = cochran_q(cells)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    holes = cells.astype(float)
    holes[0, 0] = np.nan
    assert cochran_q(holes).statistic == pytest.approx(cochrans_q(cells[1:]).statistic)


def test_stable_responder_has_p_one():
    assert position_test(np.full((50, 4), 2), permutations=50).p == 1.0
    assert cochran_q(np.ones((50, 4))).p == 1.0
    assert order_stability(np.full((50, 4), 2))["strict"] == 1.0


def test_pure_position_is_found():
    always_first = np.array([[(0 - r) % 4 for r in range(4)]] * 20)
    assert position_test(always_first, permutations=200).p == pytest.approx(1 / 201)
    assert order_stability(always_first) == {"strict": 0.0, "pairwise": 0.0, "changed": 20, "unread": 0, "n": 20}


def test_size_and_power():
    rng = np.random.default_rng(8)
    null = [position_test(simulate(rng, 60, 0.0), permutations=99, seed=i).p <= 0.05 for i in range(250)]
    biased = [position_test(simulate(rng, 60, 0.8), permutations=99, seed=i).p <= 0.05 for i in range(60)]
    assert 0.015 <= np.mean(null) <= 0.085
    assert np.mean(biased) > 0.9
    q = [cochran_q(keyed(simulate(rng, 60, 0.0))).p <= 0.05 for _ in range(250)]
    assert 0.015 <= np.mean(q) <= 0.09


def keyed(answers):
    """Right or wrong by position of the key (option 0 stands at position r under order r)."""
    return (answers == 0).astype(float)


def test_unread_answers_and_other_numbers_of_options():
    answers = np.array([[0, 0, 0, 0], [1, 1, -1, 1], [0, 1, 2, -1], [-1, -1, -1, -1]])
    options = np.array([4, 4, 3, 4])
    found = order_stability(answers, options)
    assert found["strict"] == 0.25
    assert (found["changed"], found["unread"]) == (1, 5)
    assert found["pairwise"] == pytest.approx(2 / 3)
    assert position_test(answers, options, permutations=50).n == 3
    assert position_test(np.full((2, 4), -1)).p is None
    assert order_stability(np.zeros((0, 4), int))["strict"] is None
    for bad in (np.array([[0.5, 1]]), np.array([[4, 0, 0, 0]]), np.array([0, 1])):
        with pytest.raises(StatisticsError):
            position_test(bad)


def test_effect_sizes():
    recall, spread = recall_by_position([[1, 0], [1, 1], [np.nan, 0]])
    assert recall == [1.0, pytest.approx(1 / 3)]
    assert spread == pytest.approx(1 / 3)
    assert recall_by_position([[np.nan, 1.0]]) == ([None, 1.0], None)
    frame = score_changes(np.array([[[1, 0], [1, 1]], [[np.nan, 1], [np.nan, 1]]]), ["a", "b"])
    assert frame["spread"].tolist()[0] == 0.5
    assert frame["spread"].isna().tolist() == [False, True]


def test_cochran_edges():
    assert cochran_q(np.full((3, 4), np.nan)).p is None
    assert cochran_q(np.ones((3, 1))).p is None
    with pytest.raises(StatisticsError):
        cochran_q(np.ones(3))
