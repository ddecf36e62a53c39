"""From many shards to one table: sorted, each row there once, a piece at a time."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from examgen import tables
from examgen.errors import TableError
from tasks import store
from tasks.ledger import calls_of

RESPONSE_KEY = ("item_id", "order", "repeat", "mode")
"""What tells the rows of one endpoint apart, in the order they are sorted by."""
PIECE = 16_384
"""Rows of a row group; calls are held as records while one is made."""


def compact_responses(paths: Sequence[str], place: Path, endpoint_id: str, expected: int) -> Counter[str]:
    """Write the responses of an endpoint's shards as one sorted table; returns its rows by status.

    `TableError` when a row is missing, is there twice, or is another endpoint's.
    """
    whole = pa.concat_tables([tables.read_table(path) for path in paths]).combine_chunks()
    keys = whole.select(list(RESPONSE_KEY))
    distinct = keys.group_by(list(RESPONSE_KEY)).aggregate([]).num_rows
    strangers = pc.sum(pc.not_equal(whole["endpoint_id"], endpoint_id)).as_py() or 0
    if whole.num_rows != expected or distinct != whole.num_rows or strangers:
        raise TableError(
            f"endpoint {endpoint_id}: {whole.num_rows} responses of {expected}, {whole.num_rows - distinct} of them "
            f"twice, {strangers} of other endpoints"
        )
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in RESPONSE_KEY])
    pieces = (whole.take(order.slice(start, PIECE)) for start in range(0, len(order), PIECE))
    store.write_stream(place, "responses", pieces)
    counted = whole["status"].value_counts().to_pylist()
    return Counter({str(one["values"]): int(one["counts"]) for one in counted})


def write_calls(journals: Sequence[Path], place: Path) -> tuple[int, dict[tuple[str, str], set[str]]]:
    """Write every attempt in some journals as the table `calls`; returns how many, and by endpoint and model the models
    that replies name."""
    reported: dict[tuple[str, str], set[str]] = defaultdict(set)

    def pieces() -> Iterator[pa.Table]:
        rows = itertools.chain.from_iterable(map(calls_of, journals))
        while piece := list(itertools.islice(rows, PIECE)):
            for call in piece:
                if call.reported:
                    reported[call.endpoint_id, call.model].add(call.reported)
            yield tables.as_table("calls", piece)

    return store.write_stream(place, "calls", pieces()), reported
