"""What a plan says: warnings, lines, the page."""

from __future__ import annotations

import re

from examgen.sizing_plan import curve_rows, make_plan
from examgen.sizing_report import build_warning, columns, render, text_lines
from examgen.sizing_section import Contrast, Sizing

PLAN = Contrast(name="a gain of 7.5 points", better=0.1, worse=0.025)


def test_the_warning_says_what_cannot_be_resolved_and_how_many_items_would() -> None:
    sizing = Sizing(contrasts=(PLAN,))
    assert build_warning(sizing, 185) == []
    (line,) = build_warning(sizing, 100)
    assert "100 items cannot resolve 'a gain of 7.5 points' (+7.5 points): power 0.4" in line
    assert line.endswith("185 items would do")
    assert build_warning(Sizing(), 3) == []
    assert len(build_warning(sizing, 0)) == 1


def test_the_warning_names_the_ceiling() -> None:
    lines = build_warning(Sizing(ceiling_accuracy=0.99, contrasts=(PLAN,)), 300)
    assert len(lines) == 1
    assert "near the ceiling" in lines[0]


def test_no_number_of_items_will_do() -> None:
    lines = build_warning(Sizing(contrasts=(Contrast(name="none", counts=(3, 3, 60)),)), 100)
    assert "no number of items is known to do" in lines[0]


def test_lines_hold_needs_certificate_and_reach() -> None:
    text = "\n".join(text_lines(make_plan(Sizing(contrasts=(PLAN,)), 168)))
    assert "power(184) = 0.7992, power(185) = 0.8016" in text
    assert "too few below 173, enough from 195" in text
    assert "The bank that serves all: 185 items" in text
    assert "0.7576" in text


def test_columns_stand_under_their_headings() -> None:
    assert columns(["name", "n", "note"], [["a", "10", "x"], ["long name", "5", "y"]]) == [
        "name        n  note", "a          10  x", "long name   5  y",
    ]  # fmt: skip


def page(*contrasts: Contrast, items: int | None = None) -> str:
    plan = make_plan(Sizing(ceiling_accuracy=0.97, contrasts=contrasts), items)
    return render(plan, curve_rows(plan), title="A <study>")


def test_the_page_is_whole_and_needs_no_network() -> None:
    html = page(PLAN, Contrast(name="t & o", accuracies=(0.97, 0.88)), items=168)
    assert html.count("<svg") == 2
    assert "A &lt;study&gt;" in html
    assert "t &amp; o" in html
    assert "do not resolve" in html
    assert not re.search(r'(?:src|href)="(?!#)', html)
    assert "nan" not in html.lower().replace("nance", "")
    assert html == page(PLAN, Contrast(name="t & o", accuracies=(0.97, 0.88)), items=168)


def test_a_page_of_what_cannot_be_sized_still_says_so() -> None:
    assert "cannot be sized" in page(Contrast(name="flat", counts=(3, 3, 60)))
