"""The taxonomy by a language model: topics and subtopics proposed from the seeded passages, kept when they rest on
them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examgen import ids, prompts
from examgen.chat import ChatModel, ChatRequest
from examgen.evidence import fold
from examgen.records import Chunk, Topic
from examgen.replies import recover, renamed

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["topics"],
    "additionalProperties": False,
    "properties": {
        "topics": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["topic", "subtopics"],
                "additionalProperties": False,
                "properties": {
                    "topic": {"type": "string"},
                    "subtopics": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["subtopic", "description", "chunk_ids"],
                            "additionalProperties": False,
                            "properties": {
                                "subtopic": {"type": "string"},
                                "description": {"type": "string"},
                                "chunk_ids": {"type": "array", "items": {"type": "string"}},
                            },
                        },
                    },
                },
            },
        }
    },
}
_TOPIC: Mapping[str, Sequence[str]] = {
    "topic": ("name", "title", "label"),
    "subtopics": ("sub_topics", "children", "items"),
}
_SUBTOPIC: Mapping[str, Sequence[str]] = {
    "subtopic": ("name", "title", "label", "sub_topic"),
    "description": ("summary", "scope", "rationale"),
    "chunk_ids": ("passages", "passage_ids", "chunks", "evidence", "ids", "sources"),
}


@dataclass(frozen=True)
class Proposal:
    """Topics found, and what was left out or could not be read, in words."""

    topics: tuple[Topic, ...]
    problems: tuple[str, ...] = ()
    prompt_id: str = ""


async def propose(
    model: ChatModel,
    passages: Sequence[Chunk],
    seeds: Sequence[str],
    *,
    topics_at_most: int = 40,
    subtopics_per_topic: int = 6,
    repairs: int = 2,
    per_call: int = 60,
    max_tokens: int = 4000,
    seed_of_chunk: Mapping[str, str] | None = None,
) -> Proposal:
    """Ask for the taxonomy of the passages, at temperature 0, in as few calls as `per_call` allows; merge by label."""
    prompt = prompts.load("taxonomy")
    found: list[Topic] = []
    problems: list[str] = []
    for start in range(0, len(passages), per_call):
        part = tuple(passages[start : start + per_call])
        asked = prompt.fill(
            seeds="; ".join(seeds),
            topics=topics_at_most,
            subtopics=subtopics_per_topic,
            passages=prompts.passages(part),
        )
        messages: tuple[tuple[str, str], ...] = (("user", asked),)
        for tries in range(repairs + 1):
            request = ChatRequest(
                messages,
                "taxonomy" if not tries else "repair",
                0.0,
                max_tokens,
                schema=SCHEMA,
                tag=f"taxonomy/{start}/{tries}",
            )
            reply = await model.ask(request)
            topics, said = (
                read_topics(reply.text, part, seed_of_chunk or {})
                if reply.answered
                else ([], [f"no reply: {reply.outcome} {reply.error}".strip()])
            )
            if topics or reply.outcome not in ("answered", "empty", "truncated"):
                break
            mend = prompts.load("repair").fill(problem="; ".join(said) or "no topics")
            messages = (("user", asked), *((("assistant", reply.text),) if reply.text.strip() else ()), ("user", mend))
        found += topics
        problems += said
    return Proposal(tuple(_merged(found, topics_at_most, subtopics_per_topic)), tuple(problems), prompt.id)


def read_topics(raw: str, passages: Sequence[Chunk], seed_of_chunk: Mapping[str, str]) -> tuple[list[Topic], list[str]]:
    """Subtopics of a reply that rest on passages given, and what is wrong with the others."""
    recovered = recover(raw)
    if recovered.problem:
        return [], [recovered.problem]
    known = {chunk.chunk_id for chunk in passages}
    topics: list[Topic] = []
    problems: list[str] = []
    for item in _topic_objects(recovered.items):
        fields, _ = renamed(item, _TOPIC)
        label, inner = fold(str(fields.get("topic", ""))), fields.get("subtopics")
        if not label or not isinstance(inner, list):
            problems.append("a topic without a name or without subtopics")
            continue
        for one in inner:
            fields, _ = renamed(one if isinstance(one, dict) else {"subtopic": one}, _SUBTOPIC)
            name, named = fold(str(fields.get("subtopic", ""))), fields.get("chunk_ids")
            chunk_ids = tuple(
                dict.fromkeys(str(n) for n in (named if isinstance(named, list) else [named]) if str(n) in known)
            )
            if not name or not chunk_ids:
                problems.append(f"subtopic {name or '?'!r} of {label!r} rests on no passage given")
                continue
            topics.append(
                Topic(
                    topic_id=ids.topic_id(label, name),
                    topic=label,
                    subtopic=name,
                    description=fold(str(fields.get("description", ""))),
                    seed=next((seed_of_chunk[n] for n in chunk_ids if n in seed_of_chunk), ""),
                    chunk_ids=chunk_ids,
                )
            )
    return topics, problems


def _topic_objects(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for item in items:
        inner = item.get("topics") or item.get("taxonomy")
        found += [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else [item]
    return found


def _merged(topics: Sequence[Topic], topics_at_most: int, subtopics_per_topic: int) -> list[Topic]:
    """Subtopics of one label are one, with all their passages; topics and subtopics beyond the limits are left out."""
    merged: dict[str, Topic] = {}
    for topic in topics:
        held = merged.get(topic.topic_id)
        chunk_ids = tuple(dict.fromkeys((*held.chunk_ids, *topic.chunk_ids))) if held else topic.chunk_ids
        merged[topic.topic_id] = (held or topic).model_copy(update={"chunk_ids": chunk_ids})
    kept: dict[str, list[Topic]] = {}
    for topic in merged.values():
        label = ids.normalised(topic.topic)
        if label in kept or len(kept) < topics_at_most:
            kept.setdefault(label, []).append(topic)
    return [topic for group in kept.values() for topic in group[:subtopics_per_topic]]
