"""Rows of the in-process baselines: what they read is loaded here, what they answer is said by `examgen.baselines`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from examgen import baselines, study, tables
from examgen.answers import PARSER_VERSION
from examgen.errors import InputError
from examgen.records import BankItem, Chunk, Response
from tasks.panel_context import PanelContext


def baseline_rows(
    bank: Sequence[BankItem],
    items: Sequence[BankItem],
    endpoint: study.Endpoint,
    order: int,
    repeat: int,
    context: PanelContext,
) -> list[Response]:
    """Answers of the endpoint's baseline to `items` as rows; `InputError` when it reads passages and there are none."""
    chunks: list[Chunk] = []
    vectors = embed = None
    if endpoint.model in baselines.NEEDS_CHUNKS:
        if not context.chunks:
            raise InputError(
                f"endpoint {endpoint.id}: the baseline {endpoint.model!r} reads passages: the evaluation was "
                f"given no chunks table"
            )
        chunks = tables.read_records(context.chunks, Chunk)
    if endpoint.model == "embedding":
        from tasks.embed import embed_missing, make_embedder

        texts = {chunk.content_hash: chunk.text for chunk in chunks}
        embedder = make_embedder(context.embedding or study.Embedding(), [texts[name] for name in sorted(texts)])
        vectors = embed_missing(embedder, texts, Path(context.vectors or Path(context.chunks).with_name("embeddings")))
        embed = embedder.embed
    if context.no_stem:
        items = [item.model_copy(update={"stem": ""}) for item in items]
    answers = baselines.answer_all(
        endpoint.model, items, order, repeat, bank=bank, chunks=chunks, vectors=vectors, embed=embed
    )
    return [
        Response(
            item_id=item.item_id,
            endpoint_id=endpoint.id,
            order=order,
            repeat=repeat,
            mode="no_stem" if context.no_stem else "letter",
            shown_letter=baselines.shown_letter(answer.choice, len(item.options), order),
            choice=answer.choice,
            rule=f"baseline_{endpoint.model}",
            parser_version=PARSER_VERSION,
            status="parsed",
            correct=answer.choice == item.key,
            probabilities=answer.probabilities,
            attempts=0,
        )
        for item, answer in zip(items, answers, strict=True)
    ]
