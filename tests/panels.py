"""Small banks and panels made by rule, for the tests of statistics and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from examgen import ids
from examgen.records import (
    LETTERS,
    STRATA,
    Axis,
    BankItem,
    Chunk,
    EndpointRow,
    Evidence,
    FunnelRow,
    Response,
)

WORDS = (
    "lesion", "cord", "nerve", "vein", "rim", "field", "image", "contrast", "signal", "volume", "axial", "border",
    "matter", "plaque", "scan", "phase",
)  # fmt: skip


def passage(place: int) -> Chunk:
    """A passage whose second sentence is quoted by the item of the same number."""
    middle = f"In series {place} the {WORDS[place % 16]} was seen in {place + 3} cases."
    text = f"Passage {place} opens here. {middle} It ends."
    source = ids.source_id(f"source {place % 5}".encode())
    return Chunk(
        chunk_id=ids.chunk_id(source, place, text), content_hash=ids.content_hash(text), source_id=source,
        path=f"document_{place % 5}.md", start=0, end=len(text), ordinal=place, heading="Imaging > Signs", text=text,
    )  # fmt: skip


def make_item(place: int, topic: str, options: Sequence[str], key: int, *, stem: str = "") -> BankItem:
    """An item with evidence in its passage."""
    chunk = passage(place)
    quote = chunk.text.split(". ")[1] + "."
    start = chunk.text.index(quote)
    words = stem or f"In series {place}, what was seen?"
    return BankItem(
        item_id=ids.item_id(words, options, options[key]), candidate_id=f"c{place}",
        topic_id=ids.topic_id(topic, "signs"), topic=topic, subtopic="signs", stratum=STRATA[place % 4], stem=words,
        options=tuple(options), key=key, key_letter=LETTERS[key], explanation=f"The passage says: {quote}",
        evidence=(Evidence(source_id=chunk.source_id, chunk_id=chunk.chunk_id, quote=quote, start=start,
                           end=start + len(quote)),),
        question_type=("completion", "vignette")[place % 2], semantic_parent=topic,
        construction_batch=f"batch {topic}", writer="rules 1", axes=(Axis(name="site", value="AB"[place % 2]),),
    )  # fmt: skip


def make_bank(topics: int = 6, per_topic: int = 8, options: int = 4, seed: int = 1) -> list[BankItem]:
    """A bank whose options are random words: no cue leads to the key."""
    random = np.random.default_rng(seed)
    bank = []
    for place in range(topics * per_topic):
        texts = [" ".join(random.choice(WORDS, size=int(random.integers(2, 6)))) + f" {n}" for n in range(options)]
        bank.append(make_item(place, f"topic {place // per_topic}", texts, int(random.integers(options))))
    return bank


def endpoint(name: str, role: str = "primary", family: str = "not recorded", group: str = "local") -> EndpointRow:
    """An endpoint row."""
    return EndpointRow.model_validate({"endpoint_id": name, "role": role, "family": family, "group": group})


def answer(item: BankItem, name: str, choice: int | None, order: int = 0, repeat: int = 0) -> Response:
    """A response that chose this bank place, or an unparseable one."""
    return Response(
        item_id=item.item_id, endpoint_id=name, order=order, repeat=repeat, choice=choice,
        status="unparseable" if choice is None else "parsed",
        correct=None if choice is None else choice == item.key,
    )  # fmt: skip


def make_answers(
    bank: Sequence[BankItem], accuracies: Mapping[str, float], *, seed: int = 0, missing: float = 0.0, orders: int = 1
) -> list[Response]:
    """Independent answers with these accuracies; a share of them cannot be parsed."""
    random = np.random.default_rng(seed)
    found = []
    for name, share in accuracies.items():
        for order in range(orders):
            for item in bank:
                wrong = [place for place in range(len(item.options)) if place != item.key]
                choice = item.key if random.random() < share else int(random.choice(wrong))
                found.append(answer(item, name, None if random.random() < missing else choice, order))
    return found


def make_funnel() -> list[FunnelRow]:
    """A funnel of two stages that adds up."""
    return [
        FunnelRow(stage="audit", stratum="easy", outcome="entered", count=10),
        FunnelRow(stage="audit", stratum="easy", outcome="accepted", count=7),
        FunnelRow(stage="audit", stratum="easy", outcome="rejected", reason="length cue", count=3),
        FunnelRow(stage="screen", stratum="easy", outcome="entered", count=7),
        FunnelRow(stage="screen", stratum="easy", outcome="accepted", count=7),
    ]


PANEL = {f"model-{n}": 0.95 - 0.06 * n for n in range(7)}
"""Accuracies of seven primary endpoints."""
