"""Evaluating one shard: item ids × one endpoint × one order × one repeat in, a Parquet of responses out.

A shard takes paths and ids only, so that any process can run it. Replies are journalled as they arrive; a rerun
asks only
what is missing.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examgen import arms, study, tables
from examgen.answers import PARSER_VERSION, AnswerPrompt, orders_of, prompt
from examgen.answers.accounting import Account, account
from examgen.answers.responses import forces_letters, reread, respond, respond_likelihood
from examgen.chat import ChatRequest
from examgen.errors import BankError
from examgen.ids import digest, seed_of
from examgen.records import BankItem, Response
from tasks import store
from tasks.arms import Arm
from tasks.asking import EndpointModel, request_hash
from tasks.baseline_panel import baseline_rows
from tasks.garbage import collected_seldom
from tasks.ledger import shared_budget
from tasks.panel_context import PanelContext

__all__ = ["PanelContext", "ShardReport", "evaluate_shard", "journal_path"]

_TOP_LOGPROBS = 20
_LONGEST_OPTION = 96
"""Tokens an option's text may take when its likelihood is asked for."""

Progress = Callable[[int], None]


@dataclass(frozen=True)
class ShardReport:
    """What a shard did. `asked` counts calls sent, `reused` replies found stored; `stopped` says why asking ended
    early, `unresolved_because` what was most often said of the rows that are not settled."""

    endpoint_id: str
    order: int
    repeat: int
    out: str
    rows: int
    asked: int
    reused: int
    seconds: float
    account: Account
    capabilities: str = ""
    stopped: str = ""
    peak_in_flight: int = 0
    unresolved_because: str = ""

    @property
    def complete(self) -> bool:
        """Whether every row is settled; an endpoint with an incomplete shard is marked incomplete."""
        return not self.stopped and self.account.complete


def evaluate_shard(
    bank_path: str,
    item_ids: Sequence[str],
    endpoint: study.Endpoint,
    order: int,
    repeat: int,
    out: str,
    *,
    context: PanelContext | None = None,
    progress: Progress | None = None,
) -> ShardReport:
    """Ask one endpoint about some items of a bank and write the rows; whatever is already settled is not asked again.

    Items with fewer than `order` + 1 options have no such order and no row. `progress` is called with numbers of rows
    done since.
    Raises BankError for an unknown item, InputError or EndpointError for an unusable endpoint; what the endpoint does
    wrong is in the rows.
    """
    context = context or PanelContext()
    start = time.monotonic()
    bank = _bank(bank_path, _stamp(bank_path))
    missing = [name for name in item_ids if name not in bank]
    if missing:
        raise BankError(
            f"{bank_path}: no item {missing[0]!r} (and {len(missing) - 1} more): evaluate the bank the ids come from"
        )
    items = [bank[name] for name in item_ids if order in orders_of(len(bank[name].options), "all")]
    asked = reused = peak = 0
    stopped = capabilities = ""
    if endpoint.kind == "baseline":
        rows = baseline_rows(list(bank.values()), items, endpoint, order, repeat, context)
        if progress:
            progress(len(rows))
    else:
        shard = _Shard(bank, items, endpoint, order, repeat, out, context, progress)
        with collected_seldom():
            rows = asyncio.run(shard.run())
        asked, reused, peak, stopped, capabilities = (
            shard.asked,
            shard.reused,
            shard.peak,
            shard.stopped,
            shard.capabilities,
        )
    store.write(out, "responses", rows)
    return ShardReport(
        endpoint.id,
        order,
        repeat,
        out,
        len(rows),
        asked,
        reused,
        round(time.monotonic() - start, 3),
        account(rows),
        capabilities,
        stopped,
        peak,
        _commonest_error(rows),
    )


def _commonest_error(rows: Sequence[Response]) -> str:
    said = Counter(row.error for row in rows if row.status == "unresolved")
    return said.most_common(1)[0][0][:200] if said else ""


def _stamp(path: str) -> tuple[int | None, Any]:
    """Size and time of a file: what tells that it is still the one that was read."""
    found, inner = tables.filesystem(path)
    about = found.get_file_info(inner)
    return about.size, about.mtime_ns


@functools.lru_cache(maxsize=2)
def _bank(path: str, stamp: tuple[int | None, Any]) -> Mapping[str, BankItem]:
    """The items of a bank by id. Kept, because every shard of a panel wants the same one."""
    del stamp  # it is part of the key under which the items are kept
    return {item.item_id: item for item in tables.read_records(path, BankItem)}


def journal_path(
    endpoint: study.Endpoint, item_ids: Sequence[str], order: int, repeat: int, context: PanelContext, out: str
) -> str:
    """Where a shard's calls are kept: beside the Parquet, or in the context's folder. Named by what the shard asks."""
    mark = "-nostem" if context.no_stem else ""
    name = f"{endpoint.id}-o{order}-r{repeat}{mark}-{digest('shard', *item_ids)}.calls.jsonl"
    folder = Path(context.journals) if context.journals else Path(out).parent
    return str(folder / (name if context.journals else f"_{name}"))


class _Shard:
    """The asking of one shard."""

    def __init__(
        self,
        bank: Mapping[str, BankItem],
        items: Sequence[BankItem],
        endpoint: study.Endpoint,
        order: int,
        repeat: int,
        out: str,
        context: PanelContext,
        progress: Progress | None,
    ) -> None:
        self._items, self._endpoint, self._order, self._repeat = items, endpoint, order, repeat
        self._context, self._progress, self._out = context, progress, out
        self._examples = _examples(bank, context.panel.examples)
        self._mode_name = "no_stem" if context.no_stem else endpoint.mode
        self._constrained = forces_letters(endpoint.extra_body)
        self._kept = _settled_rows(out, endpoint, context)
        self._arm = Arm(endpoint, context.starts, order, repeat) if endpoint.after else None
        self.asked = self.reused = self.peak = 0
        self.stopped = self.capabilities = ""

    async def run(self) -> list[Response]:
        from tasks.llm import make_model

        context = self._context
        asked = {item.item_id: self._prompt(item) for item in self._items}
        requests = {item.item_id: self._requests(item, asked[item.item_id]) for item in self._items}
        journal = journal_path(
            self._endpoint, [item.item_id for item in self._items], self._order, self._repeat, context, self._out
        )
        model = make_model(
            self._endpoint,
            base_url=context.base_urls.get(self._endpoint.id, ""),
            journal=journal,
            budget=shared_budget(Path(journal).parent, context.budget),
            earlier=sorted(Path(journal).parent.glob(f"*{self._endpoint.id}-o*.calls.jsonl")),
            wanted=self._wanted(requests),
            retry_unresolved=context.retry_unresolved,
        )
        room = asyncio.Semaphore(2 * self._endpoint.concurrency + 64)
        rows: dict[str, Response] = {}

        async def one(item: BankItem) -> None:
            try:
                rows[item.item_id] = await self._answer(model, item, asked[item.item_id], requests[item.item_id])
            finally:
                room.release()
            if self._progress:
                self._progress(1)

        try:
            async with asyncio.TaskGroup() as group:
                for item in self._items:
                    await room.acquire()
                    group.create_task(one(item))
        finally:
            self.asked, self.peak, self.stopped = model.sent, model.gate.peak, model.stopped
            self.reused += model.reused
            self.capabilities = model.capability.described()
            await model.close()
        unasked = (row for row in rows.values() if row.attempts == 0 and row.rule != arms.UNSTARTED)
        if not self.stopped and any(row.status == "unresolved" for row in unasked):
            self.stopped = "the study's budget is spent"
        return [rows[item.item_id] for item in self._items]

    def _wanted(self, requests: Mapping[str, Sequence[ChatRequest]]) -> set[str] | None:
        """Hashes of what will be asked; None for an arm, whose requests hold replies that are read on the way."""
        if self._arm is not None:
            return None
        return {request_hash(self._endpoint, request) for each in requests.values() for request in each}

    def _prompt(self, item: BankItem) -> AnswerPrompt:
        panel = self._context.panel
        return prompt(
            item,
            self._order,
            system_prompt=panel.system_prompt,
            abstention=panel.abstention,
            examples=self._examples,
            no_stem=self._context.no_stem,
        )

    def _requests(self, item: BankItem, asked: AnswerPrompt) -> list[ChatRequest]:
        """What is asked about an item: one request, or, for likelihoods, one for each option's text."""
        endpoint, place = self._endpoint, f"{item.item_id}/{self._order}/{self._repeat}"
        if endpoint.mode == "option_likelihood":
            return [
                ChatRequest(
                    (*asked.messages[:-1], ("user", item.stem)),
                    "panel",
                    temperature=endpoint.temperature,
                    max_tokens=_LONGEST_OPTION,
                    token_logprobs=True,
                    extra=_forced(option, endpoint),
                    tag=f"{place}/likelihood/{number}",
                )
                for number, option in enumerate(item.options)
            ]
        wants = endpoint.mode == "letter_logprobs" or endpoint.kind == "local"
        return [
            ChatRequest(
                asked.messages,
                "panel",
                temperature=endpoint.temperature,
                max_tokens=endpoint.max_tokens,
                top_logprobs=_TOP_LOGPROBS if wants else 0,
                tag=f"{place}/{self._mode_name}",
            )
        ]

    async def _answer(
        self, model: EndpointModel, item: BankItem, asked: AnswerPrompt, requests: Sequence[ChatRequest]
    ) -> Response:
        if self._arm is not None:
            return await self._arm.answer(model, item, asked, requests[0])
        abstention = self._context.panel.abstention
        if self._endpoint.mode == "option_likelihood":
            replies = [await model.ask(request) for request in requests]
            return respond_likelihood(item, asked, replies, self._endpoint.id, self._order, self._repeat)
        (request,) = requests
        settled = self._kept.get(item.item_id)
        if settled is not None and settled.request_hash == model.hash_of(request):
            self.reused += 1
            return (
                settled
                if settled.parser_version == PARSER_VERSION
                else reread(settled, item, abstention=abstention, constrained=self._constrained)
            )
        reply = await model.ask(request)
        model.ledger.forget(reply.request_hash)
        return respond(
            item,
            asked,
            reply,
            self._endpoint.id,
            self._order,
            self._repeat,
            self._endpoint.mode,
            constrained=self._constrained,
            mode_name=self._mode_name,
        )


def _forced(text: str, endpoint: study.Endpoint) -> dict[str, object]:
    """What makes a server say exactly this text: a grammar at llama.cpp, a choice of one at vLLM and its kin."""
    if endpoint.kind == "local":
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return {"grammar": f'root ::= "{escaped}"'}
    return {"structured_outputs": {"choice": [text]}}


def _examples(bank: Mapping[str, BankItem], count: int) -> list[BankItem]:
    """Few-shot examples: the same for every item of a bank, drawn by the items' ids."""
    return [bank[name] for name in sorted(bank, key=lambda name: seed_of("example", name))[:count]]


def _settled_rows(out: str, endpoint: study.Endpoint, context: PanelContext) -> dict[str, Response]:
    """Rows of an earlier run that need no call: answered ones, and given-up ones unless those are to be tried again."""
    if "://" not in out and not Path(out).exists():
        return {}
    try:
        rows = tables.read_records(out, Response)
    except (FileNotFoundError, OSError):
        return {}
    again = {"unresolved", "error", "truncated"} if context.retry_unresolved else set()
    return {
        row.item_id: row
        for row in rows
        if row.status not in again
        and (row.status != "unresolved" or (row.rule != "stopped" and row.attempts >= endpoint.attempts))
    }

