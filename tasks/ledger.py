"""The call ledger: every attempt is a line of JSON, appended as it arrives, so that a killed run loses none it has
paid."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from examgen.chat import FINAL, ChatReply
from examgen.records import Call

_HEAD = b'{"request_hash":"'
"""How a line begins: the hash is the first field of a call."""
_EXTRA = ("final", "logprobs", "attempts", "takes")


@dataclass
class Budget:
    """A hard stop on money. `reserve` what a call may cost before it is sent, `settle` what it did cost."""

    limit: float | None = None
    spent: float = 0.0
    reserved: float = 0.0
    booked: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def reserve(self, most: float) -> bool:
        """Set money aside; False when the limit would be passed."""
        with self._lock:
            if self.limit is not None and self.spent + self.reserved + most > self.limit:
                return False
            self.reserved += most
            return True

    def settle(self, most: float, cost: float | None) -> None:
        """Give back what was set aside and book the real cost; unknown cost is booked as what was set aside."""
        with self._lock:
            self.reserved = max(0.0, self.reserved - most)
            self.spent += most if cost is None else cost
            self.booked += most if cost is None else cost

    def hopeless(self, most: float) -> bool:
        """Whether the limit would be passed even if all that is set aside came back."""
        return self.limit is not None and self.spent + most > self.limit


_budgets: dict[str, Budget] = {}
_budgets_lock = threading.Lock()


JOURNAL = ".calls.jsonl"
"""How the name of every journal ends."""

_writer: ContextVar[str] = ContextVar("writer", default="")
_among_others: ContextVar[bool] = ContextVar("among_others", default=False)


@contextlib.contextmanager
def written_by(name: str, among_others: bool = False) -> Iterator[None]:
    """Journals opened in this block carry this name: two writers that know nothing of each other share no file.

    `among_others` says that other processes pay from the same budget while this one runs.
    """
    token, other = _writer.set(name), _among_others.set(among_others)
    try:
        yield
    finally:
        _writer.reset(token)
        _among_others.reset(other)


def shared_budget(folder: str | Path, limit: float | None) -> Budget:
    """The one budget of everything that is journalled in a folder: what they say was paid, and what is paid now.

    Shards of one process share it, so that endpoints side by side cannot pass the limit together. A worker counts what
    was paid anew for each shard: other workers paid in the meantime, and no two shards that cost money run at once.
    """
    with _budgets_lock:
        name = str(Path(folder).resolve())
        if name not in _budgets or _among_others.get():
            counted = [] if _among_others.get() and limit is None else journals(folder)
            paid = sum(call.cost or 0.0 for place in counted for call in calls_of(place))
            _budgets[name] = Budget(limit, paid)
        _budgets[name].limit = limit
        return _budgets[name]


def paid_now() -> float:
    """Money that this process has spent, in the currency of the endpoints' prices; 0 when no endpoint has any."""
    with _budgets_lock:
        return sum(budget.booked for budget in _budgets.values())


@dataclass
class Ledger:
    """The journal of one shard's calls. With an empty path it lives in memory. `found_out` is what the journals say
    endpoints take, each time something was given up, with the model it was found with.

    `earlier` are journals of other shards whose settled replies count too: what was paid is not asked again because
    items were cut into other shards, or because our code changed. Of them only `wanted` hashes are kept, if given: a
    panel has as many journals as shards, and each shard reads them all.
    """

    path: str = ""
    found_out: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    earlier: Sequence[Path] = ()
    wanted: Collection[str] | None = None
    _final: dict[str, ChatReply] = field(default_factory=dict)
    _handle: IO[bytes] | None = None
    _memory: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        writer = _writer.get()
        if self.path and writer:
            self.path = f"{self.path.removesuffix(JOURNAL)}-{writer}{JOURNAL}"
        wanted = None if self.wanted is None else frozenset(name.encode() for name in self.wanted)
        for other in self.earlier:
            if str(other) != self.path:
                self._take(_lines(other, wanted))
        if not self.path:
            return
        place = Path(self.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        torn = place.exists() and place.stat().st_size > 0 and not _ends_with_newline(place)
        self._take(_lines(place) if place.exists() else ())
        self._handle = place.open("ab", buffering=0)
        if torn:
            self._handle.write(b"\n")

    def _take(self, lines: Iterable[dict[str, Any]]) -> None:
        for line in lines:
            if line.get("final"):
                self._final[line["request_hash"]] = _stored(line)
            elif "takes" in line:
                self.found_out.append((line.get("model", ""), line["takes"]))

    def find(self, request_hash: str, retry_unresolved: bool = False) -> ChatReply | None:
        """The stored reply of a request, if it is settled: answered, or given up and not to be tried again."""
        reply = self._final.get(request_hash)
        if reply is None or (retry_unresolved and (reply.outcome not in FINAL or reply.outcome == "truncated")):
            return None
        return reply

    def add(self, call: Call, reply: ChatReply | None, takes: Mapping[str, Any] | None = None) -> None:
        """Append one attempt; `reply` is given with the last attempt of a request, `takes` when it was learned from."""
        line = {name: value for name, value in call.__dict__.items() if value not in (None, "")}
        if reply is not None:
            self._final[call.request_hash] = reply
            line |= {"final": True, "attempts": reply.attempts}
            if reply.logprobs:
                line["logprobs"] = reply.logprobs
        if takes:
            line["takes"] = dict(takes)
        if self._handle is None:
            self._memory.append(call)
            return
        self._handle.write(
            (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "backslashreplace")
        )

    def forget(self, request_hash: str) -> None:
        """Drop a reply from memory; the journal keeps it."""
        if self._handle is not None:
            self._final.pop(request_hash, None)

    def calls(self) -> Iterator[Call]:
        """Every attempt so far as a row of the table `calls`."""
        return calls_of(self.path) if self.path else iter(self._memory)

    def close(self) -> None:
        """Close the journal."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _ends_with_newline(place: Path) -> bool:
    with place.open("rb") as handle:
        handle.seek(-1, 2)
        return handle.read(1) == b"\n"


def _lines(place: Path, wanted: Collection[bytes] | None = None) -> Iterator[dict[str, Any]]:
    """Whole lines of a journal. A line cut by a kill is skipped: its call was in flight. Lines of hashes that are not
    wanted are not parsed, unless they say what the endpoint takes."""
    with place.open("rb") as handle:
        for raw in handle:
            if wanted is not None and raw.startswith(_HEAD):
                name = raw[len(_HEAD) : raw.find(b'"', len(_HEAD))]
                if name not in wanted and b'"takes":' not in raw:
                    continue
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if isinstance(line, dict) and "request_hash" in line and "outcome" in line:
                yield line


def _stored(line: dict[str, Any]) -> ChatReply:
    return ChatReply(
        text=line.get("reply", ""),
        outcome=line["outcome"],
        request_hash=line["request_hash"],
        finish_reason=line.get("finish_reason", ""),
        error=line.get("error", ""),
        attempts=line.get("attempts", 1),
        prompt_tokens=line.get("prompt_tokens"),
        completion_tokens=line.get("completion_tokens"),
        cost=line.get("cost"),
        latency_seconds=line.get("latency_seconds"),
        logprobs=tuple((token, value) for token, value in line.get("logprobs", ())),
        stored=True,
    )


def calls_of(path: str | Path) -> Iterator[Call]:
    """The rows of a journal, one an attempt."""
    for line in _lines(Path(path)):
        yield Call.model_validate({name: value for name, value in line.items() if name not in _EXTRA})


def journals(folder: str | Path) -> list[Path]:
    """Journals anywhere under a folder, in order of path."""
    return sorted(Path(folder).rglob(f"*{JOURNAL}"))
