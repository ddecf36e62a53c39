"""What the sections on the panel show, as plain values for the template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examgen.accuracy import one_letter_note
from examgen.profiles import SMALLEST_CELL
from examgen.records import STRATA, EndpointRow
from examgen.report.figure import ROLE_NAMES, ordered
from examgen.report.numbers import (
    NOT_ESTIMABLE,
    Row,
    decimal,
    every,
    find,
    interval,
    limits_of,
    p_value,
    percent,
    points,
    value_of,
    whole,
)

Results = Mapping[str, Sequence[Row]]
MOST_LEVELS = 12
"""A profile with more cells than this is left to its table."""


def endpoint_table(results: Results, endpoints: Sequence[EndpointRow]) -> list[dict[str, Any]]:
    """Accuracy of each endpoint: overall, by stratum, macro mean over strata, bootstrap and rank."""
    rows = []
    for endpoint in ordered(endpoints, results["accuracy"]):
        mine = every(results["accuracy"], endpoint_id=endpoint.endpoint_id)
        overall = every(mine, axis="overall")
        strata = [find(mine, axis="stratum", level=stratum, statistic="accuracy") for stratum in STRATA]
        values = [row["value"] for row in strata if row and row["value"] is not None]
        complete = len(values) == sum(row is not None for row in strata) and values
        rank = find(overall, statistic="rank")
        notes = (endpoint.note, one_letter_note(overall))
        rows.append(
            {
                "endpoint": endpoint.endpoint_id, "role": endpoint.role, "role_name": ROLE_NAMES[endpoint.role],
                "model": endpoint.model, "provider": endpoint.provider, "runtime": endpoint.runtime,
                "reported": endpoint.reported, "decoding": endpoint.decoding,
                "group": endpoint.group, "note": "; ".join(filter(None, notes)),
                "accuracy": percent(value_of(overall, statistic="accuracy")),
                "limits": limits_of(find(overall, statistic="accuracy")),
                "bootstrap": limits_of(find(overall, statistic="accuracy, batches resampled")),
                "wilson": limits_of(find(overall, statistic="accuracy, these items")),
                "average": percent(sum(values) / len(values)) if complete else NOT_ESTIMABLE,
                "strata": [percent(row["value"]) if row else "–" for row in strata],
                "rank": _rank(rank), "excluded": interval(find(overall, statistic="accuracy")),
                "as_wrong": interval(find(overall, statistic="accuracy, unresolved as wrong")),
                "bounds": limits_of(find(overall, statistic="accuracy, bounds")),
                "unresolved": _counted(find(overall, statistic="unresolved")),
                "not_asked": _counted(find(overall, statistic="not asked")),
            }
        )
    return rows


def _rank(row: Row | None) -> str:
    if row is None or row["value"] is None:
        return NOT_ESTIMABLE
    limits = f" ({row['low']:.0f}–{row['high']:.0f})" if row["low"] is not None else ""
    return f"{row['value']:.0f}{limits}"


def _counted(row: Row | None) -> str:
    return NOT_ESTIMABLE if row is None or row["value"] is None else f"{row['value'] * row['n']:.0f} of {row['n']}"


def contrast_table(results: Results) -> list[dict[str, Any]]:
    """Pairs of endpoints: difference, intervals, P values and the verdict; families in turn."""
    gains = every(results["contrasts"], statistic="difference of accuracy, first minus second")
    by_pair: dict[tuple[str, str, str], dict[str, Row]] = defaultdict(dict)
    for row in results["contrasts"]:
        by_pair[row["endpoint_a"], row["endpoint_b"], row["scope"]][row["statistic"]] = row
    table = []
    for gain in gains:
        mine = by_pair[gain["endpoint_a"], gain["endpoint_b"], gain["scope"]]
        clustered = mine.get("difference, topics resampled")
        low, high = (clustered[name] if clustered else None for name in ("low", "high"))
        table.append(
            {
                "first": gain["endpoint_a"], "second": gain["endpoint_b"], "scope": gain["scope"], "n": gain["n"],
                "gain": points(gain["value"]), "limits": _points(gain["low"], gain["high"]),
                "clustered": _points(low, high), "verdict": gain["note"],
                "split": f"{whole(mine['items only the first is right on']['value'])} / "
                f"{whole(mine['items only the second is right on']['value'])}",
                "p": p_value(mine["exact McNemar P"]["value"]), "holm": p_value(mine["exact McNemar P, Holm"]["value"]),
                "least": points(mine["minimum detectable difference"]["value"]),
            }
        )
    return table


def _points(low: float | None, high: float | None) -> str:
    return NOT_ESTIMABLE if low is None or high is None else f"{points(low)} to {points(high)}"


MOST_NAMED = 5


def interaction_sentences(results: Results) -> list[str]:
    """For each axis: of how many pairs the difference was tested for being the same at all levels, and which is not."""
    sentences = []
    rows = [row for row in results.get("pair_interactions", ()) if row["p_holm"] is not None]
    for axis in dict.fromkeys(row["axis"] for row in rows):
        mine = every(rows, axis=axis)
        differ = sorted((row for row in mine if row["p_holm"] < 0.05), key=lambda row: row["p_holm"])
        named = ", ".join(f"{row['first']} − {row['second']}" for row in differ[:MOST_NAMED])
        more = f" and {len(differ) - MOST_NAMED} more" if len(differ) > MOST_NAMED else ""
        found = f"it is not for {len(differ)}: {named}{more}" if differ else "none was found to differ"
        sentences.append(
            f"Is a difference the same in every {axis}? Of {len(mine)} pairs tested (Holm over a family), {found}."
        )
    return sentences


def group_table(results: Results) -> list[dict[str, str]]:
    """Range of the primary endpoints' accuracies by group (API, local, …); empty without one that can be told."""
    rows = every(results["accuracy"], axis="endpoint group", statistic="accuracy range")
    return [
        {
            "group": row["level"], "n": whole(row["n"]), "mean": percent(row["value"]), "low": percent(row["low"]),
            "high": percent(row["high"]),
        }
        for row in rows
        if row["value"] is not None
    ]


@dataclass(frozen=True)
class StatisticTable:
    """Rows with a value, and the statistics without one by the reason for it."""

    rows: list[dict[str, str]]
    missing: list[tuple[str, list[str]]]


def statistic_table(rows: Sequence[Row], label: str) -> StatisticTable:
    """A results table as it is: label, statistic, value, limits, n, method and the note."""
    missing: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["value"] is None and row["statistic"] not in missing[row["note"]]:
            missing[row["note"]].append(row["statistic"])
    shown = [
        {
            "label": _label(row, label), "statistic": row["statistic"], "value": _shown(row, row["value"]),
            "limits": "" if row["low"] is None else f"{_shown(row, row['low'])} to {_shown(row, row['high'])}",
            "n": whole(row["n"]), "method": row["method"], "note": row["note"],
        }
        for row in rows
        if row["value"] is not None
    ]
    return StatisticTable(shown, [(reason, names) for reason, names in missing.items() if names])


def _label(row: Row, label: str) -> str:
    scope = str(row.get("scope", ""))
    return str(row[label]) if label == "scope" or scope in ("", "planned") else f"{row[label]}, {scope}"


def _shown(row: Row, value: float) -> str:
    """In the unit of the statistic: a count, percentage points, percent or a plain number."""
    name = str(row["statistic"])
    counts = ("items", "items needed", "items flagged", "items missed by the majority")
    if name in counts or name.startswith(("items needed,", "power proved")):
        return whole(value)
    if name == "minimum detectable difference" or "error" in name:
        return points(value)
    if name.startswith(("accepted", "power", "probability", "items with", "expected", "functioning")):
        return f"{percent(value)}%"
    return decimal(value, 2)


def axis_tables(results: Results, endpoints: Sequence[EndpointRow]) -> list[dict[str, Any]]:
    """Accuracy by question type, tier, difficulty bin and further axes: a table an axis, a line an endpoint."""
    rows = [
        row
        for row in results["accuracy"]
        if row["statistic"] == "accuracy" and row["axis"] not in ("overall", "stratum") and row["value"] is not None
    ]
    names = [endpoint.endpoint_id for endpoint in ordered(endpoints, results["accuracy"])]
    found = [_crossed(every(rows, axis=axis), "level", names, axis) for axis in dict.fromkeys(r["axis"] for r in rows)]
    for axes in dict.fromkeys(row["axes"] for row in results["profiles"]):
        table = _crossed(every(results["profiles"], axes=axes), "cell", names, axes)
        if len(table["levels"]) <= MOST_LEVELS:
            found.append(table)
    return found


def _crossed(rows: Sequence[Row], column: str, names: Sequence[str], title: str) -> dict[str, Any]:
    cells = {(row[column], row["endpoint_id"]): row for row in rows}
    levels = sorted({level for level, _ in cells}, key=_natural)
    return {
        "title": title.replace("_", " "), "levels": [(level, _largest(cells, level, names)) for level in levels],
        "lines": [(name, [_cell(cells.get((level, name))) for level in levels]) for name in names],
    }


def _largest(cells: Mapping[tuple[str, str], Row], level: str, names: Sequence[str]) -> int:
    return max((cells[level, name]["n"] for name in names if (level, name) in cells), default=0)


def _natural(level: str) -> tuple[int, str]:
    """Bins of numbers in their order, words after them."""
    first = level.split()[0] if level.split() else ""
    return (int(first), level) if first.isdigit() else (10**9, level)


def _cell(row: Row | None) -> str:
    return "–" if row is None or row["value"] is None or row["n"] < SMALLEST_CELL else interval(row, 0)
