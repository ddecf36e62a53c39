"""Layouts of other people's banks: which column holds what, and how options are written in it."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examgen.audits.bank_file import Row
from examgen.errors import BankError
from examgen.ids import digest
from examgen.records import LETTERS

NAMES: dict[str, tuple[str, ...]] = {
    role: tuple(words.split())
    for role, words in {
        "stem": "stem question question_text questiontext prompt query item question_stem input problem",
        "options": "options choices answers candidates endings alternatives answer_options answer_choices",
        "key": "key answer_idx answerkey answer_key correct correct_option correct_answer right_answer answer gold "
        "label cop target answer_index correct_index correct_answer_index solution correct_choice correct_response",
        "distractors": "distractors incorrect_answers wrong_answers incorrect_options",
        "explanation": "explanation exp rationale feedback reasoning support general_feedback",
        "topic": "topic subject subject_name category lesson meta_info domain topic_name",
        "id": "item_id id question_id qid uid name",
    }.items()
}
"""Names by which a column is known, in lower case with underscores, the most telling first."""

FIELDS = (*NAMES, "counted_from")
"""What a mapping given by hand may name."""

_NUMBERED = tuple(
    rf"{name}_?([a-j])" for name in ("", "option", "op", "choice", "answer", "ans")
) + tuple(rf"{name}_?(\d+)" for name in ("option", "choice", "answer", "ending", "alternative", ""))
_APART = tuple(rf"{name}_?(\d+)" for name in ("distractor", "incorrect_answer", "wrong_answer", "incorrect"))
_SHOWN = 12


@dataclass(frozen=True)
class Layout:
    """Which column holds what: options in several columns or one that holds a list, or `distractors` apart from a key
    given as text."""

    stem: str
    options: tuple[str, ...]
    key: str
    distractors: tuple[str, ...] = ()
    explanation: str = ""
    topic: str = ""
    id: str = ""
    base: int | None = None

    def __str__(self) -> str:
        told = [f"stem={self.stem}"]
        told += [f"options={'|'.join(self.options)}"] if self.options else []
        told += [f"key={self.key}"]
        told += [f"distractors={'|'.join(self.distractors)} (so the order of the options is ours)"] * bool(
            self.distractors
        )
        return "; ".join(told)


def _plain(name: str) -> str:
    return re.sub(r"[\s\-.]+", "_", str(name).strip().casefold()).strip("_:?")


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Every column name of the rows, in the order in which they come."""
    return list(dict.fromkeys(str(name) for row in rows for name in row))


class _Columns:
    """The columns of a bank by role, those given by hand taken out first."""

    def __init__(self, rows: Sequence[Row], path: str, given: Mapping[str, str]) -> None:
        self.rows, self.path, self.given = rows[:200], path, given
        self.names = columns_of(rows[:2000])
        self.taken: set[str] = set()
        self._check()

    def _check(self) -> None:
        for field in self.given:
            if field not in FIELDS:
                near = difflib.get_close_matches(field, FIELDS, 1, 0.5)
                meant = f": did you mean {near[0]!r}?" if near else ""
                raise BankError(f"{self.path}: there is no field {field!r}{meant} (fields: {', '.join(FIELDS)})")
        if self.given.get("counted_from", "0") not in ("0", "1"):
            raise BankError(f"{self.path}: counted_from={self.given['counted_from']}: say 0 or 1")

    def told(self, field: str) -> tuple[str, ...]:
        """The columns given for a field; `BankError` names one that the file has not, with the nearest."""
        found = []
        parts = [part.strip() for part in self.given.get(field, "").split("|") if part.strip()]
        for part in [self.given[field]] if self.given.get(field) in self.names else parts:
            name = part if part in self.names else next((n for n in self.names if _plain(n) == _plain(part)), "")
            if not name:
                near = difflib.get_close_matches(_plain(part), [_plain(n) for n in self.names], 1, 0.5)
                nearest = next((n for n in self.names if near and _plain(n) == near[0]), "")
                hint = f" (nearest: {nearest!r})" if nearest else ""
                raise BankError(f"{self.path}: has no column {part!r}, given as {field}{hint}; {self.listed()}")
            found.append(name)
        self.taken.update(found)
        return tuple(found)

    def one(self, field: str) -> str:
        """The column of a field that takes one; given, or known by its name."""
        if field in self.given:
            told = self.told(field)
            if len(told) != 1:
                raise BankError(f"{self.path}: {field}={self.given[field]}: give one column")
            return told[0]
        free = {_plain(name): name for name in reversed(self.names) if name not in self.taken}
        found = next((free[name] for name in NAMES[field] if name in free), "")
        self.taken.add(found)
        return found

    def run(self, patterns: Sequence[str]) -> tuple[str, ...]:
        """Columns that differ by a letter or a number, in its order: A, B, C or choice1, choice2."""
        for pattern in patterns:
            free = [name for name in self.names if name not in self.taken]
            found = [(m[1], name) for name in free if (m := re.fullmatch(pattern, _plain(name)))]
            if len(found) >= 2:
                ordered = sorted(found, key=lambda pair: int(pair[0]) if pair[0].isdigit() else ord(pair[0]))
                self.taken.update(name for _, name in ordered)
                return tuple(name for _, name in ordered)
        return ()

    def lists(self, name: str) -> bool:
        """Whether a column holds several options a cell."""
        return any(len(listed(row.get(name))[0]) > 1 for row in self.rows)

    def listed(self) -> str:
        """The columns there are, in words."""
        more = f" and {len(self.names) - _SHOWN} more" if len(self.names) > _SHOWN else ""
        return f"its columns are {', '.join(self.names[:_SHOWN])}{more}"


def detect(rows: Sequence[Row], path: str, given: Mapping[str, str] | None = None) -> Layout:
    """The layout of a bank: columns given by hand, the rest by name; `BankError` says what was not found and where it
    was looked for.
    """
    columns = _Columns(rows, path, given or {})
    told = {field: columns.told(field) for field in columns.given if field != "counted_from"}
    stem = columns.one("stem")
    options = told.get("options") or _options(columns, stem, told)
    key = columns.one("key")
    distractors = told.get("distractors", ())
    if not options and not distractors:
        name = columns.one("distractors")
        distractors = (name,) if name else columns.run(_APART)
    if len(options) == 1 and not columns.lists(options[0]):
        seen = str(next((row[options[0]] for row in columns.rows if row.get(options[0])), ""))[:40]
        raise BankError(
            f"{path}: column {options[0]!r} holds {seen!r}, no list of options: give --column options=A|B|C|D, several "
            "columns joined by |"
        )
    _need(columns, stem, options or distractors, key)
    extra = {field: columns.one(field) for field in ("explanation", "topic", "id")}
    base = int(columns.given["counted_from"]) if "counted_from" in columns.given else None
    return Layout(stem, options, key, () if options else distractors, base=base, **extra)


def _options(columns: _Columns, stem: str, told: Mapping[str, Any]) -> tuple[str, ...]:
    """Options in one column that holds a list, in lettered or numbered columns, or inside the stem's column."""
    if "distractors" in told:
        return ()
    for name in (n for known in NAMES["options"] for n in columns.names if _plain(n) == known):
        if name not in columns.taken and columns.lists(name):
            columns.taken.add(name)
            return (name,)
    found = columns.run(_NUMBERED)
    if found:
        return found
    nested = stem and any(isinstance(parsed(row.get(stem)), dict) for row in columns.rows)
    return (stem,) if nested else ()


def _need(columns: _Columns, stem: str, options: tuple[str, ...], key: str) -> None:
    missing = {"stem": stem, "options": options, "key": key}
    lacking = [name for name, found in missing.items() if not found]
    if not lacking:
        return
    tried = {
        "stem": f"a stem is known by {', '.join(NAMES['stem'][:4])} ...",
        "options": "options by options, choices ... with a list, by A, B ... option_a ... opa ... choice1 ..., or by "
        "distractor1 ... beside the key",
        "key": f"a key by {', '.join(NAMES['key'][:5])} ...",
    }
    found = "; ".join(f"{name} is {value}" for name, value in missing.items() if value and isinstance(value, str))
    example = {"stem": "stem=Question", "options": '"options=A|B|C|D"', "key": "key=Answer"}
    raise BankError(
        f"{columns.path}: cannot tell which column holds the {' and the '.join(lacking)} ({columns.listed()}"
        f"{'; ' + found if found else ''}): {'; '.join(tried[name] for name in lacking)}: give "
        + " ".join(f"--column {example[name]}" for name in lacking)
    )


def parsed(value: Any) -> Any:
    """A list or mapping written as text (JSON, Python or numpy), or the value itself."""
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    text = value.strip()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    bare = re.sub(r"\barray\((\[.*?\])(?:,\s*dtype=\w+)?\)", r"\1", text, flags=re.DOTALL)
    try:
        found = ast.literal_eval(bare)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    if isinstance(found, list) and len(found) == 1:
        # numpy writes no commas between texts, and Python then joins them to one.
        texts = re.findall(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", bare)
        if len(texts) > 1 and "".join(ast.literal_eval(one) for one in texts) == found[0]:
            return [ast.literal_eval(one) for one in texts]
    return found


def _lettered(text: str) -> list[str]:
    """Options of one text that names them A), B) ... in order; empty where it does not."""
    marks: list[re.Match[str]] = []
    for match in re.finditer(r"(?:(?<=^)|(?<=[\s,;|]))\(?([A-Ja-j])\s?[).:]\s*", text):
        if match[1].upper() == LETTERS[len(marks)]:
            marks.append(match)
            if len(marks) == len(LETTERS):
                break
    if len(marks) < 2 or text[: marks[0].start()].strip():
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [text[mark.end() : end].strip(" \t\n,;|") for mark, end in zip(marks, ends, strict=True)]


def listed(cell: Any) -> tuple[list[str], list[str]]:
    """Texts and labels of the options in one cell."""
    value = parsed(cell)
    if isinstance(value, dict) and ("choices" in value or "options" in value):
        value = parsed(value.get("choices", value.get("options")))
    if isinstance(value, dict) and {"text", "label"} <= set(value):
        return [str(text) for text in value["text"]], [str(label) for label in value["label"]]
    if isinstance(value, dict):
        kept = {label: text for label, text in value.items() if text is not None}
        return [str(text) for text in kept.values()], [str(label) for label in kept]
    if isinstance(value, str):
        texts = _lettered(value)
        return texts, list(LETTERS[: len(texts)])
    parts = list(value) if isinstance(value, list | tuple) else []
    if parts and all(isinstance(part, dict) for part in parts):
        texts = [str(part.get("text", part.get("value", part.get("option", "")))) for part in parts]
        labels = [str(part.get("label", part.get("id", place))) for place, part in enumerate(parts)]
        return texts, labels
    return [str(part) for part in parts], list(LETTERS[: len(parts)])


def _cell(row: Row, name: str) -> str:
    return "" if row.get(name) is None else str(row[name])


def options_of(row: Row, layout: Layout) -> tuple[list[str], list[str]]:
    """Texts of the options and their labels (letters where the bank names none)."""
    if layout.distractors:
        cells = layout.distractors
        apart = [_cell(row, name) for name in cells] if len(cells) > 1 else listed(row.get(cells[0]))[0]
        texts = [_cell(row, layout.key), *(text for text in apart if text.strip())]
        # Where the right option stands apart there is no order of options: ours follows from the texts alone.
        texts.sort(key=lambda text: digest("order", text))
        return texts, list(LETTERS[: len(texts)])
    if len(layout.options) > 1:
        texts = [_cell(row, name) for name in layout.options]
        while texts and not texts[-1].strip():
            texts.pop()
        numbers = [re.findall(r"\d+$", name) for name in layout.options]
        return texts, [n[0] if n else LETTERS[place] for place, n in enumerate(numbers)][: len(texts)]
    return listed(row.get(layout.options[0]))
