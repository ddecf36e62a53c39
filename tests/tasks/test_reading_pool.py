"""Jobs of the reading pool: in order, as many under way as keep the processors busy, no more than memory allows."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from examgen.study import Limits
from tasks import reading_pool
from tasks.reading_pool import ReadingPool, in_order, processors


class Jobs:
    """Jobs that are done at once, and how many were begun."""

    def __init__(self, weights: list[int]) -> None:
        self.weights, self.begun = weights, 0

    def __iter__(self) -> Iterator[tuple[int, Future[dict[str, Any]]]]:
        for number in range(len(self.weights)):
            self.begun += 1
            done: Future[dict[str, Any]] = Future()
            done.set_result({"number": number})
            yield number, done


def most_under_way(weights: list[int], ahead: int, budget: int) -> int:
    jobs = Jobs(weights)
    most = 0
    for place, (number, reply) in enumerate(in_order(jobs, ahead, lambda number: weights[number], budget)):
        assert number == place
        assert reply == {"number": place}
        most = max(most, jobs.begun - place)
    assert jobs.begun == len(weights)
    return most


def test_a_bounded_number_of_jobs_is_under_way() -> None:
    assert most_under_way([1] * 200, ahead=50, budget=1_000) == 50
    assert most_under_way([1] * 7, ahead=50, budget=1_000) == 7
    assert most_under_way([], ahead=50, budget=1_000) == 0


def test_heavy_jobs_are_fewer_and_still_keep_the_processors_busy() -> None:
    busy = 2 * processors() + 1
    assert most_under_way([600] * 200, ahead=50, budget=1_000) == busy
    assert most_under_way([5] * 300, ahead=50, budget=100) == max(21, busy)


def test_a_job_without_a_request_has_no_reply() -> None:
    assert list(in_order([("a", None), ("b", None)], 4, lambda _: 1, 10)) == [("a", None), ("b", None)]


def test_replies_are_kept_before_they_are_given_and_a_closed_pool_begins_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = "import sys; [print('{\"n\": 1}', flush=True) for _ in sys.stdin]"
    monkeypatch.setattr(reading_pool, "COMMAND", ("-c", answers))
    kept: list[dict[str, Any]] = []
    with ReadingPool(Limits().model_dump(), processes=1) as pool:
        assert pool.submit(tmp_path / "a", "text/plain", kept.append).result() == {"n": 1}
        assert kept == [{"n": 1}]
    assert pool._read(tmp_path / "b", "text/plain", kept.append)["reason"] == "reading was stopped"
