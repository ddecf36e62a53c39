"""Measuring the cosine from which an embedder says "the same", and reading what was measured.

python -m tasks.semantic_calibration      measures the local embedders again and prints the record
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examgen.audits.semantic_threshold import NEAR_COLUMNS, SEMANTIC_COLUMNS, SemanticThreshold, chosen, propose
from examgen.study import Audits
from tasks import store
from tasks.embed import Embedder

FOLDER = Path(__file__).resolve().parents[1] / "data" / "calibration"
PAIRS = FOLDER / "paraphrases.tsv"
RECORDS = FOLDER / "semantic_thresholds.json"


def read_pairs(path: Path = PAIRS) -> list[tuple[str, str, str]]:
    """Pairs of kind, left, right."""
    with path.open(encoding="utf-8", newline="") as handle:
        return [(row["kind"], row["left"], row["right"]) for row in csv.DictReader(handle, delimiter="\t")]


def measure(embedder: Embedder, pairs: list[tuple[str, str, str]] | None = None) -> SemanticThreshold:
    """The threshold that an embedder's cosines of the pairs propose."""
    known = read_pairs() if pairs is None else pairs
    left, right = (embedder.embed([pair[side] for pair in known]) for side in (1, 2))
    return propose(embedder.id, known, (left * right).sum(axis=1))


def records() -> Mapping[str, Mapping[str, Any]]:
    """What was measured, by embedder."""
    found: dict[str, dict[str, Any]] = store.read_json(RECORDS)
    return found


def limits(settings: Audits, embedder_id: str) -> tuple[dict[str, float], dict[str, Any]]:
    """Limits by measure that duplicates are judged by in place of the suite's, and a note for the manifest."""
    cosine, source = chosen(settings.semantic_duplicate, embedder_id, records())
    found = dict.fromkeys(SEMANTIC_COLUMNS, cosine)
    if settings.near_duplicate is not None:
        found |= dict.fromkeys(NEAR_COLUMNS, settings.near_duplicate)
    return found, {"cosine": cosine, "source": source, "embedder": embedder_id}


def main() -> None:
    """Measure the two local embedders; the one that learns from a corpus learns from the sample corpus."""
    from tasks.embed_lsa import LatentSemantics
    from tasks.embed_minilm import MiniLM

    corpus = FOLDER.parent / "corpora" / "ms_mri"
    texts = [place.read_text(encoding="utf-8") for place in sorted(corpus.glob("*.md"))]
    passages = [passage for text in texts for passage in text.split("\n\n") if len(passage) > 80]
    for name, embedder in (("", MiniLM()), ("lsa", LatentSemantics(passages, 256))):
        found = measure(embedder)
        print(json.dumps({name or found.embedder: found.record()}, indent=2))


if __name__ == "__main__":
    main()
