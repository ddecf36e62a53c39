"""Layouts of other people's banks: which column holds what, and how options and keys are written in it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examgen.errors import BankError
from examgen.ids import normalised
from examgen.records import LETTERS

Row = Mapping[str, Any]
"""A row as read: column name and value."""

STEM_NAMES = ("stem", "question", "question_text", "prompt", "query", "item", "question_stem", "input", "problem")
OPTION_NAMES = ("options", "choices", "answers", "candidates", "endings", "alternatives")
KEY_NAMES = (
    "key",
    "answer_idx",
    "answerkey",
    "answer_key",
    "correct",
    "correct_option",
    "correct_answer",
    "answer",
    "gold",
    "label",
    "cop",
    "target",
    "answer_index",
    "correct_index",
    "solution",
    "correct_choice",
)
EXPLANATION_NAMES = ("explanation", "exp", "rationale", "feedback", "reasoning")
TOPIC_NAMES = ("topic", "subject", "subject_name", "category", "lesson", "meta_info", "domain", "topic_name")
ID_NAMES = ("item_id", "id", "question_id", "qid", "uid", "name")
_LETTERED = (
    r"([a-j])",
    r"option[ _]?([a-j])",
    r"op([a-j])",
    r"choice[ _]?([a-j])",
    r"answer[ _]?([a-j])",
    r"option[ _]?(\d+)",
    r"choice[ _]?(\d+)",
    r"answer[ _]?(\d+)",
    r"ending(\d+)",
    r"distractor[ _]?(\d+)",
)


@dataclass(frozen=True)
class Layout:
    """Which column holds what; several option columns, or one that holds a list."""

    stem: str
    options: tuple[str, ...]
    key: str
    explanation: str = ""
    topic: str = ""
    id: str = ""
    one_based: bool = False

    def __str__(self) -> str:
        base = "; key counted from 1" if self.one_based else ""
        return f"stem={self.stem}; options={','.join(self.options)}; key={self.key}{base}"


def _find(names: Sequence[str], columns: Mapping[str, str]) -> str:
    return next((columns[name] for name in names if name in columns), "")


def _option_columns(columns: Mapping[str, str]) -> tuple[str, ...]:
    for pattern in _LETTERED:
        matched = [(m[1], column) for name, column in columns.items() if (m := re.fullmatch(pattern, name))]
        if len(matched) >= 2:
            numeric = all(mark.isdigit() for mark, _ in matched)
            ordered = sorted(matched, key=lambda pair: int(pair[0]) if numeric else pair[0])
            return tuple(column for _, column in ordered)
    return ()


def detect(rows: Sequence[Row], path: str) -> Layout:
    """The layout of a bank by the names of its columns; `BankError` says which part was not found."""
    columns: dict[str, str] = {}
    for row in rows[:200]:
        for name in row:
            columns.setdefault(str(name).strip().casefold(), str(name))
    stem, options = _find(STEM_NAMES, columns), _find(OPTION_NAMES, columns)
    nested = rows[0].get(stem) if stem else None
    lettered = _option_columns(columns)
    holds_list = bool(options) and not isinstance(parsed(rows[0].get(options)), str)
    chosen = (options,) if holds_list else lettered or ((stem,) if isinstance(nested, dict) else ())
    key = _find([name for name in KEY_NAMES if columns.get(name) not in (*chosen, stem)], columns)
    missing = [name for name, found in (("stem", stem), ("options", chosen), ("key", key)) if not found]
    if missing:
        raise BankError(
            f"{path}: cannot tell which column holds the {' and the '.join(missing)} "
            f"among {', '.join(columns.values())}: "
            "give a mapping, such as stem=Question,options=A|B|C|D,key=Answer"
        )
    rest = {name: column for name, column in columns.items() if column not in (stem, key, *chosen)}
    found = Layout(stem, chosen, key, _find(EXPLANATION_NAMES, rest), _find(TOPIC_NAMES, rest), _find(ID_NAMES, rest))
    return found if not _counts_from_one(rows, found) else Layout(**{**vars(found), "one_based": True})


def parsed(value: Any) -> Any:
    """A list or mapping written as text (JSON or Python), or the value itself."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        text = value.strip()
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            pass
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return value


def options_of(row: Row, layout: Layout) -> tuple[list[str], list[str]]:
    """Texts of the options and their labels (letters where the bank names none)."""
    if len(layout.options) > 1:
        texts = ["" if row.get(name) is None else str(row[name]) for name in layout.options]
        while texts and not texts[-1].strip():
            texts.pop()
        return texts, list(LETTERS[: len(texts)])
    value = parsed(row.get(layout.options[0]))
    if layout.options[0] == layout.stem and isinstance(value, dict):
        value = value.get("choices", value.get("options"))
    if isinstance(value, dict) and {"text", "label"} <= set(value):
        return [str(text) for text in value["text"]], [str(label) for label in value["label"]]
    if isinstance(value, dict):
        return [str(text) for text in value.values()], [str(label) for label in value]
    listed = list(value) if isinstance(value, list | tuple) else []
    if listed and all(isinstance(part, dict) for part in listed):
        texts = [str(part.get("text", part.get("value", part.get("option", "")))) for part in listed]
        return texts, [str(part.get("label", part.get("id", LETTERS[place]))) for place, part in enumerate(listed[:10])]
    return [str(part) for part in listed], list(LETTERS[: len(listed)])


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if value == int(value) else None
    return int(value) if re.fullmatch(r"-?\d+(?:\.0+)?", str(value).strip()) and "." not in str(value) else None


def _counts_from_one(rows: Sequence[Row], layout: Layout) -> bool:
    """Whether numeric keys start at 1: none is 0 and some equals the number of options."""
    top = False
    for row in rows:
        number = _number(row.get(layout.key))
        if number == 0:
            return False
        options, labels = options_of(row, layout)
        if number is not None and str(number) in labels:
            return False
        top = top or (number is not None and number == len(options))
    return top


def key_place(value: Any, options: list[str], labels: list[str], one_based: bool) -> int:
    """Place of the key named by label, number or text; -1 where none fits."""
    told = str(value).strip() if value is not None else ""
    by_label = {label.casefold(): place for place, label in enumerate(labels)}
    bare = told.casefold().strip("()[]. ").removeprefix("option ").removeprefix("answer ").strip()
    if bare in by_label:
        return by_label[bare]
    number = _number(value)
    if number is not None and str(number) not in options:
        return number - int(one_based) if 0 <= number - int(one_based) < len(options) else -1
    texts = [normalised(option) for option in options]
    if told and texts.count(normalised(told)) == 1:
        return texts.index(normalised(told))
    if number is not None:
        return number - int(one_based) if 0 <= number - int(one_based) < len(options) else -1
    letter = re.match(r"\(?([A-Ja-j])\)?[.):]\s", f"{told} ")
    return by_label.get(letter[1].casefold(), -1) if letter else -1


def mapped(mapping: Mapping[str, str]) -> Layout:
    """A layout given by hand: stem, options (columns joined by |), key, and if there: explanation, topic, id,
    one_based.
    """
    missing = [name for name in ("stem", "options", "key") if not mapping.get(name)]
    unknown = set(mapping) - {"stem", "options", "key", "explanation", "topic", "id", "one_based"}
    if missing or unknown:
        lacks, strange = ", ".join(missing) or "nothing", ", ".join(sorted(unknown)) or "nothing"
        raise BankError(f"the mapping lacks {lacks} and has unknown {strange}")
    columns = tuple(part.strip() for part in mapping["options"].split("|"))
    one_based = mapping.get("one_based", "").casefold() in ("1", "true", "yes")
    return Layout(
        mapping["stem"],
        columns,
        mapping["key"],
        mapping.get("explanation", ""),
        mapping.get("topic", ""),
        mapping.get("id", ""),
        one_based,
    )
