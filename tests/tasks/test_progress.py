"""What a person sees of a long stage: how far, how fast, how long still."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tasks import progress
from tasks.progress import Bars, advance_of, duration


def test_how_far_in_words() -> None:
    assert advance_of(120, 600, 8.0).line() == "120 of 600, 15.0/s, about 32 s left"
    assert advance_of(0, 600, 8.0).line() == "0 of 600"
    assert advance_of(600, 600, 8.0).line() == "600 of 600"
    assert [duration(seconds) for seconds in (5, 600, 7200)] == ["5 s", "10 min", "2.0 h"]


def test_without_a_terminal_one_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    now = [100.0]
    monkeypatch.setattr(progress, "say", said.append)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with Bars() as bars:
        for name in "abcde":
            bars.start(f"asking {name}", 100)
        for _ in range(40):
            now[0] += 1.0
            bars.advance("asking a")
            bars.advance("asking b")
        bars.advance("nobody announced this")
        assert bars.progress_of("asking a").line() == "40 of 100, 1.0/s, about 60 s left"
    assert len(said) == 3, "one in ten seconds, whatever is under way"
    assert said[0].strip() == "asking a 11/100, asking b 10/100, asking c 0/100, 2 more; about 2 min left"


def test_steps_of_a_shard_are_all_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []
    monkeypatch.setattr(progress.bars, "advance", lambda name, steps: told.append((name, steps)))
    with progress.Steps("asking e") as steps:
        for _ in range(1000):
            steps(1)
    assert sum(count for _, count in told) == 1000
    assert {name for name, _ in told} == {"asking e"}
    assert len(told) < 10
