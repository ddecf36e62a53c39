"""Construction: sources, ordering, acceptance."""

from __future__ import annotations

import pytest

from examgen.construction import acceptance_rows, construction_rows
from examgen.report.numbers import find, value_of
from examgen.scores import collect
from tests.panels import PANEL, answer, endpoint, make_answers, make_bank, make_funnel

BANK = make_bank()
ENDPOINTS = [endpoint(name) for name in PANEL]


def test_acceptance_is_a_share_of_what_entered() -> None:
    rows = acceptance_rows(make_funnel())
    assert value_of(rows, statistic="accepted at audit", stratum="easy") == pytest.approx(0.7)
    assert value_of(rows, statistic="accepted at screen", stratum="all") == 1.0


def test_sources_per_item() -> None:
    rows = construction_rows(collect(BANK, make_answers(BANK, PANEL), ENDPOINTS))
    assert value_of(rows, statistic="sources per item", stratum="all") == 1.0
    constant = find(rows, statistic="sources against accuracy of the primary endpoints")
    assert constant is not None
    assert constant["value"] is None
    assert constant["note"]


def test_the_expected_ordering_is_counted() -> None:
    share = {"easy": 1, "medium": 2, "hard": 3}
    given = []
    for n, item in enumerate(BANK):
        right = item.stratum not in share or (n // 4) % share[item.stratum] == 0
        given.append(answer(item, "model-0", item.key if right else (item.key + 1) % 4))
    rows = construction_rows(collect(BANK, given, ENDPOINTS[:1]))
    assert value_of(rows, statistic="expected ordering holds") == 1.0


def test_no_endpoint_no_ordering() -> None:
    row = find(construction_rows(collect(BANK, [], [])), statistic="expected ordering holds")
    assert row is not None
    assert row["note"] == "no primary endpoint"
