"""What the sections on cues, keys, orders and single endpoints show, as plain values for the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from examgen.key_risk import MAJORITY, STRICT
from examgen.report.numbers import Row, decimal, every, find, limits_of, p_value, percent, points, value_of, whole

Results = Mapping[str, Sequence[Row]]
MOST_ROWS = 30


def cue_table(results: Results) -> list[dict[str, str]]:
    """The cue probe of each bank and set of features."""
    table = []
    for row in every(results["cue_probe"], statistic="selector accuracy"):
        mine = every(results["cue_probe"], bank=row["bank"], features=row["features"])
        null = find(mine, statistic="accuracy with keys at random")
        table.append(
            {
                "bank": row["bank"], "features": row["features"], "accuracy": percent(row["value"]),
                "limits": limits_of(row), "null": percent(null["value"] if null else None),
                "null_limits": limits_of(null), "p": p_value(value_of(mine, statistic="permutation P")),
                "chance": percent(value_of(mine, statistic="chance")),
                "note": row["note"] if row["value"] is None else "",
            }
        )
    return table


def longest_table(results: Results) -> list[tuple[str, str, str]]:
    """Bank, unit and the share of items whose key is the one longest option."""
    rows = every(results["cue_probe"], statistic="key uniquely longest")
    return [(row["bank"], row["features"].removeprefix("length in "), percent(row["value"])) for row in rows]


def risk_lists(results: Results) -> list[dict[str, Any]]:
    """The two review lists: their size, their first rows, or the reason why there is none."""
    lists = []
    for queue in (MAJORITY, STRICT):
        rows = every(results["key_risk"], queue=queue)
        change = every(results["accuracy"], axis="without queue", level=queue)
        why = next((row["note"] for row in change if row["value"] is None and not rows), "")
        moved = [row for row in change if row["value"] is not None]
        lists.append(
            {
                "queue": queue, "count": len(rows), "rows": rows[:MOST_ROWS], "why": why,
                "moved": f"{points(min(r['value'] for r in moved))} to {points(max(r['value'] for r in moved))}"
                if moved else "",
            }
        )
    return lists


def order_table(results: Results) -> list[dict[str, str]]:
    """Option order, a line an endpoint; empty when only one order was asked."""
    table = []
    for name in dict.fromkeys(row["endpoint_id"] for row in results["option_order"]):
        mine = every(results["option_order"], endpoint_id=name)
        values = {row["statistic"]: row["value"] for row in mine}
        if name == "all" or values.get("strict stability") is None:
            continue
        table.append(
            {
                "endpoint": name, "n": whole(find(mine, statistic="strict stability")["n"]),  # type: ignore[index]
                "strict": percent(values["strict stability"]), "pairwise": percent(values["pairwise stability"]),
                "mean": percent(values["mean score change"]), "largest": percent(values["largest score change"]),
                "position": p_value(values["position test P, Holm"]), "q": p_value(values["Cochran's Q P, Holm"]),
                "spread": percent(values["spread of recall by key place"]),
            }
        )
    return table


def order_summary(results: Results) -> str:
    """One sentence on the panel over the orders; empty when only one order was asked."""
    mine = every(results["option_order"], endpoint_id="all")
    mean, largest = (value_of(mine, statistic=f"{name} score change") for name in ("mean", "largest"))
    if mean is None or largest is None:
        return ""
    rank = value_of(mine, statistic="lowest rank correlation between orders")
    told = "" if rank is None else f"; endpoints' ranks in two orders correlate at {decimal(rank)} or more"
    return f"Over the panel a score changes by {percent(mean)} points on average and {percent(largest)} at most{told}."


def leave_one_out_table(results: Results) -> list[dict[str, str]]:
    """Leave one endpoint out, a line an endpoint; empty when not estimable."""
    table = []
    for name in dict.fromkeys(row["endpoint_id"] for row in results["leave_one_out"]):
        values = {row["statistic"]: row["value"] for row in every(results["leave_one_out"], endpoint_id=name)}
        if any(value is not None for value in values.values()):
            table.append({"endpoint": name} | {key: decimal(value) for key, value in values.items()})
    return table
