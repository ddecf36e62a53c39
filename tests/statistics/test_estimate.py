import numpy as np
import pytest

import examgen.statistics as statistics
from examgen.errors import ExamGenError
from examgen.statistics import Estimate, StatisticsError, not_estimable


def test_a_nan_is_refused():
    with pytest.raises(StatisticsError):
        Estimate(float("nan"), None, None, "x", 1)
    with pytest.raises(StatisticsError):
        Estimate(0.5, float("inf"), None, "x", 1)


def test_errors_belong_to_both_trees():
    assert issubclass(StatisticsError, ValueError)
    assert issubclass(StatisticsError, ExamGenError)


def test_not_estimable_has_a_reason():
    found = not_estimable("x", "no data")
    assert not found.estimable
    assert found.as_row()["note"] == "no data"


def test_everything_public_is_documented_and_importable():
    for name in statistics.__all__:
        thing = getattr(statistics, name)
        if callable(thing):
            assert thing.__doc__, name


def test_scores_out_of_range_are_refused():
    with pytest.raises(StatisticsError):
        statistics.item_bootstrap(np.array([2.0]), replicates=2)
    with pytest.raises(StatisticsError):
        statistics.compare_pairs(np.ones(3), ["a"])
