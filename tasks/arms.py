"""An arm's own calls: it starts from the stored reply of the endpoint before it, which is not asked again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from examgen import arms, tables
from examgen.answers import AnswerPrompt
from examgen.answers.responses import respond, respond_vote
from examgen.answers.steps import verifier_prompt
from examgen.chat import ChatRequest
from examgen.ids import canonical_json, digest
from examgen.records import BankItem, Response
from examgen.study import Endpoint
from tasks.asking import EndpointModel


@dataclass
class Arm:
    """What one endpoint of kind arm does for one shard. `starts` is the path of the responses it starts from."""

    endpoint: Endpoint
    starts: str
    order: int
    repeat: int
    _rows: dict[str, Response] = field(init=False)

    def __post_init__(self) -> None:
        self._rows = {row.item_id: row for row in tables.read_records(self.starts, Response)}

    async def answer(self, model: EndpointModel, item: BankItem, asked: AnswerPrompt, request: ChatRequest) -> Response:
        """The row of one item. `asked` is the question as the starting endpoint saw it, `request` how this one asks.

        Without a reply to start from the row is unresolved, says why, and costs nothing.
        """
        start = self._rows.get(item.item_id)
        reply = arms.starting_reply(start) if start is not None else ""
        if start is None or not reply:
            return self._unstarted(item, start)
        tagged = replace(request, tag=f"{request.tag}/{self.endpoint.step}/{start.request_hash}")
        if self.endpoint.step == "vote":
            return await self._vote(model, item, asked, tagged, start)
        shown = verifier_prompt(asked, reply)
        said = await model.ask(replace(tagged, messages=shown.messages))
        model.ledger.forget(said.request_hash)
        mode = self.endpoint.mode
        return respond(item, shown, said, self.endpoint.id, self.order, self.repeat, mode, mode_name="verifier")

    async def _vote(
        self, model: EndpointModel, item: BankItem, asked: AnswerPrompt, request: ChatRequest, start: Response
    ) -> Response:
        """Fresh samples of the first prompt, side by side, counted with the reply that is there."""
        requests = [replace(request, tag=f"{request.tag}/{number}") for number in range(self.endpoint.samples)]
        replies = await asyncio.gather(*(model.ask(one) for one in requests))
        for reply in replies:
            model.ledger.forget(reply.request_hash)
        return respond_vote(item, asked, start, replies, {"endpoint_id": self.endpoint.id, "mode": "vote"})

    def _unstarted(self, item: BankItem, start: Response | None) -> Response:
        return Response(
            item_id=item.item_id,
            endpoint_id=self.endpoint.id,
            order=self.order,
            repeat=self.repeat,
            mode=self.endpoint.step,
            rule=arms.UNSTARTED,
            status="unresolved",
            error=arms.why_unstarted(start, self.endpoint.after),
            attempts=0,
        )


def replies_digest(path: str) -> str:
    """Name of the replies that an arm starts from: what each item was answered, whatever it took."""
    told = [(r.item_id, r.request_hash, r.raw, r.shown_letter, r.status) for r in tables.read_records(path, Response)]
    return digest("starts", canonical_json(told))
