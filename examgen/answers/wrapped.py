"""A letter alone in any wrapper, and a letter in JSON."""

from __future__ import annotations

import json
import re
from typing import Any

_BARE_NOISE = re.compile(
    r"\\(?:boxed|fbox|text|textbf|textit|mathbf|mathrm|mathsf|bf|rm|bm|underline|displaystyle|left|right|quad|,|;|!|\(|\)|\[|\])\s*"
    r"|<\s*/?\s*[A-Za-z_]+\s*/?>|[\s*_`\"'“”‘’«»‹›「」『』【】《》〈〉〔〕()\[\]{}<>$#|.,;:!。、，；：！…—–\-✓✔✅→]+"
)


_ANSWER_FIELDS = frozenset(
    {
        "answer",
        "final_answer",
        "finalanswer",
        "final answer",
        "choice",
        "selected",
        "selected_option",
        "selected_answer",
        "letter",
        "option",
        "response",
        "correct_answer",
        "correct answer",
        "correct_option",
        "prediction",
        "result",
        "ans",
        "answer_letter",
        "answer_choice",
        "pick",
        "choice_letter",
        "selection",
        "label",
    }
)


_OPEN_JSON = re.compile(r"^\s*\{\s*\"(?P<field>[A-Za-z_ ]+)\"\s*:\s*\"(?P<value>[^\"\n]*)\"\s*,?[^}]*$", re.S)


_FENCE = re.compile(r"^\s*```[A-Za-z0-9]*\s*\n?(.*?)\n?\s*```\s*$", re.S)


def bare_letter(text: str) -> str | None:
    """The one letter left when all wrappers are taken off, or None."""
    left = re.sub(r"^(?:option|choice|letter|answer|ans)\b", "", _BARE_NOISE.sub(" ", text).strip(), flags=re.I).strip()
    left = _BARE_NOISE.sub(" ", left).strip()
    if len(left) == 1 and left.isascii() and left.isalpha():
        return left.upper()
    parts = left.split()
    return (
        parts[0].upper()
        if parts and len(set(parts)) == 1 and len(parts[0]) == 1 and parts[0].isalpha() and parts[0].isascii()
        else None
    )


def _label_letter(text: str) -> str | None:
    """The letter of "B. text" or "B) text", read as the value of a field."""
    found = re.match(r"^\s*[(\[]?([A-Ja-j])\s*[.):\]]\s*\S", text)
    return found.group(1).upper() if found else None


def _field_letters(value: Any) -> list[str]:
    """Letters held by the answer fields of a JSON value, "?" for one that cannot be read."""
    if isinstance(value, list):
        return (
            [letter for inner in value for letter in _field_letters(inner)]
            if all(isinstance(v, dict) for v in value)
            else []
        )
    letters = []
    for name, held in value.items() if isinstance(value, dict) else ():
        if str(name).strip().lower().replace("-", "_") in _ANSWER_FIELDS:
            held = held[0] if isinstance(held, list) and len(held) == 1 else held
            if isinstance(held, dict):
                letters += _field_letters(held) or ["?"]
            else:
                letters.append((bare_letter(held) or _label_letter(held) or "?") if isinstance(held, str) else "?")
    return letters


def letter_in_json(text: str, allowed: str) -> str | None:
    """The letter a JSON reply gives; "" when it is JSON without one, None when it is no JSON."""
    fenced = _FENCE.match(text)
    body = (fenced.group(1) if fenced else text).strip()
    if not body.startswith(("{", "[")):
        return None
    try:
        value = json.loads(body)
    except ValueError:
        cut = _OPEN_JSON.match(body)
        if not cut or cut.group("field").strip().lower() not in _ANSWER_FIELDS:
            return None
        value = {cut.group("field"): cut.group("value")}
    letters = set(_field_letters(value))
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        letters = {bare_letter(value[0]) or "?"}
    if isinstance(value, str):
        letters = {bare_letter(value) or "?"}
    if len(letters) == 1 and (letter := letters.pop()) in allowed:
        return letter
    return "" if isinstance(value, dict | list) and not bare_letter(body) else None
