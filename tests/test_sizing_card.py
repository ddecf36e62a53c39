"""A table already seen, and what needs no contrast."""

from __future__ import annotations

import pytest

from examgen.errors import StudyError
from examgen.sizing_card import bare_lines, parse_counts, simulated_lines, table_lines
from examgen.sizing_plan import make_plan
from examgen.sizing_section import Contrast, Sizing


def test_counts_are_three_numbers() -> None:
    assert parse_counts("16, 1,168") == (16, 1, 168)
    for text in ("16,1", "a,b,c", "9,9,10", "0,0,0", "-1,2,5"):
        with pytest.raises(StudyError):
            parse_counts(text)


def test_one_table_and_its_observed_power_by_its_full_name() -> None:
    first, last = table_lines([(16, 1, 168)], Sizing())
    assert "P exact 0.0002747" in first
    assert "+4.8 to +14.4" in first
    assert last == "observed-effect power (a relabelled P value): 0.9777"


def test_strata_have_an_interaction_test() -> None:
    text = "\n".join(table_lines([(9, 0, 64), (7, 1, 104)], Sizing()))
    assert "z = 1.628, P = 0.1036" in text
    assert "permutation P = 0.1" in text


def test_floor_ceiling_and_gains_without_a_contrast() -> None:
    text = "\n".join(bare_lines(Sizing(ceiling_accuracy=0.97), 168))
    assert "Floor: 6 discordant items" in text
    assert "152 items make a perfect score rarer than 0.01" in text
    assert "168 items: 0.0060" in text
    assert "no number of items" in "\n".join(bare_lines(Sizing(ceiling_accuracy=1.0), None))


def test_the_simulation_stands_beside_the_sums() -> None:
    plan = make_plan(Sizing(contrasts=(Contrast(name="plan", better=0.1, worse=0.025),)))
    lines = simulated_lines(plan, 4000, 1)
    assert len(lines) == 2
    assert "exact 0.7992" in lines[0]
