import numpy as np
import pytest

from examgen.statistics import StatisticsError, bonferroni, holm, planning_alpha


def test_holm_of_the_paper():
    assert holm([0.000274658203125, 0.3876953125, 0.00738525390625]) == pytest.approx(
        [0.000823974609375, 0.3876953125, 0.0147705078125]
    )


def test_equals_statsmodels():
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(1).random(30) ** 3
    assert holm(list(p)) == pytest.approx(multipletests(p, method="holm")[1])
    assert bonferroni(list(p)) == pytest.approx(multipletests(p, method="bonferroni")[1])


def test_missing_is_not_part_of_the_family():
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert holm([]) == []
    with pytest.raises(StatisticsError):
        holm([float("nan")])


def test_planning_level():
    assert planning_alpha(0.05, 5) == 0.01
    assert planning_alpha(0.05, 5, "none") == 0.05
    with pytest.raises(StatisticsError):
        planning_alpha(0.05, 0)
