import numpy as np
import pytest

from examgen.statistics import StatisticsError, TierRules, abstention_profile, assign_tiers, tier_hash


def assigned(**changes):
    given = {
        "keys": [["A"] * 3, ["A", "B", "A"], ["C", "C", None], ["D"] * 3, ["B"] * 3, [None] * 3],
        "human": [True, False, False],
        "complete_provenance": np.array([True, True, True, False, True, True]),
        "flagged": np.array([False, False, False, False, True, False]),
    } | changes
    return assign_tiers(**given)


def test_tiers():
    frame = assigned()
    assert frame["tier"].tolist() == ["A", "probe", "B", "B", "B", "B"]
    assert frame["key_source"].tolist()[0] == "human and model"
    assert frame["reasons"].tolist() == [
        "", "keys disagree", "2 of 3 keys", "provenance incomplete", "audit flag", "0 of 3 keys",
    ]  # fmt: skip
    assert frame["agreement"].iloc[1] == pytest.approx(2 / 3)
    assert assigned(human=[False] * 3)["key_source"].tolist()[0] == "model"
    strict = assigned(rules=TierRules(endorsement=0.8), endorsement=[0.7] + [1.0] * 5)
    assert strict["tier"].tolist()[0] == "B"
    with pytest.raises(StatisticsError):
        assigned(human=[True])
    with pytest.raises(StatisticsError):
        assigned(flagged=np.zeros(6))


def test_hash_ignores_row_order_and_sees_every_change():
    frame = assigned()
    assert tier_hash(frame) == tier_hash(frame.iloc[::-1])
    other = frame.copy()
    other.loc[0, "tier"] = "B"
    assert tier_hash(other) != tier_hash(frame)


def test_the_paper_s_abstention_shares():
    for count, share in [(39, 84.8), (2, 4.3), (9, 19.6), (11, 23.9)]:
        probe = np.r_[np.ones(count), np.zeros(46 - count)]
        found = abstention_profile(probe, np.zeros(10), np.ones(10))
        assert round(100 * found.abstention.value, 1) == share
        assert found.forced.value == pytest.approx(1 - count / 46)


def test_profile_and_edges():
    found = abstention_profile([1, 1, 0, np.nan], [0, 0, 1, 0, np.nan, 0], [1, 0, np.nan, 1, 1, np.nan])
    assert found.abstention.value == pytest.approx(2 / 3)
    assert found.over_abstention.value == pytest.approx(1 / 4)
    assert found.coverage.value == pytest.approx(3 / 4)
    assert found.accuracy_answered.value == pytest.approx(2 / 3)
    assert found.separation == pytest.approx(2 / 3 - 1 / 4)
    assert found.unresolved == 3
    empty = abstention_profile([], [], [])
    assert empty.abstention.value is None
    assert empty.separation is None
    silent = abstention_profile([1], [1], [np.nan])
    assert silent.accuracy_answered.value is None
    with pytest.raises(StatisticsError):
        abstention_profile([2], [1], [1])
