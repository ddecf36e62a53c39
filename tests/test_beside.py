"""Two banks on one panel: plain means by bank and stratum, only of endpoints that both were asked of."""

from __future__ import annotations

import numpy as np
import pytest

from examgen.beside import AXIS, DISJOINT, beside_rows
from examgen.records import STRATA
from examgen.report.numbers import find
from examgen.scores import collect
from examgen.tables import as_table
from tests.panels import endpoint, make_answers, make_bank

ONE, TWO = make_bank(4, 8), make_bank(3, 8, seed=9)
PANEL = [endpoint("a"), endpoint("b")]


def test_each_bank_has_its_own_accuracies() -> None:
    first = collect(ONE, make_answers(ONE, {"a": 0.8, "b": 0.4}), PANEL)
    second = collect(TWO, make_answers(TWO, {"a": 0.6}, seed=2), [endpoint("a"), endpoint("c")])
    rows = beside_rows({"this bank": first, "earlier": second})
    as_table("accuracy", rows)
    assert {row["endpoint_id"] for row in rows} == {"a"}
    assert len(rows) == 2 * (len(STRATA) + 1)
    assert all(row["axis"] == AXIS and DISJOINT in row["note"] for row in rows)
    for name, answers in (("this bank", first), ("earlier", second)):
        mine = answers.scores[:, 0]
        hard = answers.labels("stratum") == "hard"
        for level, wanted in (("all", mine), ("hard", mine[hard])):
            row = find(rows, level=f"{name}: {level}")
            assert row is not None
            assert row["value"] == pytest.approx(np.nanmean(wanted))


def test_panels_without_a_common_endpoint_have_nothing_to_compare() -> None:
    first = collect(ONE, [], [endpoint("a")])
    assert beside_rows({"this bank": first, "earlier": collect(TWO, [], [endpoint("c")])}) == []
    assert beside_rows({}) == []
