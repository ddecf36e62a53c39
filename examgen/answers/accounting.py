"""What an endpoint did and cost over its responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from examgen.records import Response


@dataclass(frozen=True)
class Account:
    """Counts by status, attempts, tokens, money (None when unknown for any call) and latency percentiles in seconds."""

    rows: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    correct: int = 0
    attempts: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency: Mapping[str, float] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every row was settled by the endpoint itself."""
        return not self.statuses.get("unresolved")

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of ascending values."""
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered) + 0.5) - 1))]


def account(rows: Iterable[Response]) -> Account:
    """Sum up responses of one endpoint."""
    statuses: dict[str, int] = {}
    right = attempts = count = 0
    inward: list[int] = []
    outward: list[int] = []
    costs: list[float] = []
    latencies: list[float] = []
    for row in rows:
        count += 1
        statuses[row.status] = statuses.get(row.status, 0) + 1
        right += row.correct is True
        attempts += row.attempts
        for value, found in (
            (row.prompt_tokens, inward),
            (row.completion_tokens, outward),
            (row.cost, costs),
            (row.latency_seconds, latencies),
        ):
            if value is not None:
                found.append(value)  # type: ignore[arg-type]
    latencies.sort()
    return Account(
        rows=count,
        statuses=dict(sorted(statuses.items())),
        correct=right,
        attempts=attempts,
        prompt_tokens=sum(inward) if inward else None,
        completion_tokens=sum(outward) if outward else None,
        cost=sum(costs) if costs else None,
        latency={f"p{round(100 * share)}": percentile(latencies, share) for share in (0.5, 0.9, 0.99)}
        if latencies
        else {},
    )
