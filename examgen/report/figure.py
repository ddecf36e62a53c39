"""What every figure has: its drawing, its caption, the table of its data; and how endpoints are told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examgen.records import EndpointRow
from examgen.report.numbers import Row, find
from examgen.report.svg import AMBER, BLUE, GREY, VERMILLION, Drawing

Rows = Sequence[Row]
Results = Mapping[str, Rows]
MOST_LINES = 14
"""More endpoints than this and only the primary ones are drawn as lines: the table has all."""
MARKS = {
    "primary": (BLUE, "circle"), "arm": (BLUE, "ring"), "construction_overlap": (AMBER, "diamond"),
    "baseline": (GREY, "ring"),
}  # fmt: skip
ROLE_NAMES = {
    "primary": "primary endpoint",
    "arm": "nested configuration",
    "construction_overlap": "writer's own model",
    "baseline": "baseline, no language model",
}


@dataclass(frozen=True)
class Figure:
    """A drawing with its caption, the table that holds its data and the rows of it that are drawn."""

    name: str
    caption: str
    data: str
    svg: str
    rows: Sequence[Any] = ()


def ordered(endpoints: Sequence[EndpointRow], accuracy: Rows) -> list[EndpointRow]:
    """Endpoints by role (primary first), then from the highest accuracy down."""
    roles = list(MARKS)

    def place(row: EndpointRow) -> tuple[int, float, str]:
        found = find(accuracy, endpoint_id=row.endpoint_id, axis="overall", statistic="accuracy")
        value = found["value"] if found and found["value"] is not None else -1.0
        return roles.index(row.role), -value, row.endpoint_id

    return sorted(endpoints, key=place)


def chance_line(drawing: Drawing, results: Results, left: float, right: float, top: float, bottom: float) -> None:
    chance = next((row["value"] for row in results["cue_probe"] if row["statistic"] == "chance"), None)
    if chance is not None:
        x = left + chance * (right - left)
        drawing.line(x, top - 6, x, bottom, colour=VERMILLION, width=1.4, dashes="5 4")
        drawing.text(x, top - 11, "chance", size=12, anchor="middle", colour=VERMILLION)
