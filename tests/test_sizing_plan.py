"""The plan of a benchmark: needs, reach, curves; every row fits its table."""

from __future__ import annotations

import pytest

from examgen import tables
from examgen.errors import StudyError
from examgen.sizing_plan import WORSE, curve_rows, detectable, make_plan, sizing_rows
from examgen.sizing_section import Contrast, Sizing

TOTAL = Contrast(name="total", counts=(16, 1, 168))
PLAN = Contrast(name="plan", better=0.1, worse=0.025)
STEP = Contrast(name="orchestration", better=8 / 168, worse=4 / 168)


def test_the_published_cases() -> None:
    plan = make_plan(Sizing(correction="none", contrasts=(PLAN, STEP)), 168)
    assert [plan.row(name)["n_sustained"] for name in ("plan", "orchestration")] == [185, 1045]
    assert (plan.plan.items, plan.plan.binding, plan.floor) == (1045, "orchestration: power", 6)
    assert plan.reach is not None
    assert plan.reach["power"].tolist() == pytest.approx([0.75761, 0.134181], abs=1e-5)


def test_a_larger_family_than_declared_is_planned_for() -> None:
    plan = make_plan(Sizing(comparisons=11, contrasts=(PLAN,)))
    assert plan.level == pytest.approx(0.05 / 11)
    assert plan.plan.items == 302


def test_one_sided_needs_less_and_has_its_own_floor() -> None:
    plan = make_plan(Sizing(one_sided=True, contrasts=(PLAN,)))
    assert plan.floor == 5
    assert plan.plan.items is not None
    assert plan.plan.items < 185


def test_design_effect_and_attrition_are_in_items_and_in_reach() -> None:
    plan = make_plan(Sizing(design_effect=1.35, attrition=0.1, contrasts=(PLAN,)), 278)
    assert plan.plan.items == 278  # 185 x 1.35 = 250, over .9
    assert plan.effective(278) == 185
    assert plan.reach is not None
    assert bool(plan.reach["resolvable"].iloc[0])
    assert not make_plan(Sizing(cap=200, design_effect=1.35, contrasts=(PLAN,))).plan.feasible


def test_the_range_of_unknown_dependence() -> None:
    plan = make_plan(Sizing(contrasts=(Contrast(name="t", accuracies=(163 / 168, 148 / 168)),)))
    assert [other.items for other in plan.spread] == [88, 146, 155]


def test_limits_without_a_gain_are_told_as_such() -> None:
    plan = make_plan(Sizing(contrasts=(Contrast(name="step", counts=(8, 4, 168)),)))
    assert plan.spread[0].items is None


def test_rows_fit_their_tables() -> None:
    plan = make_plan(Sizing(ceiling_accuracy=0.97, contrasts=(PLAN, TOTAL)), 168)
    rows, curves = sizing_rows(plan), curve_rows(plan)
    assert tables.as_table("sizing", rows).num_rows == len(rows)
    assert tables.as_table("power_curves", curves).num_rows == len(curves)
    assert {row["contrast"] for row in rows} == {"plan", "total", "all"}
    needed = next(r for r in rows if r["contrast"] == "all")
    assert needed["value"] == plan.plan.items
    at = [row for row in curves if row["items"] == plan.plan.items and row["contrast"] == "plan"]
    assert at[0]["power"] >= 0.8


def test_the_smallest_gains_fall_with_size_and_rise_with_discordance() -> None:
    plan = make_plan(Sizing(contrasts=(PLAN,)))
    (_, small), (_, large) = detectable(plan, [168, 1000])
    assert len(small) == len(WORSE)
    assert all(a is not None and b is not None and a > b for a, b in zip(small, large, strict=True))
    assert small == sorted(small, key=float)  # type: ignore[arg-type]


def test_no_contrast_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(StudyError, match=r"sizing\.contrasts: none is declared"):
        make_plan(Sizing())


def test_hard_stop_rules_can_bind() -> None:
    contrasts = [{"better": 0.1, "worse": 0.025}]
    sizing = Sizing.model_validate({"contrasts": contrasts, "hard_stop_rate": 0.01, "attrition": 0.1})
    plan = make_plan(sizing)
    assert (plan.plan.items, plan.plan.binding) == (333, "hard-stop rules")  # 299 / .9
    assert make_plan(sizing.model_copy(update={"hard_stop_rate": 0.02})).plan.items == 206
