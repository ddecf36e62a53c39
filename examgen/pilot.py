"""A pilot: a small table of responses from which the discordance of two endpoints is read."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from examgen.errors import StudyError

COLUMNS = ("item_id", "endpoint", "correct")
_RIGHT = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}
"""How a score may be written; an empty cell is an answer that was not resolved."""

Scores = dict[str, dict[str, bool]]
"""Endpoint -> item -> right or wrong."""
Answers = dict[str, dict[str, list[bool]]]
"""Endpoint -> item -> right or wrong, once for each answer."""


def parse_pilot(text: str, name: str) -> Scores:
    """The scores of a pilot from CSV with the columns item_id, endpoint, correct; `name` is said in errors.

    `correct` is 1 or 0, true or false, yes or no, or empty where no answer was resolved. `StudyError` names the line.
    Of several answers (see `parse_answers`) the first counts.
    """
    answers = parse_answers(text, name)
    return {endpoint: {item: said[0] for item, said in items.items()} for endpoint, items in answers.items()}


def parse_answers(text: str, name: str) -> Answers:
    """The scores of a pilot with every answer. A column `repeat` tells answers of one endpoint to one item apart: the
    seed of a model, or the person, when several people answered as one endpoint."""
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise StudyError(f"{name}: column {missing[0]!r} is missing; a pilot has the columns {', '.join(COLUMNS)}")
    scores: Answers = {}
    seen: set[tuple[str, str, str]] = set()
    for row in reader:
        item, endpoint, said = ((row[column] or "").strip() for column in COLUMNS)
        where = f"{name}: line {reader.line_num}"
        repeat = (row.get("repeat") or "").strip()
        if (item, endpoint, repeat) in seen:
            raise StudyError(
                f"{where}: a second answer of {endpoint!r} to item {item!r}: keep one row a pair, or tell them apart "
                "in a column repeat"
            )
        seen.add((item, endpoint, repeat))
        if said and said.lower() not in _RIGHT:
            raise StudyError(f"{where}: correct is {said!r}: write 1, 0 or nothing")
        answered = scores.setdefault(endpoint, {})
        if said:
            answered.setdefault(item, []).append(_RIGHT[said.lower()])
    return scores


def read_pilot(path: Path) -> Scores:
    """The scores of a pilot file; `StudyError` when it cannot be used."""
    return parse_pilot(pilot_text(path), str(path))


def pilot_text(path: Path) -> str:
    """The text of a pilot file; `StudyError` when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        list(csv.reader(io.StringIO(text)))
        return text
    except FileNotFoundError as error:
        raise StudyError(f"{path}: no such pilot table: the path is relative to the study file") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path}: cannot be read as a CSV table in UTF-8: {error}") from error


def discordant_counts(scores: Mapping[str, Mapping[str, bool]], pair: Sequence[str], name: str) -> tuple[int, int, int]:
    """Items only the first got right, only the second, and items both answered, joined by item id.

    `StudyError` when the pilot does not know an endpoint or no item was answered by both.
    """
    for endpoint in pair:
        if endpoint not in scores:
            held = ", ".join(sorted(scores)) or "none"
            raise StudyError(f"{name}: no endpoint is called {endpoint!r}; it holds {held}")
    one, two = (scores[endpoint] for endpoint in pair)
    shared = sorted(one.keys() & two.keys())
    if not shared:
        raise StudyError(f"{name}: no item was answered by both {pair[0]!r} and {pair[1]!r}")
    b = sum(one[item] and not two[item] for item in shared)
    c = sum(two[item] and not one[item] for item in shared)
    return b, c, len(shared)
