"""Speed of the exact sizing beside the simulation it replaces, as ratios within one run.

    python benchmarks/sizing.py

Both sides answer the same question: how many items for 80 % power. The simulation uses 40,000 replicates per size,
vectorised, in two forms: a scan upward one item at a time, and a bisection (which a simulation can only do by hoping
that its noise does not mislead it). Exits with 1 when a promise is not kept.
"""

from __future__ import annotations

import statistics as median_of
import sys
import time
from collections.abc import Callable

from examgen.statistics import Design, power_exact, power_simulated, required_n

CASES = {"7.5 points (.100, .025)": Design(0.1, 0.025), "2.4 points (8, 4)/168": Design(8 / 168, 4 / 168)}


def seconds(action: Callable[[], object], repeats: int = 9) -> float:
    """Median time of a call, after one call to warm up."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return median_of.median(times)


def scan(design: Design, seed: int) -> int:
    """First n whose simulated power reaches .8, from 6 upward."""
    n = 6
    while power_simulated(n, design, seed=seed * 100_000 + n).value < 0.8:  # type: ignore[operator]
        n += 1
    return n


def bisection(design: Design, seed: int) -> int:
    """n by doubling and halving on simulated powers."""
    high = 8
    while power_simulated(high, design, seed=seed * 100_000 + high).value < 0.8:  # type: ignore[operator]
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        reached = power_simulated(middle, design, seed=seed * 100_000 + middle).value >= 0.8  # type: ignore[operator]
        low, high = (low, middle) if reached else (middle, high)
    return high


def main() -> int:
    failures = []

    def promise(label: str, value: float, bound: float, unit: str, *, at_most: bool) -> None:
        kept = value <= bound if at_most else value >= bound
        sign = "<=" if at_most else ">="
        print(f"  {label:<52} {value:10.2f} {unit:<3} (promised {sign} {bound:g}) {'ok' if kept else 'NOT KEPT'}")
        if not kept:
            failures.append(label)

    print("exact power")
    for n, bound in ((168, 5.0), (100_000, 200.0)):
        took = 1e3 * seconds(lambda n=n: power_exact(n, CASES["7.5 points (.100, .025)"]))  # type: ignore[misc]
        promise(f"n = {n:,}", took, bound, "ms", at_most=True)
    for name, design in CASES.items():
        print(f"required n, {name}")
        exact = seconds(lambda design=design: required_n(design))  # type: ignore[misc]
        promise("certified", 1e3 * exact, 50.0, "ms", at_most=True)
        start = time.perf_counter()
        scanned = scan(design, 1)
        scan_time = time.perf_counter() - start
        start = time.perf_counter()
        halved = [bisection(design, seed) for seed in range(1, 6)]
        halving_time = (time.perf_counter() - start) / 5
        found = required_n(design)
        print(f"  exact {found.first} (certified {found.lower}..{found.upper}); scan {scanned}; bisections {halved}")
        promise(f"upward scan ({scan_time:.1f} s) / exact", scan_time / exact, 100.0, "x", at_most=False)
        promise(f"bisection ({1e3 * halving_time:.0f} ms) / exact", halving_time / exact, 10.0, "x", at_most=False)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
