"""Arms: configurations of one system, each starting from the stored reply of the one before and adding a step to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from examgen.records import NO_STEM_MODES, EndpointRow, Response

if TYPE_CHECKING:
    from examgen.result_rows import Row
    from examgen.study import Endpoint, Study

UNSTARTED = "unstarted"
"""Rule of a row whose arm had no reply to start from; the error names the endpoint and what became of it there."""
_OWN = ("id", "kind", "after", "asks", "step", "samples", "role")


def problem(endpoints: Sequence[Endpoint], panel: Sequence[str]) -> str:
    """What is wrong with the arms among a study's endpoints, with the key; empty when nothing is. `panel` are the
    endpoints to evaluate by name; empty = all."""
    known = {endpoint.id: endpoint for endpoint in endpoints}
    for endpoint in endpoints:
        here = f"endpoints.{endpoint.id}"
        if endpoint.kind != "arm":
            if endpoint.after or endpoint.asks:
                return f"{here}.{'after' if endpoint.after else 'asks'}: goes with kind arm"
            continue
        if endpoint.after not in known:
            return f"{here}.after: an arm starts from the reply of another endpoint: name it (found {endpoint.after!r})"
        if len(_line(endpoint, known)) < 2:
            return f"{here}.after: the arms start from each other in a circle"
        host = known.get(endpoint.asks) if endpoint.asks else _line(endpoint, known)[0]
        if host is None or host.kind not in ("openai", "local"):
            return f"{here}.asks: name the endpoint whose model makes the step: of kind openai or local"
        if endpoint.step == "vote" and settled(endpoint, known).temperature == 0:
            return f"{here}.temperature: every vote is the same at 0: set it above 0, or empty for the model's own"
        if panel and endpoint.id in panel and endpoint.after not in panel:
            return f"panel.endpoints: {endpoint.id} starts from {endpoint.after}: name that too"
    return ""


def _line(endpoint: Endpoint, known: Mapping[str, Endpoint]) -> list[Endpoint]:
    """The endpoint that a chain begins with, the arms that follow, and `endpoint`; empty for a circle."""
    line = [endpoint]
    while line[0].after and line[0].after in known:
        if known[line[0].after] in line:
            return []
        line.insert(0, known[line[0].after])
    return line


def settled(endpoint: Endpoint, known: Mapping[str, Endpoint]) -> Endpoint:
    """An arm with everything it takes over from the endpoint it asks: address, model, key, decoding, prices, pace.

    What the arm says itself holds. Its `kind` becomes that of the endpoint asked and `asks` its id; it is still known
    as an arm by `after`. Any other endpoint comes back as it is.
    """
    if endpoint.kind != "arm":
        return endpoint
    host = known[endpoint.asks or _line(endpoint, known)[0].id]
    own = {name: getattr(endpoint, name) for name in endpoint.model_fields_set if name not in _OWN}
    if "mode" not in own and host.mode == "option_likelihood":
        own["mode"] = "letter"
    named = {name: getattr(endpoint, name) for name in _OWN if name not in ("kind", "asks")}
    return host.model_copy(update={**own, **named, "asks": host.id})


def depth(endpoint: Endpoint, known: Mapping[str, Endpoint]) -> int:
    """How many endpoints must have answered before this one can: 0 for any but an arm."""
    return len(_line(endpoint, known)) - 1


def chains(study: Study) -> list[tuple[str, ...]]:
    """The nested configurations of each system of the study, first to last: those its arms make, and `panel.nested`."""
    known = {endpoint.id: endpoint for endpoint in study.endpoints}
    asked = set(study.panel.endpoints) or set(known)
    arms = [endpoint for endpoint in study.endpoints if endpoint.kind == "arm" and endpoint.id in asked]
    followed = {arm.after for arm in arms}
    found = [tuple(one.id for one in _line(arm, known)) for arm in arms if arm.id not in followed]
    declared = [study.panel.nested] if study.panel.nested and study.panel.nested not in found else []
    return declared + found


def starting_reply(row: Response) -> str:
    """What an arm starts from: the words of the endpoint before, or its letter where it said none; empty = nothing."""
    if row.status in ("error", "unresolved"):
        return ""
    spoken = row.raw if row.mode in ("letter", "letter_logprobs", "verifier") else ""
    return spoken or row.shown_letter or ""


def why_unstarted(row: Response | None, after: str) -> str:
    """In words, why an arm had nothing to start from."""
    if row is None:
        return f"{after} was not asked this item"
    return f"{after} gave no reply to start from: {row.status} ({row.error or row.rule})"


@dataclass(frozen=True)
class Spent:
    """Attempts, tokens and money; None where any part is unknown."""

    calls: int
    tokens: int | None
    cost: float | None

    def __add__(self, other: Spent) -> Spent:
        tokens = None if self.tokens is None or other.tokens is None else self.tokens + other.tokens
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Spent(self.calls + other.calls, tokens, cost)


def spent(responses: Sequence[Response], endpoints: Sequence[EndpointRow]) -> dict[str, Spent]:
    """What the whole configuration behind each endpoint took: an arm's own calls and those of what it starts from.

    First order and first repeat, with the question shown: what an answer to every item takes once.
    """
    own: dict[str, Spent] = {}
    for row in responses:
        if row.order or row.repeat or row.mode in NO_STEM_MODES:
            continue
        mine = _row_spent(row)
        own[row.endpoint_id] = own[row.endpoint_id] + mine if row.endpoint_id in own else mine
    after = {row.endpoint_id: row.after for row in endpoints}
    found = {}
    for name in own:
        whole, before = own[name], after.get(name, "")
        while before in own:
            whole, before = whole + own[before], after.get(before, "")
        found[name] = whole
    return found


def _row_spent(row: Response) -> Spent:
    """A row that cost no attempt cost nothing; tokens and money of another may be unknown."""
    if not row.attempts:
        return Spent(0, 0, 0.0)
    known = row.prompt_tokens is not None
    tokens = (row.prompt_tokens or 0) + (row.completion_tokens or 0) if known else None
    return Spent(row.attempts, tokens, row.cost)


def with_costs(rows: Sequence[Row], found: Mapping[str, Spent]) -> list[Row]:
    """Rows of `increments` with what the configurations before and after the step took over the whole bank."""
    return [{**row, **_columns("before", row, found), **_columns("after", row, found)} for row in rows]


def _columns(side: str, row: Row, found: Mapping[str, Spent]) -> dict[str, Any]:
    spent = found.get(str(row[side]))
    names = ("calls", "tokens", "cost")
    return {f"{name}_{side}": None if spent is None else getattr(spent, name) for name in names}
