"""The whole calibration on ordinary and on degenerate input: every table fits its schema and holds no NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from examgen import tables
from examgen.calibration import calibrate
from examgen.records import BankItem, EndpointRow, Response
from examgen.report.numbers import find, value_of
from examgen.result_rows import Row
from examgen.study import Contrast, Sizing, Statistics
from tests.panels import PANEL, endpoint, make_answers, make_bank, make_funnel

SETTINGS = Statistics(bootstrap_replicates=200, permutations=5)
NAMES = {
    "accuracy", "topic_accuracy", "item_difficulty", "contrasts", "cue_probe", "key_risk", "option_order",
    "leave_one_out", "reliability", "construction", "profiles", "sizing", "short_form",
    "pair_comparisons", "pair_interactions", "increments",
}  # fmt: skip


def check(results: Mapping[str, list[Row]]) -> None:
    assert set(results) == NAMES
    for name, rows in results.items():
        tables.as_table(name, rows)
        for row in rows:
            for value in row.values():
                assert not isinstance(value, float) or math.isfinite(value), (name, row)
            if "statistic" in row and row["value"] is None:
                assert row["note"], (name, row)


def run(bank: list[BankItem], responses: list[Response], endpoints: list[EndpointRow]) -> dict[str, list[Row]]:
    sizing = Sizing(contrasts=(Contrast(name="gain", better=0.1, worse=0.025),), ceiling_accuracy=0.97)
    results = calibrate(bank, responses, endpoints, SETTINGS, sizing=sizing, funnel=make_funnel())
    check(results)
    return results


BANK = make_bank()
SMALL = make_bank(1, 3)
PRIMARY = [endpoint(name, family=f"f{n}") for n, name in enumerate(PANEL)]
WHOLE = [*PRIMARY, endpoint("writer", "construction_overlap"), endpoint("chance", "baseline")]


def test_a_whole_panel() -> None:
    given = make_answers(BANK, {**PANEL, "writer": 0.9, "chance": 0.25}, missing=0.03, orders=4)
    results = run(BANK, given, WHOLE)
    assert value_of(results["sizing"], contrast="all", statistic="items needed") == 185
    pairs = {(row["endpoint_a"], row["endpoint_b"]) for row in results["contrasts"]}
    assert len(pairs) == 21 + 7
    assert not any("writer" in pair for pair in pairs)
    assert find(results["accuracy"], endpoint_id="writer", statistic="accuracy")["value"] > 0.7  # type: ignore[index]


@pytest.mark.parametrize(
    ("bank", "given", "endpoints"),
    [
        ([], [], []),
        (BANK, [], PRIMARY),
        (BANK, [], []),
        (SMALL, make_answers(SMALL, {"model-0": 0.5}), PRIMARY[:1]),
        (SMALL, make_answers(SMALL, dict.fromkeys(PANEL, 1.0)), PRIMARY),
        (BANK, make_answers(BANK, dict.fromkeys(PANEL, 0.0)), PRIMARY),
        (BANK, make_answers(BANK, dict.fromkeys(PANEL, 1.0)), PRIMARY),
        (BANK, make_answers(BANK, dict.fromkeys(PANEL, 0.5), missing=1.0), PRIMARY),
        (BANK, make_answers(BANK[:5], {"model-0": 0.5}), PRIMARY),
        (BANK, make_answers(BANK, {"chance": 0.25}), [endpoint("chance", "baseline")]),
    ],
    ids=["empty", "no answers", "no endpoints", "one endpoint and topic", "small and all right", "all wrong",
         "all right", "all missing", "mostly missing", "baseline only"],
)  # fmt: skip
def test_degenerate_input_is_defined(
    bank: list[BankItem], given: list[Response], endpoints: list[EndpointRow]
) -> None:
    run(bank, given, endpoints)


def test_the_same_input_gives_the_same_rows() -> None:
    given = make_answers(BANK, PANEL)
    assert run(BANK, given, PRIMARY) == run(BANK, given[::-1], PRIMARY)


def test_two_banks_stand_side_by_side() -> None:
    results = calibrate(BANK, [], [], SETTINGS, other_banks={"earlier bank": make_bank(seed=7)})
    assert {row["bank"] for row in results["cue_probe"]} == {"this bank", "earlier bank"}


def test_asked_without_the_stem() -> None:
    rows = [row.model_copy(update={"mode": "no_stem"}) for row in make_answers(BANK, {"model-0": 1.0})]
    results = calibrate(BANK, rows, PRIMARY[:1], SETTINGS)
    assert value_of(results["cue_probe"], features="model-0", statistic="accuracy without the stem") == 1.0
