"""Speed of the joint hierarchical bootstrap beside a pandas loop, within one run.

    python benchmarks/bootstrap.py

4,000 replicates x 3,058 items x 13 endpoints in 16 batches. The pandas loop does the same resampling in the plain way
(sample batches, sample rows within each, concat, mean); it runs 60 replicates and its time for 4,000 is
scaled up from them, which is fair because every replicate does the same work. Exits with 1 when a promise is not kept.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import pandas as pd

from examgen.statistics import hierarchical_bootstrap

REPLICATES, ITEMS, ENDPOINTS, BATCHES, LOOP = 4000, 3058, 13, 16, 60


def bank() -> tuple[np.ndarray, np.ndarray]:
    """Random scores in batches of the size of the paper's."""
    rng = np.random.default_rng(0)
    batches = np.sort(rng.integers(0, BATCHES, ITEMS))
    rates = np.clip(0.8 + 0.08 * rng.standard_normal(BATCHES), 0.3, 0.98)[batches][:, None]
    return (rng.random((ITEMS, ENDPOINTS)) < rates).astype(float), batches


def pandas_loop(scores: np.ndarray, batches: np.ndarray, replicates: int) -> np.ndarray:
    """The resampling as one writes it first."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(scores)
    groups = [frame[batches == batch] for batch in range(BATCHES)]
    means = []
    for _ in range(replicates):
        drawn = [groups[batch] for batch in rng.integers(0, BATCHES, BATCHES)]
        resampled = pd.concat([group.sample(len(group), replace=True, random_state=rng) for group in drawn])
        means.append(resampled.mean().to_numpy())
    return np.array(means)


def main() -> int:
    scores, batches = bank()
    hierarchical_bootstrap(scores, batches, replicates=100)
    wall, cpu = [], []
    for _ in range(7):
        start, used = time.perf_counter(), time.process_time()
        drawn = hierarchical_bootstrap(scores, batches, replicates=REPLICATES)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    start, used = time.perf_counter(), time.process_time()
    looped = pandas_loop(scores, batches, LOOP)
    slow = (time.perf_counter() - start) * REPLICATES / LOOP
    slow_cpu = (time.process_time() - used) * REPLICATES / LOOP
    fast, fast_cpu = float(np.median(wall)), float(np.median(cpu))
    print(f"load on this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"vectorised, {REPLICATES} replicates: {fast:.2f} s wall (best {min(wall):.2f}), {fast_cpu:.2f} s processor")
    print(f"pandas loop, {LOOP} measured, scaled to {REPLICATES}: {slow:.1f} s wall, {slow_cpu:.1f} s processor")
    print(f"ratio: {slow / fast:.0f} by wall, {slow_cpu / fast_cpu:.0f} by processor time")
    spread = looped.std(axis=0).mean(), drawn.values.std(axis=0).mean()
    print(f"mean standard error, loop {spread[0]:.4f}, vectorised {spread[1]:.4f}")
    kept = fast <= 0.6 and slow / fast >= 50
    print("promised, by wall time: at most 0.6 s, at least 50 x:", "ok" if kept else "NOT KEPT")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
