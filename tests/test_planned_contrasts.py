"""From the study's section to contrasts and rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from examgen.planned_contrasts import family, planned, resolved, rules_of
from examgen.sizing_section import Contrast, Sizing


def test_each_way_gives_its_table() -> None:
    gain = planned(Contrast(name="g", gain=0.075, worse=0.025)).contrast.discordance
    assert (gain.p_b, gain.p_c) == pytest.approx((0.1, 0.025))
    agreed = planned(Contrast(name="a", accuracies=(0.90, 0.825), agreement=0.875)).contrast.discordance
    assert (agreed.p_b, agreed.p_c) == pytest.approx((0.1, 0.025))
    independent = planned(Contrast(name="a", accuracies=(0.9, 0.8), correlation=0)).contrast.discordance
    assert (independent.p_b, independent.p_c) == pytest.approx((0.18, 0.08))


def test_accuracies_alone_are_planned_on_independence_and_show_their_spread() -> None:
    found = planned(Contrast(name="a", accuracies=(163 / 168, 148 / 168)))
    assert found.contrast.discordance.p_c == pytest.approx(148 / 168 * 5 / 168)
    assert [table.source for table in found.spread] == [
        "perfect dependence", "independence", "most negative dependence",
    ]  # fmt: skip
    assert "planned on independence" in found.contrast.discordance.source
    assert found.contrast.accuracy == 163 / 168


def test_counts_carry_the_limits_of_the_gain() -> None:
    found = planned(Contrast(name="c", counts=(16, 1, 168)))
    low, high = found.spread
    assert (low.gain, high.gain) == pytest.approx((0.048, 0.1441), abs=5e-4)
    assert found.contrast.discordance.n == 168


def test_a_pilot_is_read_from_beside_the_study(tmp_path: Path) -> None:
    rows = [f"q{i},a,{int(i < 9)}\nq{i},b,{int(i < 6)}" for i in range(10)]
    (tmp_path / "pilot.csv").write_text("item_id,endpoint,correct\n" + "\n".join(rows))
    sizing = Sizing(contrasts=(Contrast(name="p", pilot="pilot.csv", endpoints=("a", "b")),))
    read = resolved(sizing, tmp_path)
    assert read.contrasts[0].counts == (3, 0, 10)
    assert not read.contrasts[0].pilot
    assert resolved(read, tmp_path / "elsewhere") == read


def test_the_rules_are_carried_over() -> None:
    sizing = Sizing(one_sided=True, test="midp", comparisons=5, design_effect=1.4, attrition=0.1, cap=300,
                    ceiling_accuracy=0.97, contrasts=(Contrast(name="g", gain=0.1, worse=0.0),))  # fmt: skip
    rules = rules_of(sizing)
    assert (rules.alternative, rules.test, rules.comparisons, rules.cap) == ("greater", "midp", 5, 300)
    assert rules.level(1) == pytest.approx(0.01)
    assert family(sizing)[0].contrast.accuracy == 0.97
