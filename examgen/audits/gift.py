"""Moodle GIFT: multiple-choice questions with one right answer; everything else is named and left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ESCAPED = {"~": "\ue000", "=": "\ue001", "#": "\ue002", "{": "\ue003", "}": "\ue004", ":": "\ue005", "n": "\ue006"}
_PLAIN = {mark: "\n" if sign == "n" else sign for sign, mark in _ESCAPED.items()}
_FORMAT = re.compile(r"^\s*\[(?:html|moodle|plain|markdown)\]", re.IGNORECASE)
_TAG = re.compile(r"</?(?:p|b|i|em|strong|span|br|div|u|sub|sup)\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True)
class GiftQuestion:
    """A question as read: with options and key where it is multiple choice, with a reason where it is not."""

    name: str
    category: str
    stem: str
    options: tuple[str, ...] = ()
    key: int = -1
    explanation: str = ""
    reason: str = ""


def _hidden(text: str) -> str:
    return re.sub(r"\\([~=#{}:n])", lambda match: _ESCAPED[match[1]], text)


def _shown(text: str) -> str:
    for mark, sign in _PLAIN.items():
        text = text.replace(mark, sign)
    return _TAG.sub("", _FORMAT.sub("", text)).strip()


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Category and text of each question: blocks apart by empty lines, comments left out."""
    category = ""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        if bare.startswith("//"):
            continue
        if bare.startswith("$CATEGORY:"):
            category = bare.removeprefix("$CATEGORY:").strip()
        elif bare or (lines and "\n".join(lines).count("{") > "\n".join(lines).count("}")):
            lines.append(line)
        elif lines:
            yield category, "\n".join(lines)
            lines = []
    if lines:
        yield category, "\n".join(lines)


def _answers(body: str) -> tuple[list[str], list[int], str]:
    """Options, places of the fully right ones, and the general feedback of an answer block."""
    body, _, feedback = body.partition("####")
    options: list[str] = []
    right: list[int] = []
    for mark, answer in re.findall(r"([=~])([^=~]*)", body):
        weight = re.match(r"\s*%(-?[\d.]+)%", answer)
        text = _shown((answer[weight.end() :] if weight else answer).partition("#")[0])
        if mark == "=" or (weight and float(weight[1]) >= 99.9):
            right.append(len(options))
        options.append(text)
    return options, right, _shown(feedback)


def _question(category: str, block: str, number: int) -> GiftQuestion:
    hidden = _hidden(block.strip())
    title = re.match(r"::(.*?)::", hidden, re.DOTALL)
    name = _shown(title[1]) if title else f"question {number}"
    rest = hidden[title.end() :] if title else hidden
    match = re.search(r"\{(.*?)\}", rest, re.DOTALL)
    if match is None:
        return GiftQuestion(name, category, _shown(rest), reason="a description without answers")
    after = rest[match.end() :].strip()
    stem = _shown(rest[: match.start()]) + (f" _____ {_shown(after)}" if after else "")
    body = match[1].strip()
    if not body:
        return GiftQuestion(name, category, stem, reason="an essay question")
    if re.match(r"(?:T|F|TRUE|FALSE)\s*(?:#|$)", body, re.IGNORECASE):
        return GiftQuestion(name, category, stem, reason="a true-false question")
    if body.startswith("#"):
        return GiftQuestion(name, category, stem, reason="a numerical question")
    options, right, feedback = _answers(body)
    if any("->" in option for option in options):
        return GiftQuestion(name, category, stem, reason="a matching question")
    if "~" not in body:
        return GiftQuestion(name, category, stem, reason="a short-answer question")
    if len(right) != 1:
        return GiftQuestion(name, category, stem, reason=f"{len(right)} fully right answers, not one")
    return GiftQuestion(name, category, stem, tuple(options), right[0], feedback)


def read_gift(text: str) -> list[GiftQuestion]:
    """Every question of a GIFT file, those that are not multiple choice with a reason."""
    return [_question(category, block, number) for number, (category, block) in enumerate(_blocks(text), start=1)]
