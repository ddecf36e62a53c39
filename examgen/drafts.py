"""Reading a draft of an item from a model's reply: fields under any usual name, quotes checked to the letter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from examgen import ids
from examgen.chat import ChatReply
from examgen.evidence import fold, locate
from examgen.records import Chunk, Evidence, Stratum
from examgen.replies import in_language, recover, renamed

_NAMES: Mapping[str, Sequence[str]] = {
    "stem": ("question", "question_text", "question_stem", "lead_in", "prompt", "item_stem", "vignette"),
    "correct_answer": (
        "correct",
        "answer",
        "correct_option",
        "right_answer",
        "key",
        "key_text",
        "correct_choice",
        "answer_text",
    ),
    "distractors": (
        "incorrect_answers",
        "wrong_answers",
        "incorrect_options",
        "wrong_options",
        "incorrect",
        "distractor",
    ),
    "options": ("choices", "answers", "answer_options", "alternatives"),
    "explanation": ("rationale", "justification", "reasoning", "explanation_text"),
    "question_type": ("type", "item_type", "category"),
    "evidence": ("citations", "quotes", "sources", "support", "supporting_evidence", "claims", "references"),
}


_EVIDENCE_NAMES: Mapping[str, Sequence[str]] = {
    "chunk_id": ("id", "passage_id", "passage", "chunk", "source_id", "source"),
    "quote": ("text", "verbatim_quote", "verbatim", "excerpt", "quotation", "evidence"),
}


SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "stem": {"type": "string"},
        "correct_answer": {"type": "string"},
        "distractors": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3},
        "explanation": {"type": "string"},
        "question_type": {"type": "string"},
        "evidence": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"chunk_id": {"type": "string"}, "quote": {"type": "string"}},
                "required": ["chunk_id", "quote"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["stem", "correct_answer", "distractors", "explanation", "question_type", "evidence"],
    "additionalProperties": False,
}
"""What a draft must be, for endpoints that can be held to a schema."""


LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
}


@dataclass(frozen=True)
class Draft:
    """A draft read from a reply, not yet dealt its letters; or the `problem` with it."""

    stem: str = ""
    correct: str = ""
    distractors: tuple[str, ...] = ()
    explanation: str = ""
    question_type: str = ""
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[str, ...] = ()
    problem: str = ""


def read_draft(reply: ChatReply, passages: Sequence[Chunk], stratum: Stratum, language: str = "en") -> Draft:
    """A draft from a reply: fields under any usual name, quotes found in the passages to the letter."""
    draft = _read(reply, passages, stratum, language)
    cut = reply.answered and reply.finish_reason == "length"
    return replace(draft, problem=f"{draft.problem} (cut off at the token limit)") if draft.problem and cut else draft


def _read(reply: ChatReply, passages: Sequence[Chunk], stratum: Stratum, language: str) -> Draft:
    if not reply.answered:
        return Draft(problem=f"no draft: {reply.outcome}{f' ({reply.error})' if reply.error else ''}")
    found = recover(reply.text)
    if found.problem:
        return Draft(problem=found.problem)
    fields, steps = renamed(found.items[0], _NAMES)
    fields, more = _with_options(fields)
    steps = [*found.steps, *steps, *more]
    stem, correct = _text(fields.get("stem")), _text(fields.get("correct_answer"))
    wrong = fields.get("distractors")
    distractors = tuple(_text(text) for text in wrong) if isinstance(wrong, list) else ()
    explanation = _text(fields.get("explanation"))
    problem = _problem(stem, correct, distractors, explanation, language)
    if problem:
        return Draft(problem=problem)
    evidence, complaint, mended = _evidence(fields.get("evidence"), passages)
    if complaint:
        return Draft(problem=complaint)
    if stratum == "synthesis" and len({one.source_id for one in evidence}) < 2:
        return Draft(problem="a synthesis item needs evidence from at least two sources")
    kind = _text(fields.get("question_type")) or "single best answer"
    return Draft(stem, correct, distractors, explanation, kind, evidence, tuple(dict.fromkeys([*steps, *mended])))


def _text(value: Any) -> str:
    """A text as written, white space folded, a letter before it ("B) …") taken off."""
    text = fold(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return text[2:].strip() if len(text) > 3 and text[0] in "ABCDE" and text[1] in ").:" and text[2] == " " else text


def _with_options(fields: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Key and distractors from a list or mapping of options and a letter, place or text that names the right one."""
    options = fields.get("options")
    if fields.get("distractors") or not options:
        return fields, []
    key = fields.get("correct_answer")
    if isinstance(options, dict):
        lettered = {str(letter).strip().upper()[:1]: _text(text) for letter, text in options.items()}
    elif isinstance(options, list):
        flat = [one.get("text", "") if isinstance(one, dict) else one for one in options]
        lettered = {"ABCDEFGHIJ"[place]: _text(text) for place, text in enumerate(flat[:10])}
    else:
        return fields, []
    letter = str(key).strip().rstrip(".)").upper() if isinstance(key, str) else ""
    right = (
        lettered.get(letter)
        if len(letter) == 1
        else next((text for text in lettered.values() if text and text == _text(key)), None)
    )
    if right is None:
        return fields, []
    return {**fields, "correct_answer": right, "distractors": [text for text in lettered.values() if text != right]}, [
        "options read as key and distractors"
    ]


def _problem(stem: str, correct: str, distractors: Sequence[str], explanation: str, language: str) -> str:
    missing = [
        name for name, value in (("stem", stem), ("correct_answer", correct), ("explanation", explanation)) if not value
    ]
    if missing:
        return f"the field {missing[0]!r} is missing or empty"
    if len(distractors) != 3 or not all(distractors):
        return f"{sum(map(bool, distractors))} distractors instead of three"
    if len({ids.normalised(text) for text in (correct, *distractors)}) != 4:
        return "two options are the same"
    if not in_language(f"{stem} {explanation}", language):
        return f"not written in {LANGUAGES.get(language[:2], language)}"
    return ""


def _evidence(value: Any, passages: Sequence[Chunk]) -> tuple[tuple[Evidence, ...], str, list[str]]:
    """Evidence whose quotes stand in the passages, or the complaint, and what was mended: a wrong id is put right when
    the quote stands in exactly one passage."""
    rows = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
    by_id = {chunk.chunk_id: chunk for chunk in passages}
    found: list[Evidence] = []
    steps: list[str] = []
    for row in rows:
        fields, _ = renamed(row if isinstance(row, dict) else {"quote": row}, _EVIDENCE_NAMES)
        quote = str(fields.get("quote", "")).strip().strip('"“”')
        named = by_id.get(str(fields.get("chunk_id", "")).strip())
        if not quote:
            continue
        places = [(chunk, span) for chunk in ([named] if named else passages) if (span := locate(quote, chunk.text))]
        if not places and named:
            places = [(chunk, span) for chunk in passages if (span := locate(quote, chunk.text))]
        if not places:
            return (), f"the quote {quote[:80]!r} does not stand in the passages", []
        chunk, (start, end) = places[0]
        if chunk is not named:
            if len(places) > 1:
                return (), f"the quote {quote[:80]!r} names no passage and stands in several", []
            steps.append("passage of a quote corrected")
        found.append(
            Evidence(
                source_id=chunk.source_id, chunk_id=chunk.chunk_id, quote=chunk.text[start:end], start=start, end=end
            )
        )
    if not found:
        return (), "no evidence is quoted", []
    return tuple(found), "", steps
