"""Time and memory of a whole calibration: `python benchmarks/calibration_scale.py [items] [endpoints]`.

Prints the seconds of each table and the peak memory of the process. Input is made by rule; no file is read or written.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from examgen import (
    accuracy,
    calibration,
    construction,
    contrasts,
    difficulty,
    item_analysis,
    key_risk,
    option_order,
    profiles,
)
from examgen.records import LETTERS, STRATA, BankItem, EndpointRow
from examgen.scores import collect
from examgen.study import Statistics


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
    """Run it and print a line a table."""
    items, endpoints = (int(sys.argv[n]) if len(sys.argv) > n else default for n, default in ((1, 300_000), (2, 12)))
    bank, frame, panel = make(items, endpoints)
    settings = Statistics(permutations=100)
    begin = time.perf_counter()
    answers = collect(bank, frame, panel)
    fit = item_analysis.transposed_fit(answers)
    print(f"collect and 2PL      {time.perf_counter() - begin:8.1f} s", flush=True)
    parts: dict[str, Callable[[], Any]] = {
        "accuracy": lambda: accuracy.overall_rows(answers, settings),
        "axes": lambda: accuracy.axis_rows(answers, settings),
        "topics": lambda: accuracy.topic_rows(answers, settings),
        "difficulty": lambda: difficulty.difficulty_rows(answers, easiness=item_analysis.easiness(answers, fit)),
        "contrasts": lambda: contrasts.contrast_rows(answers, settings),
        "cue probe": lambda: calibration.cue_rows({"this bank": bank}, answers, settings),
        "key risk": lambda: key_risk.key_risk_rows(answers),
        "option order": lambda: option_order.option_order_rows(answers),
        "leave one out": lambda: difficulty.leave_one_out_rows(answers),
        "reliability": lambda: [*difficulty.panel_rows(answers), *item_analysis.analysis_rows(answers, fit)],
        "construction": lambda: construction.construction_rows(answers),
        "profiles": lambda: [profiles.profile_rows(answers, axes) for axes in profiles.crossings(answers)],
        "short form": lambda: item_analysis.short_form_rows(answers),
    }
    for name, work in parts.items():
        start, used = time.perf_counter(), time.process_time()
        work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        spent = time.process_time() - used
        took = time.perf_counter() - start
        print(f"{name:20s} {took:8.1f} s, processor {spent:8.1f} s, peak {peak:4.2f} GiB", flush=True)
    print(f"{'whole':20s} {time.perf_counter() - begin:8.1f} s")


if __name__ == "__main__":
    main()
