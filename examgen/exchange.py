"""A bank for the field's tools: lm-evaluation-harness, Inspect, Hugging Face."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from examgen.answers import prompt
from examgen.records import LETTERS, BankItem


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)


def lm_eval_files(bank: Sequence[BankItem], name: str) -> dict[str, str]:
    """A task of lm-evaluation-harness: `<name>.yaml` and `<name>.jsonl`, to be run with `--include_path` on their
    folder."""
    task = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{name}.jsonl"}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "prompt",
        "doc_to_choice": "letters",
        "doc_to_target": "key",
        "target_delimiter": " ",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1.0},
    }
    rows = (
        {
            "item_id": item.item_id,
            "prompt": prompt(item).messages[-1][1] + "\nAnswer:",
            "letters": list(LETTERS[: len(item.options)]),
            "key": item.key,
            "topic": item.topic,
            "subtopic": item.subtopic,
            "stratum": item.stratum,
        }
        for item in bank
    )
    return {f"{name}.yaml": yaml.safe_dump(task, sort_keys=False, allow_unicode=True), f"{name}.jsonl": _lines(rows)}


def inspect_files(bank: Sequence[BankItem], name: str) -> dict[str, str]:
    """A dataset for Inspect's `json_dataset`: one sample a line (input, choices, target, id, metadata)."""
    rows = (
        {
            "id": item.item_id,
            "input": item.stem,
            "choices": list(item.options),
            "target": item.key_letter,
            "metadata": {"topic": item.topic, "subtopic": item.subtopic, "stratum": item.stratum},
        }
        for item in bank
    )
    return {f"{name}_inspect.jsonl": _lines(rows)}


def dataset_card(
    bank: Sequence[BankItem], name: str, *, title: str = "", licence: str = "", language: str = "en", bank_id: str = ""
) -> str:
    """The README of a dataset repository whose `data/test.parquet` is the table `bank`."""
    strata = {
        stratum: sum(item.stratum == stratum for item in bank) for stratum in sorted({item.stratum for item in bank})
    }
    size = next(
        label for limit, label in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (10**12, "10K<n<100K")) if len(bank) < limit
    )
    front = {
        "pretty_name": title or name,
        "language": [language],
        "license": licence or "unknown",
        "task_categories": ["multiple-choice", "question-answering"],
        "size_categories": [size],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": "data/test.parquet"}]}],
    }
    writers = sorted({item.writer for item in bank})
    table = "\n".join(f"| {stratum} | {count} |" for stratum, count in strata.items())
    return (
        f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---\n\n# {title or name}\n\n"
        f"{len(bank)} single-best-answer items over {len({item.topic for item in bank})} topics, each with "
        f"verbatim evidence from its source documents.\n\n"
        f"- Bank: {bank_id or 'not recorded'}\n- Written by: {', '.join(writers) or 'not recorded'}\n- Licence: "
        f"{licence or 'not recorded'}\n\n"
        f"| stratum (construction label) | items |\n|---|---|\n{table}\n\n"
        "`key` is the 0-based place of the right option in `options`; `item_id` is the hash of stem, sorted "
        "options and key text. The strata say how an "
        "item was constructed, not how hard it is. Items were made by machine and audited by machine; they are "
        "no clinical guidance.\n"
    )
