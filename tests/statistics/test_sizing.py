import math

import numpy as np
import pytest

from examgen.statistics import (
    Contrast,
    Design,
    SizingRules,
    StatisticsError,
    authored_items,
    ceiling_n,
    discordance_floor,
    discordance_from_gain,
    floor_n,
    mean_difference_n,
    minimum_detectable_gain,
    power_at,
    power_curve,
    probability_of_floor,
    probability_perfect,
    rejection_probability,
    required_n,
    resolvable,
    size_contrasts,
)
from examgen.statistics.sizing import _tail_bound


def test_floor_and_ceiling_of_the_paper():
    assert discordance_floor(0.05) == 6
    assert [discordance_floor(0.05 / m) for m in (3, 5, 9, 12)] == [7, 8, 9, 9]
    assert [discordance_floor(0.05, t) for t in ("midp", "asymptotic", "corrected")] == [5, 4, 6]
    assert discordance_floor(0.0625) == 6  # strict: p(5, 0) = .0625 is not below
    assert probability_perfect(0.97, 24) == pytest.approx(0.481, abs=5e-4)
    assert probability_perfect(0.97, 168) == pytest.approx(0.006, abs=5e-5)
    assert ceiling_n(0.97, 0.01) == 152
    assert ceiling_n(1.0) is None
    assert ceiling_n(0.0) == 1
    assert ceiling_n(0.5, 0.25) == 3  # .5^2 is not below .25


@pytest.mark.parametrize(
    ("cells", "first", "sustained", "lower", "upper"),
    [
        ((0.1, 0.025), 185, 185, 173, 195),
        ((8 / 168, 4 / 168), 1045, 1045, 999, 1087),
        ((13 / 168, 2 / 168), 169, 169, 159, 177),
        ((16 / 168, 1 / 168), 100, 100, None, None),
        ((0.075, 0.0), 104, 104, 104, 104),
        ((0.7, 0.3), 49, 54, 49, 54),
        ((0.6, 0.4), 199, 210, None, None),
        ((0.58, 0.42), 312, 325, None, None),
    ],
)
def test_required_n_of_the_paper(cells, first, sustained, lower, upper):
    need = required_n(Design(*cells))
    assert (need.first, need.sustained) == (first, sustained)
    if lower is not None:
        assert (need.lower, need.upper) == (lower, upper)


def test_the_184_of_the_paper_is_simulation_noise_around_185():
    design = Design(0.1, 0.025)
    noise = math.sqrt(0.8 * 0.2 / 40_000)
    assert power_at(184, design) < 0.8 <= power_at(185, design)
    assert 0.8 - power_at(184, design) < noise


def test_the_1051_of_the_paper_is_within_the_noise_of_its_search():
    design = Design(8 / 168, 4 / 168)
    assert power_at(1044, design) < 0.8 <= power_at(1045, design)
    assert power_at(1051, design) - 0.8 < 2 * math.sqrt(0.8 * 0.2 / 40_000)


@pytest.mark.parametrize("cells", [(0.3, 0.1), (0.5, 0.3), (0.6, 0.4), (0.55, 0.35), (0.12, 0.02), (0.9, 0.1)])
@pytest.mark.parametrize("target", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("test", ["exact", "midp", "asymptotic", "corrected"])
def test_certificate_equals_a_scan(cells, target, test):
    design = Design(*cells, test=test)
    need = required_n(design, power=target)
    powers = np.array([power_at(n, design) for n in range(min(600, need.upper + 80))])
    reached = powers >= target
    assert need.first == int(np.argmax(reached))
    assert need.sustained == int(np.flatnonzero(~reached)[-1]) + 1
    assert not reached[: need.lower].any()
    assert reached[need.upper :].all()
    assert need.power_at_first == pytest.approx(powers[need.first], abs=1e-12)


@pytest.mark.parametrize("test", ["exact", "midp", "asymptotic", "corrected"])
@pytest.mark.parametrize(("cells", "alpha"), [((0.6, 0.4), 0.05), ((0.1, 0.025), 0.05), ((0.55, 0.45), 0.005)])
def test_tail_bound_is_below_the_rejection_probability_and_increases(test, cells, alpha):
    design = Design(*cells, alpha, test)
    totals = np.arange(1, 4000)
    bounds = np.array([_tail_bound(int(d), design) for d in totals])
    assert (np.diff(bounds) >= 0).all()
    assert (rejection_probability(totals, design) >= bounds - 1e-12).all()


def test_beyond_one_hundred_thousand_items():
    need = required_n(Design(0.051, 0.049))
    design = Design(0.051, 0.049)
    assert need.first == need.sustained == 197_202
    assert power_at(197_201, design) < 0.8 <= power_at(197_202, design)


def test_power_curve_is_monotone_for_the_paper_and_saw_toothed_without_concordance():
    smooth = power_curve(Design(0.1, 0.025), list(range(0, 400)))["power"].to_numpy()
    assert (np.diff(smooth) >= -1e-12).all()
    saw = power_curve(Design(0.6, 0.4), list(range(0, 301)))["power"].to_numpy()
    assert (np.diff(saw) < -1e-12).sum() > 100


def test_what_cannot_be_sized_says_so():
    assert required_n(Design(0.1, 0.1)).first is None
    assert "no gain" in required_n(Design(0.0, 0.0)).note
    assert required_n(Design(0.05, 0.1, alternative="greater")).first is None
    assert required_n(Design(0.025, 0.1)).first == 185  # two-sided: the mirror image
    assert "more than" in required_n(Design(0.0501, 0.05), limit=10_000).note
    assert required_n(Design(0.1, 0.025), limit=184).first is None


def test_minimum_detectable_gain():
    assert minimum_detectable_gain(168, worse=1 / 168).value == pytest.approx(0.057, abs=5e-4)
    assert minimum_detectable_gain(168, worse=4 / 168).value == pytest.approx(0.0786508, abs=1e-6)
    gain = minimum_detectable_gain(300, discordance=0.1).value
    assert power_at(300, Design((0.1 + gain) / 2, (0.1 - gain) / 2, direction="gain")) == pytest.approx(0.8)
    assert minimum_detectable_gain(5, worse=0.0).value is None
    assert minimum_detectable_gain(168, discordance=0.0).value is None
    assert minimum_detectable_gain(0, worse=0.1).value is None
    assert minimum_detectable_gain(500, worse=1.0).value is None
    with pytest.raises(StatisticsError):
        minimum_detectable_gain(100)


def test_floor_n_is_the_first():
    n = floor_n(0.075, probability=0.8)
    assert probability_of_floor(n - 1, 0.075) < 0.8 <= probability_of_floor(n, 0.075)
    assert floor_n(0.0) is None
    assert probability_of_floor(5, 1.0) == 0.0


def plan_contrasts():
    return [
        Contrast("total", discordance_from_gain(15 / 168, worse=1 / 168), 0.97),
        Contrast("orchestration", discordance_from_gain(4 / 168, worse=4 / 168), 0.93),
    ]


def test_plan_names_the_binding_constraint():
    plan = size_contrasts(plan_contrasts())
    assert plan.binding == "orchestration: power"
    assert plan.items == required_n(Design(8 / 168, 4 / 168, 0.025)).sustained
    alone = size_contrasts(plan_contrasts()[:1])
    assert (alone.items, alone.binding) == (152, "total: ceiling")
    assert alone.table["n_power"].tolist() == [100]
    capped = size_contrasts(plan_contrasts(), SizingRules(cap=500))
    assert not capped.feasible
    floor = size_contrasts([Contrast("x", discordance_from_gain(0.1, worse=0.0))], SizingRules(floor_probability=0.99))
    assert floor.binding == "x: floor"


def test_plan_multiplies_by_design_effect_and_attrition():
    contrast = [Contrast("paper", discordance_from_gain(0.075, worse=0.025))]
    plan = size_contrasts(contrast, SizingRules(design_effect=1.35, attrition=0.1))
    assert plan.table["n_analysed"].tolist() == [250]
    assert plan.items == authored_items(250, 0.1) == 278
    shown = resolvable(plan.items, contrast, SizingRules(design_effect=1.35, attrition=0.1))
    assert shown["resolvable"].tolist() == [True]
    assert shown["n_effective"].tolist() == [185]
    fewer = resolvable(plan.items - 5, contrast, SizingRules(design_effect=1.35, attrition=0.1))
    assert fewer["resolvable"].tolist() == [False]


def test_plan_without_a_gain_has_no_size():
    plan = size_contrasts([Contrast("equal", discordance_from_gain(0.0, worse=0.05))])
    assert plan.items is None
    assert not plan.feasible
    assert plan.table["n_authored"].isna().all()


def test_repeats_and_respondents_by_miller():
    assert mean_difference_n(0.03) == 969
    assert mean_difference_n(0.03, within_first=0.2, within_second=0.2, repeats=1) > 4_000
    assert mean_difference_n(0.03, within_first=0.2, within_second=0.2, repeats=10**9) == 969


@pytest.mark.parametrize(
    "call",
    [
        lambda: SizingRules(attrition=1.0),
        lambda: SizingRules(design_effect=0.5),
        lambda: SizingRules(cap=0),
        lambda: size_contrasts([]),
        lambda: size_contrasts(plan_contrasts()[:1] * 2),
        lambda: required_n(Design(0.1, 0.05), power=1.0),
        lambda: mean_difference_n(0.0),
        lambda: ceiling_n(1.2),
    ],
)
def test_misuse_is_refused(call):
    with pytest.raises(StatisticsError):
        call()
