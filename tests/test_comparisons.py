"""Every pair in explicit columns, against hand counts and the functions it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from examgen import tables
from examgen.comparisons import comparison_rows, families, increment_rows, planned_pairs
from examgen.records import BankItem
from examgen.scores import collect
from examgen.sizing_section import Contrast, Sizing
from examgen.statistics import compare_strata, interaction_test, mcnemar_p, power_at
from examgen.statistics.mcnemar import Design
from examgen.study import Statistics
from tests.panels import PANEL, answer, endpoint, make_answers, make_bank

SETTINGS = Statistics()
BANK = make_bank(8, 21)  # 168 items


def scored(right: dict[str, set[int]], bank: list[BankItem] = BANK, role: str = "primary") -> Any:
    """Answers where each endpoint is right on all items but the named ones."""
    rows = []
    for name, wrong in right.items():
        for place, item in enumerate(bank):
            rows.append(answer(item, name, (item.key + 1) % 4 if place in wrong else item.key))
    return collect(bank, rows, [endpoint(name, role) for name in right])


def one(rows: list[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    (row,) = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return row


def test_the_paper_s_total_is_reproduced_from_responses() -> None:
    answers = scored({"full": {0}, "bare": set(range(1, 17))})
    sizing = Sizing(contrasts=(Contrast(name="7.5 points", better=0.1, worse=0.025),))
    rows, _ = comparison_rows(answers, SETTINGS, sizing)
    row = one(rows, axis="overall")
    assert (row["first_only"], row["second_only"], row["both_right"], row["both_wrong"]) == (16, 1, 151, 0)
    assert row["p_exact"] == pytest.approx(0.000274658203125)
    assert row["observed_effect_power"] == pytest.approx(0.97773, abs=1e-5)
    assert row["power_planned"] == pytest.approx(power_at(168, Design(0.1, 0.025)))
    assert (row["planned"], row["items_needed"], row["items_for"]) == ("7.5 points", 185, "planned effect")
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((0.048, 0.144), abs=5e-4)
    assert row["verdict"] == "resolved"
    assert row["clusters"] == 8


def test_the_paper_s_interaction_is_reproduced_by_tier() -> None:
    answers = scored({"full": {167}, "bare": {*range(9), *range(64, 71)}})
    tiers = {item.item_id: "A" if place < 64 else "B" for place, item in enumerate(BANK)}
    rows, tests = comparison_rows(answers, SETTINGS, tiers=tiers)
    found = one(tests, axis="tier")
    assert found["p"] == pytest.approx(0.1036, abs=1e-4)
    assert found["p_permutation"] == pytest.approx(0.118, abs=0.03)
    assert found["levels"] == "A, B"
    a, b = one(rows, axis="tier", level="A"), one(rows, axis="tier", level="B")
    assert (a["first_only"], a["second_only"], a["n"]) == (9, 0, 64)
    assert (b["first_only"], b["second_only"], b["n"]) == (7, 1, 104)
    assert a["p_exact"] == mcnemar_p(9, 0)


def test_levels_agree_with_the_naive_way() -> None:
    given = make_answers(BANK, dict(list(PANEL.items())[:3]), missing=0.05)
    answers = collect(BANK, given, [endpoint(name) for name in list(PANEL)[:3]])
    rows, tests = comparison_rows(answers, SETTINGS)
    for (i, first), (j, second) in [((0, "model-0"), (2, "model-2")), ((1, "model-1"), (2, "model-2"))]:
        frame, test = compare_strata(answers.scores[:, i], answers.scores[:, j], answers.labels("stratum"))
        for naive in frame.to_dict("records"):
            row = one(rows, axis="stratum", level=naive["stratum"], first=first, second=second)
            for name in ("n", "first_only", "second_only"):
                assert row[name] == naive[name]
            for name in ("gain", "gain_low", "gain_high", "p_exact"):
                assert row[name] == pytest.approx(naive[name], abs=1e-9)
        assert test is not None
        assert one(tests, axis="stratum", first=first, second=second)["p"] == pytest.approx(test.p)


def test_nothing_is_ever_called_no_difference() -> None:
    answers = scored({"a": {1, 2, 3}, "b": {4, 5}})
    rows, _ = comparison_rows(answers, SETTINGS)
    assert {row["verdict"] for row in rows} <= {"unresolved", "underpowered"}
    assert "no outcome would have been significant" in one(rows, axis="overall")["note"]
    alike = scored({"a": set(), "b": set()})
    rows, tests = comparison_rows(alike, SETTINGS)
    assert one(rows, axis="overall")["p_exact"] == 1.0
    assert all(row["p"] is None and row["note"] for row in tests)


def test_families_leave_the_writer_s_model_out_and_baselines_apart() -> None:
    ends = [endpoint("a"), endpoint("b"), endpoint("w", "construction_overlap"), endpoint("r", "baseline")]
    answers = collect(BANK, make_answers(BANK, {"a": 0.9, "b": 0.8, "w": 0.9, "r": 0.25}), ends)
    assert families(answers) == {
        "primary endpoints": [("a", "b")], "primary against baselines": [("a", "r"), ("b", "r")],
    }  # fmt: skip
    rows, tests = comparison_rows(answers, SETTINGS)
    assert tables.as_table("pair_comparisons", rows).num_rows == len(rows)
    assert tables.as_table("pair_interactions", tests).num_rows == 6


def test_a_contrast_finds_its_pair_in_either_direction() -> None:
    own = Contrast(name="own", better=0.2, worse=0.1, endpoints=("b", "a"))
    sizing = Sizing(contrasts=(Contrast(name="any", better=0.1, worse=0.025), own))
    found = planned_pairs(sizing, [("a", "b"), ("a", "c")])
    assert found["a", "c"][0] == "any"
    assert (found["a", "b"][0], found["a", "b"][1].p_b, found["a", "b"][1].p_c) == ("own", 0.1, 0.2)
    assert planned_pairs(None, [("a", "b")]) == {}


def test_increments_name_the_items_each_step_fixed_and_broke() -> None:
    answers = scored({"backbone": {1, 2, 3, 4}, "orchestration": {2, 3, 4}, "verifier": {4, 9}})
    rows = increment_rows(answers, ["backbone", "orchestration", "verifier"], SETTINGS)
    tables.as_table("increments", rows)
    step = rows[1]
    assert (step["before"], step["after"], step["fixed"], step["broken"]) == ("orchestration", "verifier", 2, 1)
    assert step["fixed_items"] == sorted(BANK[place].item_id for place in (2, 3))
    assert step["broken_items"] == [BANK[9].item_id]
    assert rows[0]["gain"] + rows[1]["gain"] == pytest.approx(rows[2]["gain"])
    partial = increment_rows(answers, ["backbone", "absent", "verifier"], SETTINGS)
    assert "absent" in partial[0]["note"]
    assert increment_rows(answers, [], SETTINGS) == []


def test_permutation_of_strata_has_the_right_size() -> None:
    rng = np.random.default_rng(3)
    rejected = 0
    for seed in range(200):
        one_, two_ = rng.multinomial(60, [0.1, 0.1, 0.8]), rng.multinomial(90, [0.1, 0.1, 0.8])
        found = interaction_test([(one_[0], one_[1], 60), (two_[0], two_[1], 90)], permutations=199, seed=seed)
        rejected += found.p_permutation <= 0.05  # type: ignore[operator]
    assert 2 <= rejected <= 20
