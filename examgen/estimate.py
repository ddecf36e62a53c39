"""What a study will ask of its endpoints: calls, tokens and money by stage, by arithmetic, before anything is spent.

Expected numbers rest on the shares and lengths named here; `calls_at_most` on the study's own bounds. A token is taken
as four characters. Reasoning tokens are counted as if all that is allowed were used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from examgen import prompts
from examgen.endpoints import panel_endpoints
from examgen.records import STRATA, Stratum
from examgen.study import Endpoint, Study

CHARACTERS_PER_TOKEN = 4.0
AUDITED = 0.75
"""Share of candidates expected to pass the audits."""
SCREENED = 0.85
"""Share of those expected to pass the screen."""
REPAIRED = 0.15
"""Repair calls expected for a draft."""
SUBTOPIC_TOKENS = 70
"""Reply tokens of one subtopic of a taxonomy."""
DRAFT_TOKENS: dict[Stratum, int] = {"easy": 300, "medium": 350, "hard": 450, "synthesis": 700}
VERDICT_TOKENS = 120
ITEM_CHARACTERS = 700
"""Stem and options of an item, when no bank is there yet."""
EXPLAINED_CHARACTERS = 700
"""What a screener sees beside stem and options: explanation and quotes."""
PASSAGES_PER_TAXONOMY_CALL = 60


@dataclass(frozen=True)
class Extent:
    """What is known of a study's size: of its passages, and of topics and items once they are there.

    `subtopics`, `items` and `item_characters` are None before a taxonomy or a bank was made.
    """

    passages: int
    characters: int
    subtopics: int | None = None
    items: int | None = None
    item_characters: float | None = None


@dataclass(frozen=True)
class Cost:
    """Calls, tokens and money of one stage at one endpoint; `cost` is None when a price is unknown."""

    stage: str
    endpoint: str
    calls: int
    calls_at_most: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    note: str = ""


def estimate(study: Study, extent: Extent) -> list[Cost]:
    """One row for each stage and endpoint that is asked; what costs no call has no row."""
    passage = _tokens(extent.characters / max(extent.passages, 1))
    shown = min(study.retrieval.passage_cap, len(study.seeds) * study.retrieval.passages_per_seed, extent.passages)
    subtopics = extent.subtopics if extent.subtopics is not None else _subtopics_at_most(study, shown)
    drafts, most = _drafts(study, subtopics)
    rows = []
    if study.taxonomy.method == "llm" and not study.taxonomy.file:
        rows.append(_taxonomy(study, shown, subtopics, passage))
    if study.writing.method == "llm":
        rows.append(_writing(study, drafts, most, passage, shown / max(subtopics, 1)))
    if study.screen.method == "llm":
        for name in filter(None, (study.screen.endpoint, study.screen.second_endpoint)):
            rows.append(_screen(study, study.endpoint(name), drafts, most, passage))
    items = extent.items if extent.items is not None else subtopics * sum(study.writing.per_subtopic.values())
    rows += _panel(study, items, extent.item_characters or ITEM_CHARACTERS)
    if study.embedding.kind == "openai":
        rows.append(_embeddings(study, extent, subtopics, sum(drafts.values())))
    return rows


def total(rows: Sequence[Cost]) -> Cost:
    """The sum of all rows; its cost is None when any is, and `note` then says what the known part comes to."""
    known = sum(row.cost for row in rows if row.cost is not None)
    unknown = [row for row in rows if row.cost is None]
    return Cost(
        stage="all",
        endpoint="",
        calls=sum(row.calls for row in rows),
        calls_at_most=sum(row.calls_at_most for row in rows),
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        completion_tokens=sum(row.completion_tokens for row in rows),
        cost=None if unknown else known,
        note=f"known part {known:.2f}" if unknown and known else "",
    )


def _tokens(characters: float) -> float:
    return characters / CHARACTERS_PER_TOKEN


def _subtopics_at_most(study: Study, shown: int) -> int:
    """Before there is a taxonomy: as many as the study allows, and no more than there are passages to rest on."""
    return max(1, min(study.taxonomy.topics_at_most * study.taxonomy.subtopics_per_topic, shown))


def _money(endpoint: Endpoint, prompt_tokens: float, completion_tokens: float) -> float | None:
    if endpoint.kind != "openai":
        return 0.0
    if endpoint.price_in is None or endpoint.price_out is None:
        return None
    return (prompt_tokens * endpoint.price_in + completion_tokens * endpoint.price_out) / 1e6


def _row(
    stage: str, endpoint: Endpoint, calls: float, at_most: float, prompt: float, completion: float, note: str = ""
) -> Cost:
    """A row from tokens of one call."""
    completion += endpoint.reasoning_tokens
    number = math.ceil(calls - 1e-9)
    inward, outward = number * prompt, number * completion
    return Cost(
        stage, endpoint.id, number, math.ceil(at_most - 1e-9), round(inward), round(outward),
        _money(endpoint, inward, outward), note,
    )  # fmt: skip


def _taxonomy(study: Study, shown: int, subtopics: int, passage: float) -> Cost:
    calls = math.ceil(shown / PASSAGES_PER_TAXONOMY_CALL)
    prompt = _tokens(len(prompts.load("taxonomy").text)) + shown / max(calls, 1) * passage
    completion = subtopics * SUBTOPIC_TOKENS / max(calls, 1)
    return _row("taxonomy", study.endpoint(study.taxonomy.endpoint), calls, calls * 3, prompt, completion)


def _drafts(study: Study, subtopics: int) -> tuple[dict[Stratum, float], dict[Stratum, int]]:
    """Drafts of a stratum expected over all rounds of topping up, and at most."""
    expected: dict[Stratum, float] = {}
    most: dict[Stratum, int] = {}
    for stratum in STRATA:
        target = study.writing.per_subtopic[stratum]
        first = math.ceil(target * study.writing.surplus)
        missing, drafted, asked = float(target), 0.0, float(first)
        for _ in range(study.writing.rounds if study.writing.method == "llm" else 1):
            drafted += asked
            missing = max(0.0, missing - asked * AUDITED * SCREENED)
            asked = missing * study.writing.surplus
        expected[stratum] = subtopics * drafted
        most[stratum] = subtopics * first * study.writing.rounds
    return expected, most


def _writing(
    study: Study, drafts: dict[Stratum, float], most: dict[Stratum, int], passage: float, own: float
) -> Cost:
    settings, retrieval = study.writing, study.retrieval
    endpoint = study.endpoint(settings.endpoint)
    prompt = completion = 0.0
    for stratum, count in drafts.items():
        frame = _tokens(len(prompts.load("item", f"item_{stratum}", "item_reply").text))
        passages = retrieval.synthesis_snippets if stratum == "synthesis" else own + retrieval.focused
        repaired = REPAIRED if settings.repairs else 0.0
        prompt += count * ((frame + passages * passage) * (1 + repaired) + repaired * DRAFT_TOKENS[stratum])
        completion += count * DRAFT_TOKENS[stratum] * (1 + repaired)
    calls = sum(drafts.values()) * (1 + (REPAIRED if settings.repairs else 0.0))
    note = f"{math.ceil(sum(drafts.values()))} drafts, {settings.rounds} rounds at most"
    at_most = sum(most.values()) * (1 + settings.repairs)
    return _row("writing", endpoint, calls, at_most, prompt / max(calls, 1), completion / max(calls, 1), note)


def _screen(
    study: Study, endpoint: Endpoint, drafts: dict[Stratum, float], most: dict[Stratum, int], passage: float
) -> Cost:
    calls = sum(drafts.values()) * AUDITED
    stored = {stratum: 2.0 if stratum == "synthesis" else 1.0 for stratum in STRATA}
    passages = sum(
        count * (study.retrieval.focused if study.screen.context == "fresh" else stored[stratum])
        for stratum, count in drafts.items()
    ) / max(sum(drafts.values()), 1)
    frame = _tokens(len(prompts.load("screen").text) + ITEM_CHARACTERS + EXPLAINED_CHARACTERS)
    at_most = sum(most.values()) * 3
    return _row("screen", endpoint, calls, at_most, frame + passages * passage, VERDICT_TOKENS)


def _panel(study: Study, items: int, characters: float) -> list[Cost]:
    """Items × orders × repeats at every endpoint of the panel; baselines are not asked."""
    panel = study.panel
    orders = 4 if panel.orders == "all" else int(panel.orders)
    turned = min(panel.pilot_items, items) if panel.order_scope == "pilot" else items
    answers = (items + (orders - 1) * turned) * panel.repeats
    hidden = items if panel.no_stem else 0
    prompt = _tokens(characters + 60) * (1 + panel.examples) + _tokens(len(panel.system_prompt)) + 10
    rows = []
    for endpoint in panel_endpoints(study):
        if endpoint.kind == "baseline":
            continue
        each = 4 if endpoint.mode == "option_likelihood" else 1
        calls = (answers + hidden) * each
        note = f"{items} items, {orders} orders, {panel.repeats} repeats" + (", and without stems" if hidden else "")
        if endpoint.after:
            calls = answers * (endpoint.samples if endpoint.step == "vote" else 1)
            note = f"{endpoint.step} after {endpoint.after}: its own calls"
        rows.append(_row("panel", endpoint, calls, calls, prompt, min(endpoint.max_tokens, 4), note))
    return rows


def _embeddings(study: Study, extent: Extent, subtopics: int, drafts: float) -> Cost:
    """Passages, seeds, subtopics and items; an embedding endpoint has no price in a study."""
    texts = extent.passages + len(study.seeds) + subtopics + math.ceil(drafts)
    tokens = _tokens(extent.characters + math.ceil(drafts) * ITEM_CHARACTERS / 2)
    calls = math.ceil(texts / study.embedding.batch)
    note = f"{texts} texts, {study.embedding.batch} a call; what is embedded already is not embedded again"
    return Cost("embeddings", study.embedding.model, calls, calls, round(tokens), 0, None, note)
