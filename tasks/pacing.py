"""When a call may go out: adaptive concurrency, rates per minute, back-off, and the breaker that stops a dead
endpoint."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from dataclasses import dataclass, field

LONGEST_WAIT = 600.0
"""Seconds: an endpoint that asks for a longer wait is given up for this request."""


class Gate:
    """A semaphore whose size falls when the endpoint pushes back and recovers while it answers.

    Starts at one call until the first one is back (it finds out what the endpoint can do), then at `setting`. A
    push-back
    takes a quarter off, at most once per `setting` completions begun before it; four good replies give one slot back.
    """

    def __init__(self, setting: int) -> None:
        self.setting = setting
        self.limit = 1.0
        self.in_flight = 0
        self.peak = 0
        self._opened = False
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._fell_at = float("-inf")

    async def enter(self) -> float:
        """Wait for a slot; returns when it was got, on the monotonic clock."""
        while self.in_flight >= int(self.limit):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        return time.monotonic()

    def leave(self, began: float, pushed_back: bool, answered: bool) -> None:
        """Give the slot back and learn from what happened in it."""
        self.in_flight -= 1
        if not self._opened:
            self._opened = True
            self.limit = float(self.setting)
        if pushed_back and began > self._fell_at:
            self.limit = max(1.0, self.limit * 0.75)
            self._fell_at = time.monotonic()
        elif answered and self.limit < self.setting:
            self.limit = min(float(self.setting), self.limit + 0.25)
        self._wake()

    def _wake(self) -> None:
        free = int(self.limit) - self.in_flight
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


@dataclass
class Pace:
    """Requests and tokens per minute, as evenly spaced starts."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    _next: float = 0.0

    async def wait(self, tokens: int) -> None:
        """Wait for this call's turn. `tokens` is what it may use, prompt and reply."""
        gap = 0.0
        if self.requests_per_minute:
            gap = 60.0 / self.requests_per_minute
        if self.tokens_per_minute:
            gap = max(gap, 60.0 * tokens / self.tokens_per_minute)
        if not gap:
            return
        now = time.monotonic()
        start = max(now, self._next)
        self._next = start + gap
        if start > now:
            await asyncio.sleep(start - now)


@dataclass
class Backoff:
    """Exponential waits with full jitter above a floor."""

    first: float = 0.5
    longest: float = 30.0
    _random: random.Random = field(default_factory=random.Random)

    def seconds(self, attempt: int, asked: float | None) -> float:
        """Wait after `attempt` (from 1). A wait the endpoint asked for is a minimum, spread by up to a tenth."""
        if asked is not None:
            return asked * (1 + 0.1 * self._random.random()) + 0.01
        return float(min(self.longest, self.first * 2 ** (attempt - 1)) * (0.5 + 0.5 * self._random.random()))


@dataclass
class Breaker:
    """Opens when calls fail in a row with nothing answered between: the endpoint is dead, not an item bad.

    `refusals` is the number of different requests refused for the endpoint's own sake (key, credit, address,
    connection cut) that opens it; `failures` the same for passing faults; `connects` the number of attempts in a row
    that could not even connect, of whichever request: a server that is not there says nothing about a request.
    """

    refusals: int = 5
    failures: int = 12
    connects: int = 5
    reason: str = ""
    _refused: set[str] = field(default_factory=set)
    _failed: set[str] = field(default_factory=set)
    _unreached: int = 0

    @property
    def open(self) -> bool:
        """Whether nothing is sent any more."""
        return bool(self.reason)

    def answered(self) -> None:
        """Something came back: the endpoint lives."""
        self._refused.clear()
        self._failed.clear()
        self._unreached = 0

    def failed(self, request_hash: str, why: str, refusal: bool, unreached: bool = False) -> None:
        """An attempt failed; opens the breaker when enough have."""
        (self._refused if refusal else self._failed).add(request_hash)
        self._unreached = self._unreached + 1 if unreached else 0
        if (
            len(self._refused) >= self.refusals
            or len(self._failed) >= self.failures
            or self._unreached >= self.connects
        ):
            self.reason = self.reason or why
