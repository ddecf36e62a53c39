import numpy as np
import pytest

from examgen.statistics import (
    StatisticsError,
    discordance_from_accuracies,
    discordance_from_gain,
    discordance_from_pilot,
    discordance_limits,
    discordance_range,
    required_n_range,
)


def test_accuracies_alone_do_not_fix_n():
    spread = required_n_range(163 / 168, 148 / 168)
    assert spread["first"].tolist() == [88, 146, 155]
    with pytest.raises(StatisticsError, match="do not fix"):
        discordance_from_accuracies(0.9, 0.8)


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.8), (0.5, 0.5), (0.99, 0.3), (1.0, 0.0)])
def test_every_table_keeps_its_accuracies(first, second):
    for table in discordance_range(first, second):
        assert table.gain == pytest.approx(first - second)
        assert 0 <= table.p_d <= 1 + 1e-12


def test_agreement_and_correlation_say_the_same():
    by_agreement = discordance_from_accuracies(0.9, 0.825, agreement=0.875)
    assert (by_agreement.p_b, by_agreement.p_c) == pytest.approx((0.1, 0.025))
    independent = discordance_from_accuracies(0.9, 0.8, correlation=0.0)
    assert (independent.p_b, independent.p_c) == pytest.approx((0.9 * 0.2, 0.1 * 0.8))
    with pytest.raises(StatisticsError, match="between"):
        discordance_from_accuracies(0.9, 0.8, agreement=0.99)


def test_pilot_counts_what_both_answered():
    first = np.array([1, 1, 1, 0, 0, np.nan, 1])
    second = np.array([1, 0, 0, 1, 0, 1, np.nan])
    pilot = discordance_from_pilot(first, second)
    assert (pilot.n, pilot.p_b, pilot.p_c) == (5, 0.4, 0.2)
    assert pilot.gain_low < pilot.gain < pilot.gain_high
    low, high = discordance_limits(pilot)
    assert low < 0.6 < high
    with pytest.raises(StatisticsError):
        discordance_from_pilot([np.nan], [1.0])
    with pytest.raises(StatisticsError):
        discordance_limits(discordance_from_gain(0.1, worse=0.1))
    with pytest.raises(StatisticsError):
        discordance_from_gain(0.9, worse=0.2)
