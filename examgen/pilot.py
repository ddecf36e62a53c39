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


def parse_pilot(text: str, name: str) -> Scores:
    """The scores of a pilot from CSV with the columns item_id, endpoint, correct; `name` is said in errors.

    `correct` is 1 or 0, true or false, yes or no, or empty where no answer was resolved. `StudyError` names the line.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise StudyError(f"{name}: column {missing[0]!r} is missing; a pilot has the columns {', '.join(COLUMNS)}")
    scores: Scores = {}
    seen: set[tuple[str, str]] = set()
    for row in reader:
        item, endpoint, said = ((row[column] or "").strip() for column in COLUMNS)
        where = f"{name}: line {reader.line_num}"
        if (item, endpoint) in seen:
            raise StudyError(f"{where}: a second answer of {endpoint!r} to item {item!r}: keep one row a pair")
        seen.add((item, endpoint))
        if said and said.lower() not in _RIGHT:
            raise StudyError(f"{where}: correct is {said!r}: write 1, 0 or nothing")
        answered = scores.setdefault(endpoint, {})
        if said:
            answered[item] = _RIGHT[said.lower()]
    return scores


def read_pilot(path: Path) -> Scores:
    """The scores of a pilot file; `StudyError` when it cannot be used."""
    try:
        return parse_pilot(path.read_text(encoding="utf-8"), str(path))
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
