import numpy as np
import pytest

from examgen.statistics import StatisticsError, increment_table, nested_increments


def paper_like():
    """Backbone 148/168, orchestration fixes 8 and breaks 4, the verifier fixes 13 and breaks 2."""
    scores = np.zeros((168, 3))
    scores[:148, 0] = 1
    scores[:, 1] = scores[:, 0]
    scores[148:156, 1], scores[:4, 1] = 1, 0
    scores[:, 2] = scores[:, 1]
    scores[np.flatnonzero(scores[:, 1] == 0)[:13], 2] = 1
    scores[10:12, 2] = 0
    return scores


def test_steps_add_up_to_the_total():
    steps = nested_increments(paper_like(), ["backbone", "+ orchestration", "+ verifier"])
    assert [(len(s.fixed), len(s.broken)) for s in steps[:2]] == [(8, 4), (13, 2)]
    assert steps[0].p_exact == pytest.approx(0.388, abs=5e-4)
    assert steps[1].p_exact == pytest.approx(0.0074, abs=5e-5)
    assert steps[2].gain.value == pytest.approx(steps[0].gain.value + steps[1].gain.value)
    assert steps[1].gain.value == pytest.approx(0.0655, abs=1e-4)
    frame = increment_table(steps)
    assert frame["changed"].tolist()[:2] == [12, 15]
    assert frame["after_right"].tolist()[0] == frame["before_right"].tolist()[1]


def test_items_are_named_and_missing_left_out_of_all():
    scores = np.array([[0, 1.0], [1, 0], [1, 1], [np.nan, 1]])
    (step,) = nested_increments(scores, ["a", "b"], ["p", "q", "r", "s"])
    assert (step.fixed, step.broken, step.n) == (("p",), ("q",), 3)
    with pytest.raises(StatisticsError):
        nested_increments(scores, ["a", "a"])
    with pytest.raises(StatisticsError):
        nested_increments(scores, ["a", "b"], ["p"])
    (empty,) = nested_increments(np.full((2, 2), np.nan), ["a", "b"])
    assert empty.gain.value is None
    assert empty.p_exact == 1.0
