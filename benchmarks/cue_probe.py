"""The cue probe on two outside banks: `python benchmarks/cue_probe.py [permutations]`; reads ../shared, writes nothing.

Expected: the generated quizzes near .91 (in nine of ten the key is the longest option), MMLU-Redux near .286.
"""

from __future__ import annotations

import ast
import csv
import json
import sys
import time
from pathlib import Path

from examgen.cue_probe import longest_shares, probe
from examgen.records import LETTERS, BankItem

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def item(name: str, topic: str, stem: str, options: list[str], key: int) -> BankItem:
    """An item without provenance, as an outside bank gives it."""
    return BankItem(
        item_id=name, candidate_id=name, topic_id=topic, topic=topic, subtopic=topic, stratum="easy", stem=stem,
        options=tuple(options), key=key, key_letter=LETTERS[key], explanation="", evidence=(), writer="outside",
    )


def quizzes() -> list[BankItem]:
    """The generated quizzes; the topic is the phase of the lesson."""
    path = SHARED / "banks" / "generated_quizzes" / "quizzes_after_HEAD.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [item(r["id"], r["lesson"].split("/")[1], r["question"], r["options"], r["correct"]) for r in rows]


def redux() -> list[BankItem]:
    """MMLU-Redux; the topic is the subject."""
    with (SHARED / "matrices" / "mmlu_redux_14models.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    return [
        item(r["item_id"], r["subject"], r["question"], list(ast.literal_eval(r["choices"])), "ABCD".index(r["gold"]))
        for r in rows
    ]


def main() -> None:
    """Print a line a bank and set of features."""
    permutations = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name, bank in (("generated quizzes", quizzes()), ("250 of them", quizzes()[::8]), ("MMLU-Redux", redux())):
        print(name, len(bank), {unit: round(share, 3) for unit, share in longest_shares(bank).items()})
        for stem in (False, True):
            begin = time.perf_counter()
            found = probe(bank, stem=stem, permutations=permutations)
            shown = found.accuracy
            print(
                f"  {found.features:28s} {shown.value:.3f} ({shown.low:.3f} to {shown.high:.3f})"
                f"  null {found.null_mean:.3f}, sd {found.null_sd:.3f}, P {found.p:.3f}"
                f"  {time.perf_counter() - begin:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
