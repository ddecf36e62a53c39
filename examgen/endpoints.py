"""Endpoints of a study: the role each plays and the row that describes it; what is unknown says so."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from examgen import arms
from examgen.ids import canonical_json
from examgen.records import NOT_RECORDED, EndpointRow
from examgen.study import Endpoint, Study

Role = Literal["primary", "construction_overlap", "baseline", "arm"]


def same_model(one: Endpoint, other: Endpoint) -> bool:
    """Whether two endpoints serve one model, whatever the address and the vendor prefix ("openai/gpt-x" and
    "gpt-x")."""
    return one.id == other.id or (
        bool(one.model) and one.model.lower().rsplit("/", 1)[-1] == other.model.lower().rsplit("/", 1)[-1]
    )


def construction_models(study: Study, writers: Collection[str] = ()) -> list[Endpoint]:
    """Endpoints that wrote items: the study's writer, and those named in generator labels ("endpoint:model") of a
    bank."""
    named = {label.split(":", 1)[0] for label in writers}
    if study.writing.method == "llm":
        named.add(study.writing.endpoint)
    return [endpoint for endpoint in study.endpoints if endpoint.id in named]


def role_of(endpoint: Endpoint, study: Study, writers: Collection[str] = ()) -> Role:
    """The role as given, else: a baseline is baseline, the generator's model is construction_overlap, a nested
    configuration is arm (it repeats the first call of another endpoint), others primary."""
    if endpoint.role is not None:
        return endpoint.role
    if endpoint.kind == "baseline":
        return "baseline"
    if any(same_model(endpoint, writer) for writer in construction_models(study, writers)):
        return "construction_overlap"
    models = {label.split(":", 1)[1].lower() for label in writers if ":" in label}
    if endpoint.model and endpoint.model.lower() in models:
        return "construction_overlap"
    return "arm" if endpoint.after else "primary"


def panel_endpoints(study: Study) -> list[Endpoint]:
    """The endpoints to evaluate: those named, else all. Arms come after what they start from, with all they take over
    from the endpoint they ask."""
    known = {endpoint.id: endpoint for endpoint in study.endpoints}
    named = [study.endpoint(name) for name in study.panel.endpoints] if study.panel.endpoints else list(study.endpoints)
    return [arms.settled(one, known) for one in sorted(named, key=lambda one: arms.depth(one, known))]


UNHEARD = frozenset({
    "attempts", "concurrency", "family", "group", "key_block", "key_env", "price_in", "price_out", "provider",
    "requests_per_minute", "role", "slots", "timeout", "tokens_per_minute",
})  # fmt: skip
"""Settings of an endpoint that a model never hears of: pace, patience, prices, keys and what we call it."""


def answering(endpoint: Endpoint) -> dict[str, Any]:
    """The part of an endpoint that its replies depend on; a setting not known to be unheard counts."""
    return endpoint.model_dump(mode="json", exclude=set(UNHEARD))


def manifest_row(
    endpoint: Endpoint,
    role: Role,
    *,
    runtime: str = "",
    capabilities: str = "",
    base_url: str = "",
    complete: bool = True,
    note: str = "",
) -> EndpointRow:
    """The row of the table `endpoints`. `base_url` is the address without user or query; keys never enter."""
    decoding = {
        "temperature": "unsupported" if "temperature: unsupported" in capabilities else endpoint.temperature,
        "max_tokens": endpoint.max_tokens,
        "reasoning_tokens": endpoint.reasoning_tokens,
        "extra_body": endpoint.extra_body,
        "mode": endpoint.mode,
        "slots": endpoint.slots,
    }
    if endpoint.after:
        decoding |= {"step": endpoint.step, **({"samples": endpoint.samples} if endpoint.step == "vote" else {})}
    baseline = endpoint.kind == "baseline"
    return EndpointRow(
        endpoint_id=endpoint.id,
        provider=endpoint.provider or ("this project" if baseline else NOT_RECORDED),
        model=endpoint.model or NOT_RECORDED,
        runtime=runtime or ("in process" if baseline else NOT_RECORDED),
        base_url=base_url or NOT_RECORDED,
        decoding="deterministic" if baseline else canonical_json(decoding),
        role=role,
        group=endpoint.group or NOT_RECORDED,
        family=endpoint.family or NOT_RECORDED,
        capabilities=capabilities or NOT_RECORDED,
        complete=complete,
        note=note,
        after=endpoint.after,
        step=endpoint.step if endpoint.after else "",
    )
