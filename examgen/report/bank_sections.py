"""What the sections on the bank show, as plain values for the template."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from examgen.records import STRATA, BankItem, Coverage, Finding, FunnelRow, Topic
from examgen.report.numbers import NOT_ESTIMABLE, percent


def topic_table(bank: Sequence[BankItem], topics: Sequence[Topic]) -> list[dict[str, Any]]:
    """Topics with their subtopics and the items of each stratum."""
    counts: Counter[tuple[str, str]] = Counter((item.topic, item.stratum) for item in bank)
    by_subtopic = Counter(item.topic_id for item in bank)
    grouped: dict[str, list[Topic]] = defaultdict(list)
    for topic in topics:
        grouped[topic.topic].append(topic)
    for name in sorted({item.topic for item in bank} - set(grouped)):
        grouped[name] = []
    return [
        {
            "topic": name,
            "subtopics": [(t.subtopic, by_subtopic[t.topic_id], t.description) for t in members],
            "strata": [counts[name, stratum] for stratum in STRATA],
            "items": sum(counts[name, stratum] for stratum in STRATA),
        }
        for name, members in sorted(grouped.items())
    ]


def funnel_table(funnel: Sequence[FunnelRow]) -> list[dict[str, Any]]:
    """Per stage: entered, accepted, superseded, rejected, unresolved, and the reasons with their counts."""
    table = []
    for stage in dict.fromkeys(row.stage for row in funnel):
        rows = [row for row in funnel if row.stage == stage]
        totals: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for row in rows:
            totals[row.outcome] += row.count
            if row.outcome not in ("entered", "accepted") and row.reason:
                reasons[row.reason] += row.count
        table.append(
            {
                "stage": stage, "entered": totals["entered"], "accepted": totals["accepted"],
                "superseded": totals["superseded"], "rejected": totals["rejected"],
                "unresolved": totals["unresolved"],
                "share": percent(totals["accepted"] / totals["entered"]) if totals["entered"] else NOT_ESTIMABLE,
                "reasons": sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])),
            }
        )
    return table


def finding_table(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """How often each check rejected or flagged an item, and an example of what it saw."""
    counts = Counter((finding.check_id, finding.severity) for finding in findings)
    first = {finding.check_id: finding for finding in reversed(findings)}
    return [
        {
            "check": check, "rejected": counts[check, "reject"], "flagged": counts[check, "flag"],
            "expectation": first[check].expectation, "limit": first[check].limit, "observed": first[check].observed,
        }
        for check in sorted(first, key=lambda name: (-counts[name, "reject"], -counts[name, "flag"], name))
    ]


def coverage_table(coverage: Sequence[Coverage]) -> list[Coverage]:
    """Concepts, the uncovered ones first."""
    return sorted(coverage, key=lambda row: (row.covered, row.concept))
