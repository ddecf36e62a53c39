"""All figures of a report, each a drawing of a table."""

from __future__ import annotations

from collections.abc import Sequence

from examgen.records import EndpointRow, FunnelRow
from examgen.report.bank_figures import cue_figure, funnel_figure
from examgen.report.figure import Figure, Results
from examgen.report.panel_figures import accuracy_figure, difficulty_figure, heat_map, stratum_figure

__all__ = ["Figure", "all_figures"]


def all_figures(
    results: Results, endpoints: Sequence[EndpointRow], funnel: Sequence[FunnelRow] = ()
) -> dict[str, Figure]:
    """Every figure that the data allow, by name, in the order of the report."""
    found: list[Figure | None] = [funnel_figure(funnel)] if funnel else []
    if any(row["statistic"] == "accuracy" for row in results["accuracy"]):
        found += [
            accuracy_figure(results, endpoints), stratum_figure(results, endpoints), heat_map(results, endpoints),
            difficulty_figure(results),
        ]
    if results["cue_probe"]:
        found.append(cue_figure(results))
    return {figure.name: figure for figure in found if figure is not None}
