"""Throughput of one endpoint against a stub server, each client in a process of its own, all in the same run.

    python -m benchmarks.panel --items 3000 --latency 0 50 --concurrency 32 128

Clients: `floor` (aiohttp alone), `openai` (the SDK on aiohttp), `chatopenai` (ChatOpenAI as it comes, on aiohttp, no
retries, nothing stored), `wire` (LangChain's bodies and messages over our connection, nothing stored), `examgen` (a
shard of the panel: retry layer, journal, parser, Parquet) and `direct` (the same shard without LangChain: what leaving
it out would give). Peers run in environments of their own, in the same run:

    python -m benchmarks.panel --peer-python lm_eval=PATH_OF_PYTHON inspect_ai=PATH_OF_PYTHON

Printed: items a second, client CPU seconds per 1,000 items, peak memory in MiB and how much of it came after the
imports, peak requests in flight as the server saw them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = ("floor", "openai", "chatopenai", "wire", "examgen", "direct")
SHARDS = ("examgen", "direct")
PEERS = ("lm_eval", "inspect_ai")


def make_bank(folder: Path, count: int) -> tuple[str, list[str]]:
    """A bank of `count` four-option items."""
    from examgen import ids
    from examgen.records import BankItem
    from tasks import store

    items = []
    for number in range(count):
        options = tuple(f"finding {number} {word} on the axial image" for word in ("alpha", "beta", "gamma", "delta"))
        stem = f"In case {number}, which finding is expected in a patient with a lesion next to the lateral ventricle?"
        name = ids.item_id(stem, options, options[number % 4])
        items.append(
            BankItem(
                item_id=name,
                candidate_id=name,
                topic_id="t",
                topic="T",
                subtopic="S",
                stratum="easy",
                stem=stem,
                options=options,
                key=number % 4,
                key_letter="ABCD"[number % 4],
                explanation="",
                evidence=(),
                writer="benchmark",
            )
        )
    path = str(folder / "bank.parquet")
    store.write(path, "bank", items)
    return path, [item.item_id for item in items]


def _prompts(bank: str) -> list[str]:
    from examgen import tables
    from examgen.answers import prompt
    from examgen.records import BankItem

    return [prompt(item).messages[-1][1] for item in tables.read_records(bank, BankItem)]


async def _workers(texts: list[str], concurrency: int, ask: Any) -> None:
    queue = iter(texts)

    async def work() -> None:
        for text in queue:
            await ask(text)

    await asyncio.gather(*(work() for _ in range(concurrency)))


async def _floor(texts: list[str], url: str, concurrency: int) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:

        async def ask(text: str) -> None:
            body = {"model": "m", "messages": [{"role": "user", "content": text}], "temperature": 0.0, "max_tokens": 16}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                str((await response.json())["choices"][0]["message"]["content"])

        await _workers(texts, concurrency, ask)


async def _openai(texts: list[str], url: str, concurrency: int) -> None:
    import openai

    async with openai.AsyncOpenAI(
        base_url=url, api_key="k", max_retries=0, http_client=openai.DefaultAioHttpClient()
    ) as client:

        async def ask(text: str) -> None:
            reply = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": text}], temperature=0.0, max_tokens=16
            )
            str(reply.choices[0].message.content)

        await _workers(texts, concurrency, ask)


async def _chatopenai(texts: list[str], url: str, concurrency: int) -> None:
    import openai
    from langchain_core.messages import HumanMessage
    from langchain_openai import ChatOpenAI

    client = openai.DefaultAioHttpClient()
    settings: dict[str, Any] = {"model": "m", "base_url": url, "api_key": "k", "max_retries": 0, "cache": False}
    model = ChatOpenAI(**settings, http_async_client=client)

    async def ask(text: str) -> None:
        reply = await model.ainvoke([HumanMessage(content=text)], temperature=0.0, extra_body={"max_tokens": 16})
        str(reply.content)

    await _workers(texts, concurrency, ask)
    await client.aclose()


async def _wire(texts: list[str], url: str, concurrency: int) -> None:
    from examgen.chat import ChatRequest
    from examgen.study import Endpoint
    from tasks.capability import Capability
    from tasks.llm import LangChainWire

    wire = LangChainWire(Endpoint(id="e", base_url=url, model="m"), url, "k")
    capability = Capability()

    async def ask(text: str) -> None:
        await wire.send(ChatRequest((("user", text),), "benchmark", 0.0, 16), capability)

    await _workers(texts, concurrency, ask)
    await wire.close()


def _leave_langchain_out() -> None:
    """Put a wire in the place of LangChain's that makes the body and reads the reply itself."""
    import ssl

    from examgen.chat import ChatRequest
    from examgen.study import Endpoint
    from tasks import llm
    from tasks.asking import Attempt
    from tasks.capability import Capability
    from tasks.connection import Connection

    class DirectWire:
        def __init__(self, endpoint: Endpoint, base_url: str, key: str) -> None:
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            self._endpoint = endpoint
            self._connection = Connection(base_url, "chat/completions", headers, ssl.create_default_context())

        async def send(self, request: ChatRequest, capability: Capability) -> Attempt:
            body = {
                "model": self._endpoint.model,
                "messages": [{"role": role, "content": text} for role, text in request.messages],
                "temperature": request.temperature,
                capability.token_field: request.max_tokens,
            }
            async with asyncio.timeout(self._endpoint.timeout):
                found = json.loads((await self._connection.post(body)).body)
            choice, usage = found["choices"][0], found["usage"]
            return Attempt(
                "answered",
                choice["message"]["content"],
                choice["finish_reason"],
                prompt_tokens=usage["prompt_tokens"],
                completion_tokens=usage["completion_tokens"],
            )

        async def close(self) -> None:
            await self._connection.close()

    llm.LangChainWire = DirectWire  # type: ignore[misc, assignment]


def _imports(client: str) -> None:
    if client == "floor":
        import aiohttp  # noqa: F401
    elif client == "openai":
        import openai  # noqa: F401
    else:
        import tasks.llm
        import tasks.panel  # noqa: F401


def run_client(client: str, bank: str, ids_file: str, url: str, concurrency: int, out: str) -> None:
    """One client in this process; prints its figures as JSON."""
    _imports(client)
    texts = _prompts(bank) if client not in SHARDS else []
    if client == "direct":
        _leave_langchain_out()
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    if client in SHARDS:
        from examgen.study import Endpoint
        from tasks.panel import evaluate_shard

        names = json.loads(Path(ids_file).read_text())
        report = evaluate_shard(
            bank, names, Endpoint(id="e", base_url=url, model="m", concurrency=concurrency), 0, 0, out
        )
        assert report.complete, report
        count = report.rows
    else:
        ask = {"floor": _floor, "openai": _openai, "chatopenai": _chatopenai, "wire": _wire}[client]
        asyncio.run(ask(texts, url, concurrency))
        count = len(texts)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        json.dumps(
            {
                "rate": count / wall,
                "cpu": 1000 * cpu / count,
                "rss": after.ru_maxrss / 1024,
                "imports": before.ru_maxrss / 1024,
            }
        )
    )


def measure(
    client: str, bank: str, ids_file: str, latency: float, concurrency: int, folder: Path, peer_python: str = ""
) -> dict[str, float]:
    """Start a server, run a client against it, stop both."""
    place = folder / f"address-{time.monotonic_ns()}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.stub_server", str(place), json.dumps({"latency": latency / 1000})],
        cwd=ROOT,
        env=environment,
    )
    try:
        while not place.exists():
            time.sleep(0.05)
        url = place.read_text()
        out = str(folder / f"{time.monotonic_ns()}.parquet")
        command = [sys.executable, "-m", "benchmarks.panel", "--client", client, "--bank", bank, "--ids", ids_file]
        command += ["--url", url, "--at", str(concurrency), "--out", out]
        if peer_python:
            environment.pop("PYTHONPATH")
            command = [peer_python, str(ROOT / "benchmarks" / "panel_peers.py"), client]
            command += [str(folder / f"{client}.jsonl"), url, str(concurrency), f"{out}.peer"]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{client} failed:\n{done.stderr[-2000:]}")
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as handle:
            found["peak"] = json.load(handle)["peak"]
        return found
    finally:
        server.terminate()
        server.wait()


def _peer_items(bank: str, folder: Path) -> None:
    """The bank as each peer reads it."""
    from examgen import tables
    from examgen.records import BankItem

    items = tables.read_records(bank, BankItem)
    asked = [
        {"prompt": text, "letter": item.key_letter} for text, item in zip(_prompts(bank), items, strict=True)
    ]
    chosen = [
        {"id": item.item_id, "input": item.stem, "choices": list(item.options), "target": item.key_letter}
        for item in items
    ]
    for name, rows in (("lm_eval", asked), ("inspect_ai", chosen)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def main() -> None:
    """Measure all clients at all settings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--latency", type=float, nargs="+", default=[0.0, 50.0], help="milliseconds")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[32, 128])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--clients", nargs="+", default=list(CLIENTS), choices=CLIENTS)
    parser.add_argument("--peer-python", nargs="+", default=[], metavar="PEER=PYTHON", help=", ".join(PEERS))
    for name in ("client", "bank", "ids", "url", "out"):
        parser.add_argument(f"--{name}", default="", help=argparse.SUPPRESS)
    parser.add_argument("--at", type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.client:
        run_client(asked.client, asked.bank, asked.ids, asked.url, asked.at, asked.out)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bank, names = make_bank(folder, asked.items)
        ids_file = folder / "ids.json"
        ids_file.write_text(json.dumps(names))
        peers = dict(one.split("=", 1) for one in asked.peer_python)
        if peers:
            _peer_items(bank, folder)
        print(
            f"{'client':<11} {'ms':>4} {'conc':>5} {'items/s':>8} {'cpu/1k':>7} {'MiB':>5} "
            f"{'above imports':>13} {'in flight':>9}"
        )
        for latency in asked.latency:
            for concurrency in asked.concurrency:
                for client in (*asked.clients, *peers):
                    runs = [
                        measure(client, bank, str(ids_file), latency, concurrency, folder, peers.get(client, ""))
                        for _ in range(asked.repeats)
                    ]
                    best = max(run["rate"] for run in runs)
                    cpu = statistics.median(run["cpu"] for run in runs)
                    last = runs[-1]
                    print(
                        f"{client:<11} {latency:>4.0f} {concurrency:>5} {best:>8.0f} {cpu:>7.2f} "
                        f"{last['rss']:>5.0f} {last['rss'] - last['imports']:>13.0f}"
                        f" {last['peak']:>9.0f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
