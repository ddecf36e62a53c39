"""The consistency screen by a language model: four questions about an item and its context, kept with what it saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from examgen import prompts
from examgen.chat import ChatModel, ChatRequest
from examgen.evidence import fold
from examgen.records import LETTERS, Candidate, Chunk, Verdict
from examgen.replies import recover, renamed

_QUESTIONS: Mapping[str, Sequence[str]] = {
    "answerable": ("is_answerable", "answerable_from_context", "answerability"),
    "key_consistent": ("key_consistency", "key_is_consistent", "answer_consistent", "correct_answer_consistent"),
    "explanation_consistent": ("explanation_consistency", "explanation_is_consistent"),
    "unique": ("exactly_one_right", "unique_answer", "single_best", "exactly_one_correct", "is_unique"),
    "issues": ("problems", "concerns", "findings"),
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["answerable", "key_consistent", "explanation_consistent", "unique", "issues"],
    "properties": {
        **{name: {"type": "boolean"} for name in ("answerable", "key_consistent", "explanation_consistent", "unique")},
        "issues": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["severity", "text"],
                "additionalProperties": False,
                "properties": {"severity": {"type": "string", "enum": ["major", "minor"]}, "text": {"type": "string"}},
            },
        },
    },
}
_SAID = {"true": True, "yes": True, "pass": True, "false": False, "no": False, "fail": False}


async def screen_with_model(
    model: ChatModel,
    candidate: Candidate,
    context: Sequence[Chunk],
    *,
    context_kind: Literal["stored", "fresh"] = "stored",
    family: Literal["same-family", "other-family"] = "same-family",
    repairs: int = 2,
    max_tokens: int = 500,
) -> Verdict:
    """The verdict on an item, at temperature 0. Without a readable reply the questions are None and the item is not
    accepted."""
    prompt = prompts.load("screen")
    asked = prompt.fill(item=shown(candidate), passages=prompts.passages(tuple(context)))
    messages: tuple[tuple[str, str], ...] = (("user", asked),)
    answers: dict[str, Any] = {}
    for tries in range(repairs + 1):
        request = ChatRequest(
            messages,
            "screen" if not tries else "repair",
            0.0,
            max_tokens,
            schema=SCHEMA,
            tag=f"{candidate.candidate_id}/{tries}",
        )
        reply = await model.ask(request)
        answers, problem = (
            read_answers(reply.text) if reply.answered else ({}, f"no verdict: {reply.outcome} {reply.error}".strip())
        )
        if not problem or reply.outcome not in ("answered", "empty", "truncated"):
            break
        mend = prompts.load("repair").fill(problem=problem)
        messages = (("user", asked), *((("assistant", reply.text),) if reply.text.strip() else ()), ("user", mend))
    return as_verdict(
        candidate,
        answers,
        problem,
        model.label,
        family,
        context_kind,
        [chunk.chunk_id for chunk in context],
        prompt.id,
        reply.text,
    )


def shown(candidate: Candidate) -> str:
    """The item as a screener sees it; it cannot close its own delimiter."""
    lines = [candidate.stem, *(f"{LETTERS[place]}. {text}" for place, text in enumerate(candidate.options))]
    lines += [
        f"Key: {candidate.key_letter}",
        f"Explanation: {candidate.explanation}",
        *(f"Quote: {one.quote}" for one in candidate.evidence),
    ]
    return "\n".join(lines).replace("</item", "<\u200b/item")


def read_answers(raw: str) -> tuple[dict[str, Any], str]:
    """The four answers and the issues of a reply; the second value says what is missing."""
    found = recover(raw)
    if found.problem:
        return {}, found.problem
    fields, _ = renamed(found.items[0], _QUESTIONS)
    answers: dict[str, Any] = {}
    for name in ("answerable", "key_consistent", "explanation_consistent", "unique"):
        value = fields.get(name)
        value = _SAID.get(value.strip().lower()) if isinstance(value, str) else value
        if not isinstance(value, bool):
            return {}, f"the field {name!r} is missing or not true or false"
        answers[name] = value
    issues = fields.get("issues") or []
    answers["issues"] = tuple(_issue(one) for one in (issues if isinstance(issues, list) else [issues]))
    return answers, ""


def _issue(value: Any) -> str:
    if isinstance(value, dict):
        plain = {str(name).lower(): text for name, text in value.items()}
        text = fold(str(plain.get("text") or plain.get("issue") or plain.get("description") or ""))
        major = str(plain.get("severity", "")).lower().startswith(("maj", "crit", "sev"))
        return f"{'major' if major else 'minor'}: {text}"
    return f"minor: {fold(str(value))}"


def as_verdict(
    candidate: Candidate,
    answers: Mapping[str, Any],
    problem: str,
    screener: str,
    family: Literal["same-family", "other-family"],
    context_kind: Literal["stored", "fresh"],
    chunk_ids: Sequence[str],
    prompt_id: str,
    raw: str,
) -> Verdict:
    """Any question answered no, any major issue and any unreadable verdict reject."""
    issues = tuple(answers.get("issues", ())) or ((f"unreadable verdict: {problem}",) if problem else ())
    questions = [answers.get(name) for name in ("answerable", "key_consistent", "explanation_consistent", "unique")]
    return Verdict(
        candidate_id=candidate.candidate_id,
        item_id=candidate.item_id,
        screener=screener,
        family=family,
        answerable=questions[0],
        key_consistent=questions[1],
        explanation_consistent=questions[2],
        unique=questions[3],
        accepted=all(answer is True for answer in questions) and not any(issue.startswith("major") for issue in issues),
        issues=issues,
        context=context_kind,
        context_chunk_ids=tuple(chunk_ids),
        prompt_id=prompt_id,
        raw=raw,
    )


def agreement(first: Sequence[Verdict], second: Sequence[Verdict]) -> dict[str, float | int | None]:
    """How far two screeners agree on the items both judged: share of equal decisions and Cohen's kappa."""
    other = {verdict.candidate_id: verdict.accepted for verdict in second}
    pairs = [(verdict.accepted, other[verdict.candidate_id]) for verdict in first if verdict.candidate_id in other]
    if not pairs:
        return {"n": 0, "agreement": None, "kappa": None}
    n = len(pairs)
    same = sum(a == b for a, b in pairs) / n
    left, right = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    chance = left * right + (1 - left) * (1 - right)
    return {"n": n, "agreement": same, "kappa": None if chance == 1 else (same - chance) / (1 - chance)}
