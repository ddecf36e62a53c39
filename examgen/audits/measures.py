"""The catalogue of item measures and the frame they fill: one row an item, one column a measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from examgen.audits import cues, flaws, grounding, schema, wording
from examgen.audits.items import AuditItem
from examgen.audits.observations import Observation
from examgen.records import LETTERS, Chunk

Rule = Callable[[AuditItem], Observation]

ITEM_RULES: tuple[Rule, ...] = (
    schema.options_count,
    schema.key_out_of_range,
    schema.empty_stem,
    schema.empty_options,
    schema.empty_explanation,
    schema.empty_labels,
    schema.repeated_options,
    wording.hidden_passage,
    wording.hidden_passage_explained,
    wording.label_reference,
    wording.explanation_contradiction,
    wording.explanation_favours_distractor,
    wording.superficial_trivia,
    wording.recall_stem,
    cues.stem_words,
    cues.option_words_least,
    cues.option_words_most,
    cues.key_advantage,
    cues.key_ratio,
    cues.key_uniquely_longest,
    cues.key_longest,
    cues.key_uniquely_shortest,
    cues.key_stands_out,
    cues.key_extra_clauses,
    cues.placeholder_options,
    cues.short_distractors,
    *flaws.FLAW_RULES,
)
"""Every rule that looks at one item; a rule's column has the rule's name."""

TEXT_COLUMNS = (
    "candidate_id",
    "item_id",
    "topic_id",
    "topic",
    "subtopic",
    "stratum",
    "writer",
    "stem",
    "key_text",
    "key_letter",
    "explanation",
)
"""Text columns of the frame beside the options (option_a, option_b ...)."""

DETAIL = "_seen"
"""Suffix of the column that shows where a measure's value comes from."""


def rule_name(rule: Rule) -> str:
    """Name of a rule, which is the name of its column."""
    return str(rule.__name__)


def observe(item: AuditItem, rules: Iterable[Rule] = ITEM_RULES) -> dict[str, Observation]:
    """What the rules see in one item."""
    return {rule_name(rule): rule(item) for rule in rules}


def _texts(item: AuditItem, width: int) -> dict[str, str]:
    row = {name: str(getattr(item, name)) for name in TEXT_COLUMNS if name != "candidate_id"}
    options = {
        f"option_{LETTERS[place].lower()}": item.options[place] if place < len(item.options) else ""
        for place in range(width)
    }
    return {"candidate_id": item.row_id, **row, **options}


def measure_items(
    items: Sequence[AuditItem], chunks: Mapping[str, Chunk] | None, rules: Sequence[Rule] = ITEM_RULES
) -> pd.DataFrame:
    """A frame of one row an item in the order given, indexed by candidate id, with the item measures.

    A measure that does not apply is NaN, never a number; `<measure>_seen` says what was seen. Without `chunks` every
    measure that needs the passages is NaN.
    """
    width = min(max((len(item.options) for item in items), default=4), len(LETTERS))
    values: dict[str, list[float | None]] = {}
    details: dict[str, list[str]] = {}
    texts: dict[str, list[str]] = {}
    for given in items:
        item = replace(given)  # words cut for the rules go with the copy: they are twenty times an item's own size
        seen = observe(item, rules)
        seen.update(grounding.quote_measures(item, chunks))
        seen.update(grounding.support_measures(item))
        seen["sources_quoted"] = Observation(float(grounding.sources_quoted(item)))
        for name, observation in seen.items():
            values.setdefault(name, []).append(observation.value)
            details.setdefault(name, []).append(observation.detail)
        for name, text in _texts(item, width).items():
            texts.setdefault(name, []).append(text)
    columns: dict[str, object] = dict(texts)
    for name, numbers in values.items():
        columns[name] = pd.array(numbers, dtype="Float64").to_numpy(dtype="float64", na_value=float("nan"))
        if any(details[name]):
            columns[name + DETAIL] = details[name]
    frame = pd.DataFrame(columns)
    if len(frame):
        frame.index = pd.Index(frame["candidate_id"], name=None)
    return frame


def measure_names(frame: pd.DataFrame) -> list[str]:
    """The numeric measures of a frame, in column order."""
    return [str(name) for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]


def measure_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the table `measures`: item by measure, the value None where the measure does not apply.

    Plain rows, because a bank of thousands has hundreds of thousands of them.
    """
    candidates, items = frame["candidate_id"].tolist(), frame["item_id"].tolist()
    rows: list[dict[str, Any]] = []
    for name in measure_names(frame):
        for candidate, item, value in zip(candidates, items, frame[name].tolist(), strict=True):
            known = None if value != value else float(value)
            rows.append({"candidate_id": candidate, "item_id": item, "measure": name, "value": known})
    return rows
