"""A million responses to Parquet through the code of the panel's compaction: memory, time, size.

    python -m benchmarks.response_memory --rows 1000000 --endpoints 12

Shards are written with the panel's schema, then compacted endpoint by endpoint with their calls, in a
process of its own whose peak memory is what is printed. `--endpoints 1` is the hardest case: all rows are one
endpoint's.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.panel import ROOT

SHARD = 20_000
"""Rows of a file here; the panel's files are smaller and more."""


def make_shards(folder: Path, rows: int, endpoints: int) -> None:
    """Responses with a reply of some words each, and a journal line for each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchmarks.panel import make_bank
    from examgen import ids, tables
    from examgen.answers import prompt
    from examgen.answers.responses import respond
    from examgen.chat import ChatReply
    from examgen.records import BankItem, Response

    path, _ = make_bank(folder, 50)
    items = tables.read_records(path, BankItem)
    one: list[Response] = [
        respond(
            item,
            prompt(item),
            ChatReply(f"The answer is {'ABCD'[n % 4]}.", "answered", "0" * 16, "stop", latency_seconds=1.0),
            "e",
            0,
            0,
            "letter",
        )
        for n, item in enumerate(items)
    ]
    pattern = tables.as_table("responses", one)
    for endpoint in range(endpoints):
        mine = rows // endpoints
        with (folder / f"e{endpoint}.calls.jsonl").open("w") as journal:
            for start in range(0, mine, SHARD):
                numbers = range(start, min(start + SHARD, mine))
                piece = pattern.take(pa.array([n % len(one) for n in numbers]))
                names = [ids.digest("benchmark", n) for n in numbers]
                columns = {"item_id": names, "endpoint_id": [f"e{endpoint}"] * len(names), "request_hash": names}
                for name, values in columns.items():
                    place = piece.schema.get_field_index(name)
                    piece = piece.set_column(place, piece.schema.field(place), pa.array(values))
                pq.write_table(piece, folder / f"e{endpoint}-{start}.parquet", compression="zstd")
                for name in names:
                    line = {"request_hash": name, "purpose": "panel", "endpoint_id": f"e{endpoint}", "model": "m"}
                    journal.write(json.dumps({**line, "outcome": "answered", "reply": "The answer is B."}) + "\n")


def compact(folder: Path, endpoints: int) -> None:
    """Compact in this process; prints its figures."""
    from tasks import compaction

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, cpu = time.perf_counter(), time.process_time()
    rows = 0
    for endpoint in range(endpoints):
        paths = sorted(map(str, folder.glob(f"e{endpoint}-*.parquet")))
        expected = sum(1 for _ in (folder / f"e{endpoint}.calls.jsonl").open())
        place = folder / "out" / f"endpoint_id=e{endpoint}" / "responses.parquet"
        rows += compaction.compact_responses(paths, place, f"e{endpoint}", expected).total()
    calls, _ = compaction.write_calls(sorted(folder.glob("*.calls.jsonl")), folder / "out" / "calls.parquet")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = sum(place.stat().st_size for place in (folder / "out").rglob("*.parquet")) / 1e6
    print(
        f"{rows:,} responses and {calls:,} calls of {endpoints} endpoints: peak {peak:.0f} MiB ({before:.0f} of it "
        f"imports), {time.perf_counter() - start:.0f} s, {time.process_time() - cpu:.0f} CPU s, {size:.0f} MB written"
    )


def main() -> None:
    """Make the shards, then compact them in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--endpoints", type=int, default=12)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.folder:
        compact(Path(asked.folder), asked.endpoints)
        return
    with tempfile.TemporaryDirectory() as name:
        make_shards(Path(name), asked.rows, asked.endpoints)
        words = ["--folder", name, "--endpoints", str(asked.endpoints)]
        subprocess.run([sys.executable, "-m", "benchmarks.response_memory", *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
