"""What a run left, in bytes a row, and what ten million passages and a hundred endpoints would leave at the same rates.

    python -m benchmarks.scale RESULTS/STUDY [--passages N] [--items N] [--endpoints N]

Reads a finished study's folder: tables, journals, embeddings, index, Prefect's database beside it. Then it measures
what a shard needs in memory to hold passages as records, on 20,000 and 60,000 made-up ones. Every line says what was
measured and what is a multiple of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from examgen.records import Chunk
from tasks import store
from tasks.ledger import Ledger

MEMORY = """
import sys, resource
from examgen import tables
from examgen.records import Chunk
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = tables.read_records(sys.argv[1], Chunk)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def bytes_under(place: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    if place.is_file():
        return place.stat().st_size
    return sum(p.stat().st_size for p in place.rglob("*") if p.is_file())


def tables_of(root: Path) -> dict[str, tuple[int, int]]:
    """Rows and bytes of each table of the bank and the evaluation, by name."""
    found: dict[str, tuple[int, int]] = {}
    files = [*root.glob("bank/*/*.parquet"), *root.glob("evaluations/*/*.parquet"),
             *root.glob("evaluations/*/responses/*/*.parquet"), *root.glob("embeddings/*.parquet")]  # fmt: skip
    for place in sorted(files):
        name = "embeddings" if place.parent.name == "embeddings" else place.stem
        rows, size = found.get(name, (0, 0))
        found[name] = (rows + pq.read_metadata(place).num_rows, size + place.stat().st_size)
    return found


def line(what: str, measured: str, at_scale: str) -> None:
    """One row of the page."""
    print(f"| {what} | {measured} | {at_scale} |")


def memory_of(passages: int, folder: Path) -> int:
    """Bytes by which a process grows that reads so many passages of 1,200 characters as records."""
    words = ["lesion", "spinal", "cord", "criteria", "dissemination", "contrast"]
    text = " ".join(words[n % len(words)] for n in range(170))[:1170]
    rows = (
        Chunk(
            chunk_id=f"{n:016x}", source_id=f"{n // 100:016x}", path=f"documents/{n // 100}.pdf", page=1,
            start=n * 1000, end=n * 1000 + 1200, ordinal=n % 100, heading="Imaging", text=f"{text} {n}",
            content_hash=f"{n:032x}",
        )
        for n in range(passages)
    )  # fmt: skip
    place = folder / f"{passages}.parquet"
    store.write(place, "chunks", rows)
    told = subprocess.run([sys.executable, "-c", MEMORY, str(place)], capture_output=True, text=True, check=True)
    return int(told.stdout)


def main() -> int:
    """Measure and multiply."""
    parser = argparse.ArgumentParser()
    parser.add_argument("study", type=Path)
    parser.add_argument("--passages", type=int, default=10_000_000)
    parser.add_argument("--items", type=int, default=30_000)
    parser.add_argument("--endpoints", type=int, default=100)
    asked = parser.parse_args()
    root, found = asked.study, tables_of(asked.study)
    many = {"chunks": asked.passages, "texts": 0, "embeddings": asked.passages, "bank": asked.items,
            "responses": asked.items * asked.endpoints, "calls": asked.items * asked.endpoints}  # fmt: skip
    print("| what | measured | at scale |\n|---|---|---|")
    for name, wanted in many.items():
        rows, size = found.get(name, (0, 0))
        if rows and wanted:
            line(f"table {name}", f"{rows:,} rows, {size / rows:,.0f} B a row", f"{wanted * size / rows / 1e9:,.1f} GB")
    passages = max(1, found.get("chunks", (1, 0))[0])
    index = bytes_under(root / "index")
    line("index folder", f"{index / passages:,.0f} B a passage", f"{asked.passages * index / passages / 1e9:,.0f} GB")
    journals = sorted(root.glob("replies/**/*.calls.jsonl"))
    lines = sum(1 for place in journals for _ in place.open("rb"))
    if lines:
        size = sum(place.stat().st_size for place in journals)
        began = time.process_time()
        for place in journals:
            with tempfile.TemporaryDirectory() as folder:
                Ledger(f"{folder}/new.calls.jsonl", earlier=[place]).close()
        took = (time.process_time() - began) / lines
        replies = asked.items * asked.endpoints
        line("journals", f"{lines:,} lines in {len(journals)}, {size / lines:,.0f} B a line",
             f"{replies * size / lines / 1e9:,.1f} GB")  # fmt: skip
        line("reading a journal again", f"{1e6 * took:,.0f} µs of CPU a line",
             f"{asked.items * took:,.0f} s an endpoint's own, for each of its shards")  # fmt: skip
    database = sum(bytes_under(place) for place in root.parent.glob(".prefect/prefect.db*"))
    shards = len(list(root.glob("work/*/*/done.json")))
    if database:
        per = database / max(1, shards)
        line("Prefect's database", f"{database / 1e6:,.1f} MB, {shards} shards", f"{per:,.0f} B a shard")
    with tempfile.TemporaryDirectory() as folder:
        few, more = (memory_of(n, Path(folder)) for n in (20_000, 60_000))
    each = (more - few) / 40_000
    line("passages in memory", f"{each:,.0f} B a passage", f"{asked.passages * each / 1e9:,.0f} GB in every such shard")
    print(json.dumps({"passages": asked.passages, "items": asked.items, "endpoints": asked.endpoints}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
