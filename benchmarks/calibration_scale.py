"""Time and memory of a whole calibration in one run: `python benchmarks/calibration_scale.py [items] [endpoints]`.

Every results table is made and put into its Parquet schema, as `examgen calibrate` does; prints wall and processor
seconds of each and the peak memory of the process. Input is made by rule; no file is read or written.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pandas as pd

from examgen import calibration, tables
from examgen.records import LETTERS, STRATA, BankItem, EndpointRow
from examgen.scores import collect
from examgen.study import Contrast, Sizing, Statistics

T = TypeVar("T")
CONTRAST = Contrast(name="planned", better=0.1, worse=0.025)


def make(items: int, endpoints: int) -> tuple[list[BankItem], pd.DataFrame, list[EndpointRow]]:
    """A bank of random words in 40 topics and independent answers with a common difficulty."""
    random = np.random.default_rng(0)
    words = [f"word{n}" for n in range(400)]
    picks, keys = random.integers(0, 400, size=(items, 4, 4)), random.integers(0, 4, size=items)
    bank = [
        BankItem(
            item_id=f"{n:016x}", candidate_id=f"c{n}", topic_id=f"t{n % 40}", topic=f"topic {n % 40}", subtopic="s",
            stratum=STRATA[n % 4], stem=f"What holds of {words[n % 400]} in case {n}?",
            options=tuple(" ".join(words[w] for w in line) for line in picks[n]), key=int(keys[n]),
            key_letter=LETTERS[int(keys[n])], explanation="", evidence=(), writer="made by rule",
            construction_batch=f"b{n % 16}", semantic_parent=f"p{n % 13}",
        )
        for n in range(items)
    ]
    hard = random.normal(size=items)
    frames = []
    for place in range(endpoints):
        right = random.normal(size=items) + hard < 1.2 - 0.15 * place
        choice = np.where(right, keys, (keys + 1 + random.integers(0, 3, size=items)) % 4)
        frames.append(
            pd.DataFrame(
                {"item_id": [item.item_id for item in bank], "endpoint_id": f"m{place}", "choice": choice,
                 "correct": right, "status": "parsed"}
            )
        )
    panel = [EndpointRow(endpoint_id=f"m{n}", role="primary", family=f"f{n % 6}") for n in range(endpoints)]
    return bank, pd.concat(frames, ignore_index=True), panel


def main() -> None:
    """Run it and print a line a part: wall and processor seconds, and the peak of the process up to its end."""
    items, endpoints = (int(sys.argv[n]) if len(sys.argv) > n else default for n, default in ((1, 300_000), (2, 12)))
    print(f"{items} items x {endpoints} endpoints")
    begin, used = time.perf_counter(), time.process_time()
    bank, frame, panel = timed("input", lambda: make(items, endpoints))
    made = time.perf_counter()
    answers = timed("collect", lambda: collect(bank, frame, panel))
    settings = Statistics(permutations=100)
    for name, work in calibration.table_works(answers, settings, Sizing(contrasts=(CONTRAST,))).items():
        timed(name, lambda name=name, work=work: tables.as_table(name, work()))
    print(f"{'whole, without input':20s} {time.perf_counter() - made:8.1f} s")
    print(f"{'whole':20s} {time.perf_counter() - begin:8.1f} s, processor {time.process_time() - used:8.1f} s")


def timed(name: str, work: Callable[[], T]) -> T:
    """The outcome of a part, its cost printed."""
    start, used = time.perf_counter(), time.process_time()
    found = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took, spent = time.perf_counter() - start, time.process_time() - used
    print(f"{name:20s} {took:8.1f} s, processor {spent:8.1f} s, peak {peak:6.0f} MiB", flush=True)
    return found


if __name__ == "__main__":
    main()
