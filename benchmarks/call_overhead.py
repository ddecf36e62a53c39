"""What a call costs this process: the bare `openai` client, LangChain's, and ours with ledger, budget and pacing.

    python -m benchmarks.call_overhead --calls 300 --rounds 5

All three ask a stub server in a process of its own for the same drafts (a prompt of six kilobytes, a JSON schema), in
turns within one run. Printed: processor time a call, the median over the rounds and the smallest, and its ratio to the
bare client's in the same round. `ours, stored` is a rerun: every reply comes from the journal.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import openai

from examgen.chat import ChatRequest
from examgen.drafts import SCHEMA
from examgen.study import Endpoint
from tasks.capability import Capability
from tasks.ledger import Budget
from tasks.llm import LangChainWire, make_model

ROOT = Path(__file__).resolve().parents[1]
PASSAGES = "In multiple sclerosis, ovoid lesions stand at right angles to the lateral ventricle. " * 70
CONCURRENCY = 8
Ask = Callable[[str], Awaitable[None]]


@contextmanager
def stub_server(folder: Path) -> Iterator[str]:
    """A stub server in its own process; its address."""
    place = folder / "address"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen([sys.executable, "-m", "tests.stub_server", str(place)], cwd=ROOT, env=environment)
    try:
        while not place.exists():
            time.sleep(0.05)
        yield place.read_text()
    finally:
        server.terminate()
        server.wait()


async def timed(ask: Ask, texts: list[str]) -> float:
    """Milliseconds of this process's processor a call."""
    queue = iter(texts)

    async def work() -> None:
        for text in queue:
            await ask(text)

    start = time.process_time()
    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return 1000 * (time.process_time() - start) / len(texts)


async def measure(url: str, folder: Path, calls: int, rounds: int) -> dict[str, list[float]]:
    """Milliseconds a call by client, a number a round."""
    bare = openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0, http_client=openai.DefaultAioHttpClient())
    endpoint = Endpoint(id="e", base_url=url, model="m", concurrency=CONCURRENCY, price_in=1, price_out=1)
    wire, capability = LangChainWire(endpoint, url, "k"), Capability()
    ours = make_model(endpoint, journal=str(folder / "calls.jsonl"), budget=Budget(limit=1e9))
    shape = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(SCHEMA)}}

    def request(text: str) -> ChatRequest:
        return ChatRequest((("user", text),), "write", 0.3, 1200, schema=SCHEMA, tag=text[:12])

    async def by_openai(text: str) -> None:
        reply = await bare.chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}], temperature=0.3, max_tokens=1200,
            response_format=shape,  # type: ignore[arg-type]
        )
        assert reply.choices[0].message.content

    async def by_langchain(text: str) -> None:
        assert (await wire.send(request(text), capability)).outcome == "answered"

    async def by_us(text: str) -> None:
        assert (await ours.ask(request(text))).answered

    clients: dict[str, Ask] = {"openai": by_openai, "langchain": by_langchain, "ours": by_us, "ours, stored": by_us}
    found: dict[str, list[float]] = {name: [] for name in clients}
    for ask in (by_openai, by_langchain, by_us):
        await timed(ask, [f"warm {number:>6} {PASSAGES}" for number in range(20)])
    for turn in range(rounds):
        texts = [f"{turn:>3}/{number:>8} {PASSAGES}" for number in range(calls)]
        for name, ask in clients.items():
            found[name].append(await timed(ask, texts))
    await bare.close()
    await wire.close()
    await ours.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, stub_server(Path(name)) as url:
        found = asyncio.run(measure(url, Path(name), asked.calls, asked.rounds))
    print(f"{'client':<14}{'ms a call':>10}{'smallest':>10}{'to openai':>11}")
    for client, values in found.items():
        ratio = statistics.median(one / other for one, other in zip(values, found["openai"], strict=True))
        print(f"{client:<14}{statistics.median(values):>10.2f}{min(values):>10.2f}{ratio:>10.2f}×")


if __name__ == "__main__":
    main()
