"""One-sided planning and a family larger than the declared contrasts."""

import pytest

from examgen.errors import StatisticsError
from examgen.statistics import (
    Contrast,
    Design,
    Discordance,
    SizingRules,
    discordance_floor,
    minimum_detectable_gain,
    power_at,
    required_n,
    resolvable,
    size_contrasts,
)

PLAN = [Contrast("plan", Discordance(0.1, 0.025, "declared"))]


def test_one_sided_floor_is_the_smallest_power_of_a_half_below_alpha():
    assert [discordance_floor(alpha, "exact", "greater") for alpha in (0.05, 0.025, 0.01)] == [5, 6, 7]
    for alpha in (0.05, 0.01, 0.2):
        floor = discordance_floor(alpha, "exact", "greater")
        assert 0.5**floor < alpha <= 0.5 ** (floor - 1)


def test_one_sided_plan_is_the_one_sided_required_n():
    plan = size_contrasts(PLAN, SizingRules(alternative="greater"))
    assert plan.items == required_n(Design(0.1, 0.025, alternative="greater")).sustained
    assert plan.items < size_contrasts(PLAN).items


def test_one_sided_at_half_the_level_is_two_sided_but_for_the_wrong_direction():
    gain = minimum_detectable_gain(168, worse=0.025, alpha=0.025, alternative="greater").value
    assert gain == pytest.approx(minimum_detectable_gain(168, worse=0.025, alpha=0.05).value, abs=1e-6)
    assert power_at(168, Design(0.025 + gain, 0.025, 0.025, alternative="greater")) == pytest.approx(0.8)


def test_a_family_larger_than_declared_is_planned_and_judged_alike():
    rules = SizingRules(comparisons=5)
    assert size_contrasts(PLAN, rules).items == 263
    assert resolvable(263, PLAN, rules)["resolvable"].tolist() == [True]
    assert resolvable(262, PLAN, rules)["resolvable"].tolist() == [False]
    assert SizingRules(comparisons=2).level(4) == 0.05 / 4
    with pytest.raises(StatisticsError):
        SizingRules(comparisons=0)
