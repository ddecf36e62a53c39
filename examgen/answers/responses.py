"""From a reply to the one final row of item × endpoint × order × repeat, and the same again from a stored row."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from examgen.answers.order import content_choice
from examgen.answers.parser import PARSER_VERSION, Reading, parse
from examgen.answers.prompt import AnswerPrompt, prompt
from examgen.answers.steps import ballot, elected, vote_of, votes_of
from examgen.chat import ChatReply
from examgen.records import BankItem, Response, ResponseStatus

_STATUS: Mapping[str, tuple[ResponseStatus, str]] = {
    "refused": ("refused", "refusal_field"),
    "filtered": ("refused", "content_filter"),
    "truncated": ("truncated", "no_text_before_limit"),
    "error": ("error", "endpoint_error"),
}
_TOKEN_MARKS = " \u2581\u0120\n\t([*\"'`"


def letter_probabilities(logprobs: Sequence[tuple[str, float]], asked: AnswerPrompt) -> tuple[float, ...]:
    """Likelihood of each option, in the bank's own order, from the likelihoods of the first token; sums to 1.

    Spellings of one letter ("B", " B", "(B") are added up; a letter outside the list given counts 0. Empty when no
    option's letter is in the list.
    """
    mass = dict.fromkeys(asked.letters, 0.0)
    for token, value in logprobs:
        letter = token.strip(_TOKEN_MARKS)
        if letter in mass:
            mass[letter] += math.exp(value)
    shown = [mass[asked.letters[place]] for place in range(len(asked.order))]
    total = sum(shown)
    if total <= 0:
        return ()
    own = [0.0] * len(asked.order)
    for place, value in enumerate(shown):
        own[asked.order[place]] = value / total
    return tuple(own)


def likeliest(probabilities: Sequence[float], rule: str, asked: AnswerPrompt) -> Reading:
    """The letter of the likeliest option; a tie at the top is no answer."""
    top = max(probabilities)
    tied = [place for place, value in enumerate(probabilities) if value >= top - 1e-12]
    if len(tied) > 1:
        return Reading(None, "unparseable", f"{rule}_tie")
    return Reading(asked.letters[asked.order.index(tied[0])], "parsed", rule)


def _read(
    reply: ChatReply, asked: AnswerPrompt, mode: str, constrained: bool, probabilities: tuple[float, ...]
) -> Reading:
    if reply.outcome in _STATUS:
        status, rule = _STATUS[reply.outcome]
        return Reading(None, status, rule)
    if not reply.answered:
        return Reading(None, "unresolved", reply.outcome)
    if mode == "letter_logprobs" and probabilities:
        return likeliest(probabilities, "first_token", asked)
    return parse(
        reply.text,
        asked.letters,
        options=asked.shown,
        abstain=asked.abstain,
        finish_reason=reply.finish_reason,
        constrained=constrained,
    )


def respond(
    item: BankItem,
    asked: AnswerPrompt,
    reply: ChatReply,
    endpoint_id: str,
    order: int,
    repeat: int,
    mode: str,
    *,
    constrained: bool = False,
    mode_name: str = "",
) -> Response:
    """The row of a reply. `constrained` says the server could only produce letters; `mode_name` is the mode
    recorded."""
    probabilities = letter_probabilities(reply.logprobs, asked)
    return _row(
        item,
        _read(reply, asked, mode, constrained, probabilities),
        order,
        item_id=item.item_id,
        endpoint_id=endpoint_id,
        order=order,
        repeat=repeat,
        mode=mode_name or mode,
        request_hash=reply.request_hash,
        raw=reply.text,
        attempts=reply.attempts,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cost=reply.cost,
        latency_seconds=reply.latency_seconds,
        finish_reason=reply.finish_reason,
        error=reply.error,
        probabilities=probabilities,
    )


def _row(item: BankItem, reading: Reading, turned: int, **known: Any) -> Response:
    choice = None
    if reading.status == "parsed" and reading.letter is not None:
        choice = content_choice(ord(reading.letter) - ord("A"), len(item.options), turned)
    return Response.model_construct(
        **known,
        shown_letter=reading.letter,
        choice=choice,
        rule=reading.rule,
        parser_version=PARSER_VERSION,
        status=reading.status,
        correct=None if choice is None else choice == item.key,
    )


def respond_likelihood(
    item: BankItem, asked: AnswerPrompt, replies: Sequence[ChatReply], endpoint_id: str, order: int, repeat: int
) -> Response:
    """The row of one forced reply per option (bank order): the option whose text has the highest mean token
    likelihood."""
    failed = next((reply for reply in replies if not reply.answered or not reply.logprobs), None)
    means: list[float] = []
    if failed is None:
        means = [sum(value for _, value in reply.logprobs) / len(reply.logprobs) for reply in replies]
        top = max(means)
        raised = [math.exp(mean - top) for mean in means]
        probabilities = tuple(value / sum(raised) for value in raised)
        reading = likeliest(probabilities, "likelihood_per_token", asked)
    else:
        probabilities = ()
        reading = (
            _read(failed, asked, "letter", False, ())
            if not failed.answered
            else Reading(None, "unresolved", "no_likelihoods")
        )
    return _row(
        item,
        reading,
        order,
        item_id=item.item_id,
        endpoint_id=endpoint_id,
        order=order,
        repeat=repeat,
        mode="option_likelihood",
        request_hash=replies[0].request_hash,
        raw=json.dumps({"mean_log_likelihood": [round(mean, 6) for mean in means]}),
        **_taken(replies),
        error=failed.error if failed else "",
        probabilities=probabilities,
    )


def respond_vote(
    item: BankItem, asked: AnswerPrompt, first: Response, replies: Sequence[ChatReply], known: Mapping[str, Any]
) -> Response:
    """The row of a vote among a stored row and fresh replies to the same prompt; `known` names endpoint and mode.

    A sample that never came leaves the row without an answer, with the reason: fewer votes make another arm.
    """
    readings = [_read(reply, asked, "letter", False, ()) for reply in replies]
    start, others = vote_of(first), votes_of(readings)
    pairs = zip(replies, readings, strict=True)
    lost, reading = next(
        ((reply, read) for reply, read in pairs if read.status in ("unresolved", "error")),
        (None, elected(start, others, asked.abstain)),
    )
    return _row(
        item,
        reading,
        first.order,
        item_id=item.item_id,
        order=first.order,
        repeat=first.repeat,
        request_hash=replies[0].request_hash,
        raw=ballot(start, others) if lost is None else "",
        **_taken(replies),
        error=lost.error if lost else "",
        probabilities=(),
        **known,
    )


def _taken(replies: Sequence[ChatReply]) -> dict[str, Any]:
    """What several calls about one item took together; the reason of the last one's end."""
    return {
        "attempts": sum(reply.attempts for reply in replies),
        "prompt_tokens": _total([reply.prompt_tokens for reply in replies]),
        "completion_tokens": _total([reply.completion_tokens for reply in replies]),
        "cost": _total([reply.cost for reply in replies]),
        "latency_seconds": _total([reply.latency_seconds for reply in replies]),
        "finish_reason": replies[-1].finish_reason,
    }


def _total(values: Sequence[Any]) -> Any:
    return None if any(value is None for value in values) else sum(values)


def forces_letters(extra_body: Mapping[str, Any]) -> bool:
    """Whether these settings of an endpoint leave it only letters to say."""
    structured = extra_body.get("structured_outputs") or {}
    return "grammar" in extra_body or "guided_choice" in extra_body or "choice" in structured


def reread(row: Response, item: BankItem, *, abstention: bool = False, constrained: bool = False) -> Response:
    """A stored row read again by this parser, without a call. Rows that never were text, or were read from
    likelihoods, stay."""
    fixed = (
        "first_token",
        "likelihood",
        "baseline",
        "refusal_field",
        "content_filter",
        "no_text",
        "endpoint_error",
        "vote",
        "imported_likelihood",
        "imported_shuffled",
    )
    if (
        (row.status in ("error", "unresolved") and row.rule != "error_text")
        or row.rule.startswith(fixed)
        or not row.raw
    ):
        return row
    asked = prompt(item, row.order, abstention=abstention)
    reading = parse(
        row.raw,
        asked.letters,
        options=asked.shown,
        abstain=asked.abstain,
        finish_reason=row.finish_reason,
        constrained=constrained,
    )
    if row.rule.startswith("imported_"):
        reading = replace(reading, rule=f"imported_{reading.rule}")
    known = row.model_dump(exclude={"shown_letter", "choice", "rule", "parser_version", "status", "correct"})
    return _row(item, reading, row.order, **known)
