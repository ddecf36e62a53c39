"""Items written by a language model: drafts asked for one by one, repaired, checked for verbatim quotes, dealt
their letters."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from examgen import ids, prompts
from examgen.chat import ChatModel, ChatRequest
from examgen.drafts import LANGUAGES, SCHEMA, Draft, read_draft
from examgen.records import Candidate, Chunk, Stratum, Topic


@dataclass(frozen=True)
class Rejected:
    """A draft that came to nothing: `number` of the draft, why, what its calls ended with, and the raw text."""

    number: int
    reason: str
    outcome: str
    raw: str
    request_hash: str
    repairs: int


@dataclass(frozen=True)
class WriteResult:
    """One candidate or one reject for each item asked for, in order of number; `unresolved` were never answered."""

    candidates: tuple[Candidate, ...]
    rejects: tuple[Rejected, ...]

    @property
    def unresolved(self) -> int:
        """Drafts without an answer of the model: worth asking again."""
        return sum(reject.outcome not in ("answered", "refused", "filtered") for reject in self.rejects)


def choose_snippets(found: Sequence[Chunk], per_source: int = 2, at_most: int = 10) -> list[Chunk]:
    """Passages of a synthesis item from a wide retrieval, best first: at most so many a source and in all."""
    taken: Counter[str] = Counter()
    chosen: list[Chunk] = []
    for chunk in found:
        if taken[chunk.source_id] < per_source and len(chosen) < at_most:
            taken[chunk.source_id] += 1
            chosen.append(chunk)
    return chosen


async def write_with_model(
    model: ChatModel,
    topic: Topic,
    stratum: Stratum,
    wanted: int,
    passages: Sequence[Chunk],
    *,
    batch: str = "",
    attempt: int = 1,
    temperature: float = 0.3,
    repair_temperature: float = 0.1,
    repairs: int = 2,
    max_tokens: int = 1200,
    language: str = "en",
) -> WriteResult:
    """Ask for `wanted` items of a subtopic and stratum on the passages, one call each, with at most `repairs`
    repair calls.

    `attempt` is the round of topping up: another round asks other questions. Each item asked for ends as a candidate or
    as a reject with its reason; nothing is raised for what a model says.
    """
    drafts = [
        _one(
            model,
            topic,
            stratum,
            number,
            wanted,
            passages,
            batch,
            attempt,
            temperature,
            repair_temperature,
            repairs,
            max_tokens,
            language,
        )
        for number in range(1, wanted + 1)
    ]
    results = await asyncio.gather(*drafts)
    return WriteResult(
        tuple(one for one in results if isinstance(one, Candidate)),
        tuple(one for one in results if isinstance(one, Rejected)),
    )


async def _one(
    model: ChatModel,
    topic: Topic,
    stratum: Stratum,
    number: int,
    wanted: int,
    passages: Sequence[Chunk],
    batch: str,
    attempt: int,
    temperature: float,
    repair_temperature: float,
    repairs: int,
    max_tokens: int,
    language: str,
) -> Candidate | Rejected:
    """One item: a draft, then repairs while its problem may be mended."""
    prompt = prompts.load("item", f"item_{stratum}", "item_reply")
    focus = passages[(number - 1 + attempt - 1) % len(passages)].chunk_id if passages else "none"
    asked = prompt.fill(
        topic=topic.topic,
        subtopic=topic.subtopic,
        number=number,
        wanted=wanted,
        focus=focus,
        language=LANGUAGES.get(language[:2], language),
        passages=prompts.passages(tuple(passages)),
    )
    messages: tuple[tuple[str, str], ...] = (("user", asked),)
    name = f"{batch}/{topic.topic_id}/{stratum}/{attempt}/{number}"
    purpose, warmth, tries = "write", temperature, 0
    while True:
        reply = await model.ask(
            ChatRequest(messages, purpose, warmth, max_tokens, schema=SCHEMA, tag=f"{name}/{tries}")
        )
        draft = read_draft(reply, passages, stratum, language)
        if not draft.problem:
            return _candidate(
                draft,
                topic,
                stratum,
                name,
                batch,
                attempt,
                model.label,
                prompt.id,
                reply.text,
                bool(tries or draft.steps),
            )
        if tries >= repairs or reply.outcome not in ("answered", "empty", "truncated"):
            return Rejected(number, draft.problem, reply.outcome, reply.text, reply.request_hash, tries)
        tries += 1
        purpose, warmth = "repair", repair_temperature
        mend = prompts.load("repair").fill(problem=draft.problem)
        messages = (("user", asked), *((("assistant", reply.text),) if reply.text.strip() else ()), ("user", mend))


def deal(correct: str, distractors: Sequence[str], item: str) -> tuple[tuple[str, ...], int]:
    """Options in the order shown and the place of the key: a shuffle seeded with the item's id, from sorted texts."""
    options = sorted((correct, *distractors))
    random.Random(ids.seed_of("letters", item)).shuffle(options)
    return tuple(options), options.index(correct)


def _candidate(
    draft: Draft,
    topic: Topic,
    stratum: Stratum,
    name: str,
    batch: str,
    attempt: int,
    writer: str,
    prompt_id: str,
    raw: str,
    repaired: bool,
) -> Candidate:
    item = ids.item_id(draft.stem, (draft.correct, *draft.distractors), draft.correct)
    options, key = deal(draft.correct, draft.distractors, item)
    return Candidate(
        candidate_id=ids.digest("candidate", name, item),
        item_id=item,
        topic_id=topic.topic_id,
        topic=topic.topic,
        subtopic=topic.subtopic,
        stratum=stratum,
        stem=draft.stem,
        options=options,
        key=key,
        explanation=draft.explanation,
        evidence=draft.evidence,
        question_type=draft.question_type,
        semantic_parent=topic.topic_id,
        construction_batch=batch,
        writer=writer,
        prompt_id=prompt_id,
        attempt=attempt,
        repaired=repaired,
        raw=raw,
    )
