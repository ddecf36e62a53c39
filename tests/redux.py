"""MMLU-Redux with the answers of 14 models, which lies beside the repository: a bank that people wrote and checked."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from examgen import ids
from examgen.records import LETTERS, BankItem

MATRIX = Path(__file__).resolve().parents[1].parent / "shared" / "matrices" / "mmlu_redux_14models.csv"


def redux_rows() -> list[dict[str, str]]:
    """The table as it is; skips the test where it is not there."""
    if not MATRIX.exists():
        pytest.skip("MMLU-Redux is not beside the repository")
    with MATRIX.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def redux_bank(rows: Sequence[dict[str, str]]) -> list[BankItem]:
    """Its items as a bank that came without documents: no evidence, no stratum but the first."""
    return [_item(row) for row in rows]


def _item(row: dict[str, str]) -> BankItem:
    stem, key = f"{row['question']} ({row['item_id']})", LETTERS.index(row["gold"])
    options = tuple(f"{text} ({k})" for k, text in enumerate(_choices(row["choices"])))
    return BankItem(
        item_id=ids.item_id(stem, options, options[key]), candidate_id=row["item_id"], topic_id=row["subject"],
        topic=row["subject"], subtopic=row["subject"], stratum="medium", stem=stem, options=options, key=key,
        key_letter=LETTERS[key], explanation="", evidence=(), semantic_parent=row["subject"],
        construction_batch=row["subject"], writer="imported",
    )  # fmt: skip


def _choices(text: str) -> list[str]:
    try:
        return list(json.loads(text))
    except json.JSONDecodeError:
        return list(ast.literal_eval(text))
