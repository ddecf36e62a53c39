"""A test double of Prefect's part: the flows' own code with each stage's work called directly, no server, no artifacts.

Run as a script it does a whole study, so that a test can kill it: python -m tests.without_prefect STUDY RESULTS [build]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from unittest import mock

from prefect.states import State

from flows import bank_releases, build_bank, calibrate_results, evaluate_panel, item_rounds, write_report
from flows.request import StudyRequest

MODULES = (bank_releases, build_bank, item_rounds, evaluate_panel, calibrate_results, write_report)


@contextmanager
def direct(side_by_side: bool = False) -> Iterator[None]:
    """Replace every stage by its work, shards by a loop (or by a thread a lane), artifacts by nothing."""
    patches = []
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if hasattr(value, "work") and hasattr(value, "task"):
                patches.append(mock.patch.object(module, name, value.work))
        if hasattr(module, "run_shards"):
            patches.append(mock.patch.object(module, "run_shards", _in_lanes if side_by_side else _one_by_one))
        if hasattr(module, "artifacts"):
            patches.append(mock.patch.object(module, "artifacts", mock.MagicMock()))
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def _one_by_one(run: Any, shards: Any, lane: Any = None) -> list[Any]:
    return [run(shard) for shard in shards]


def _in_lanes(run: Any, shards: Any, lane: Any) -> list[Any]:
    lanes: dict[str, list[int]] = {}
    for place, shard in enumerate(shards):
        lanes.setdefault(lane(shard), []).append(place)
    found: dict[int, Any] = {}

    def work(places: list[int]) -> None:
        for place in places:
            found[place] = run(shards[place])

    with ThreadPoolExecutor(len(lanes)) as pool:
        list(pool.map(work, lanes.values()))
    return [found[place] for place in range(len(shards))]


def build(study: str, results: str) -> dict[str, Any]:
    """Build the bank of a study."""
    with direct():
        found: dict[str, Any] = build_bank.build_bank.fn(StudyRequest(study=study, results=results))
        return found


def evaluate(request: StudyRequest) -> dict[str, Any]:
    """Ask the panel; what the flow puts into a state that names incomplete endpoints is taken out of it."""
    ended = evaluate_panel.evaluate_panel.fn(request)
    found: dict[str, Any] = ended.data if isinstance(ended, State) else ended
    return found


def run(study: str, results: str) -> dict[str, Any]:
    """Everything a study says."""
    request = StudyRequest(study=study, results=results)
    with direct():
        found: dict[str, Any] = build_bank.build_bank.fn(request)
        found |= {"evaluation": evaluate(request)}
        found |= {"results": calibrate_results.calibrate_results.fn(request)}
        found |= write_report.write_report.fn(request)
    return found


if __name__ == "__main__":
    (build if sys.argv[3:] == ["build"] else run)(sys.argv[1], sys.argv[2])
