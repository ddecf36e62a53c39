"""Recovering JSON from what models really return: prose around it, fences, reasoning, trailing commas, cut ends,
other names."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examgen.answers.cleaning import without_reasoning

_FENCE = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n?(.*?)(?:```|\Z)", re.S)
_WRAPPERS = (
    "items",
    "questions",
    "question_list",
    "mcqs",
    "mcq",
    "item",
    "question",
    "result",
    "results",
    "data",
    "output",
    "response",
    "topics",
)
_LITERALS = {"True": "true", "False": "false", "None": "null", "NaN": "null"}


@dataclass(frozen=True)
class Recovered:
    """JSON objects found in a reply, what was done to get them, and why there are none ("" when there are)."""

    items: tuple[dict[str, Any], ...]
    steps: tuple[str, ...] = ()
    problem: str = ""


def recover(raw: str) -> Recovered:
    """The JSON objects of a reply, without a call. Never raises; `problem` says what cannot be recovered."""
    text, cut_off = without_reasoning(raw)
    steps = ["reasoning removed"] if text.strip() != raw.strip() else []
    if cut_off:
        return Recovered((), tuple(steps), "the reply ended inside its reasoning")
    if not text.strip():
        return Recovered((), tuple(steps), "the reply is empty")
    fenced = [part for part in _FENCE.findall(text) if "{" in part or "[" in part]
    candidates = [*fenced, text] if fenced else [text]
    for candidate in candidates:
        values, more = _values(candidate)
        items = [item for value in values for item in _objects(value)]
        if items:
            fence = ["fence removed"] if candidate in fenced else []
            return Recovered(tuple(items), tuple(dict.fromkeys(steps + fence + more)))
    return Recovered((), tuple(steps), "no JSON object in the reply")


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects meant: a list's members, the content of a wrapper, the object itself."""
    if isinstance(value, list):
        return [item for inner in value for item in _objects(inner)]
    if not isinstance(value, dict) or not value:
        return []
    if len(value) == 1:
        name, inner = next(iter(value.items()))
        if snake(name) in _WRAPPERS and isinstance(inner, list | dict) and snake(name) != "topics":
            return _objects(inner)
    return [value]


def _values(text: str) -> tuple[list[Any], list[str]]:
    """JSON values in a text, and what had to be done to read them."""
    stripped = text.strip()
    try:
        return [json.loads(stripped)], []
    except ValueError:
        pass
    found: list[Any] = []
    steps: list[str] = []
    at = 0
    while (start := _first_bracket(text, at)) is not None:
        end = _matching(text, start)
        piece = text[start : end if end is not None else len(text)]
        value, more = _lenient(piece, closed=end is not None)
        if value is not None:
            found.append(value)
            steps += more
            at = end if end is not None else len(text)
        else:
            at = start + 1
        if len(found) and end is None:
            break
    if (found and stripped[:1] not in "{[") or (
        found and stripped[-1:] not in "}]" and "closed after truncation" not in steps
    ):
        steps.insert(0, "prose removed")
    return found, steps


def _first_bracket(text: str, start: int) -> int | None:
    places = [place for mark in "{[" if (place := text.find(mark, start)) >= 0]
    return min(places) if places else None


def _matching(text: str, start: int) -> int | None:
    """Where the bracket opened at `start` is closed, strings respected; None when it never is."""
    depth, inside, escaped = 0, False, False
    for place in range(start, len(text)):
        mark = text[place]
        if inside:
            if escaped:
                escaped = False
            elif mark == "\\":
                escaped = True
            elif mark == '"':
                inside = False
        elif mark == '"':
            inside = True
        elif mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return place + 1
    return None


def _lenient(piece: str, closed: bool) -> tuple[Any, list[str]]:
    """A value from a piece that is nearly JSON; (None, []) when it is not."""
    for value, steps in _repairs(piece, closed):
        for strict in (True, False):
            try:
                return json.loads(value, strict=strict), steps if strict else [*steps, "line breaks in strings kept"]
            except ValueError:
                continue
    if closed:
        try:
            value = ast.literal_eval(piece)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None, []
        if isinstance(value, dict | list):
            return value, ["quote marks mended"]
    return None, []


def _repairs(piece: str, closed: bool) -> list[tuple[str, list[str]]]:
    """Ever stronger mendings of a piece."""
    straight = re.sub(r"[“”](?=\s*[:,\]}])|(?<=[\[{,:\s])[“”]", '"', piece)
    commas = re.sub(r",(\s*[}\]])", r"\1", straight)
    comments = re.sub(r"(?m)^\s*//.*$|(?<=[,{\[])\s*//[^\n\"]*$", "", commas)
    literals = re.sub(
        r"(?<=[:,\[\s])(True|False|None|NaN)(?=\s*[,}\]])", lambda found: _LITERALS[found.group(1)], comments
    )
    keys = re.sub(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)", r'\1"\2"\3', literals)
    between = re.sub(r'("|\]|\})(\s*\n\s*)(?=")', r"\1,\2", keys)
    tries = [
        (piece, []),
        (straight, ["quote marks mended"]),
        (commas, ["trailing commas removed"]),
        (literals, ["comments and literals mended"]),
        (keys, ["bare names quoted"]),
        (between, ["commas added"]),
    ]
    if not closed:
        for text, steps in tries[:5]:
            tries += [(ended, [*steps, "closed after truncation"]) for ended in _closings(text)]
    return tries


def _closings(text: str) -> list[str]:
    """The text cut back to its last whole value and closed, longest first; a string cut in the middle is dropped."""
    stack: list[str] = []
    cuts: list[tuple[int, str]] = []
    inside = escaped = False
    for place, mark in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif mark == "\\":
                escaped = True
            elif mark == '"':
                inside = False
                cuts.append((place + 1, "".join(reversed(stack))))
        elif mark == '"':
            inside = True
        elif mark in "{[":
            stack.append("}" if mark == "{" else "]")
        elif mark in "}]" and stack:
            stack.pop()
            cuts.append((place + 1, "".join(reversed(stack))))
    return [text[:place].rstrip().rstrip(",") + closing for place, closing in reversed(cuts[-12:])]


def snake(name: str) -> str:
    """A field's name in lower case with underscores: "correctAnswer" and "Correct answer" are one."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name).strip())
    return re.sub(r"[\s\-_]+", "_", spaced).lower()


def renamed(item: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], list[str]]:
    """The item with the fields wanted, found under their own or another name; the second value says which were
    renamed."""
    plain = {snake(name): value for name, value in item.items()}
    found: dict[str, Any] = {}
    steps: list[str] = []
    for wanted, others in names.items():
        for name in (wanted, *others):
            if name in plain and plain[name] not in (None, ""):
                found[wanted] = plain[name]
                if name != wanted:
                    steps.append(f"{name} read as {wanted}")
                break
    return found, steps


_COMMON = {
    "en": frozenset(
        {
            "the",
            "of",
            "and",
            "in",
            "is",
            "a",
            "to",
            "for",
            "with",
            "on",
            "are",
            "by",
            "as",
            "or",
            "that",
            "which",
            "from",
            "be",
        }
        | {"at", "this", "an", "not"}
    )
}


def in_language(text: str, language: str) -> bool:
    """Whether a text of some length can be of the language. Judged for English by its common words, else by nothing."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    common = _COMMON.get(language.lower()[:2])
    if common is None or len(words) < 8:
        return bool(common is None or not words or sum(word.isascii() for word in words) >= 0.7 * len(words))
    return sum(word in common for word in words) >= 0.08 * len(words)
