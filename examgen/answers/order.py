"""Option orders: cyclic rotations, so that over n orders each option stands once in each place; and the pilot
sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from examgen.ids import seed_of
from examgen.records import BankItem, Response


def shown_order(options: int, order: int) -> tuple[int, ...]:
    """Bank places of the options in the order shown: rotation `order` of 0 … options-1; order 0 is the bank's own."""
    return tuple((place + order) % options for place in range(options))


def content_choice(shown: int, options: int, order: int) -> int:
    """The bank place of what stood at 0-based place `shown`."""
    return shown_order(options, order)[shown]


def orders_of(options: int, setting: Literal[1, 4, "all"]) -> tuple[int, ...]:
    """Orders to ask of an item: the bank's own, the first four rotations, or every rotation; never more than
    `options`."""
    wanted = options if setting == "all" else int(setting)
    return tuple(range(min(wanted, options)))


def disagreement(responses: Iterable[Response]) -> dict[str, int]:
    """Item id -> number of distinct options chosen, over first answers with the stem shown and in the bank's own
    order."""
    chosen: dict[str, set[int]] = defaultdict(set)
    for row in responses:
        if row.choice is not None and row.order == 0 and row.repeat == 0 and row.mode != "no_stem":
            chosen[row.item_id].add(row.choice)
    return {item_id: len(options) for item_id, options in chosen.items()}


def pilot(items: Sequence[BankItem], size: int, disagreement: Mapping[str, int] | None = None) -> list[str]:
    """Ids of a deterministic sample of `size` items, stratified by semantic parent, stratum and earlier disagreement.

    Strata are visited in turn, one item each, so that small ones are reached; within a stratum the order comes from
    the item ids. `disagreement` maps an item id to the number of distinct answers it drew before; without it the
    sample is stratified by the other two alone. Returns ids in ascending order.
    """
    strata: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for item in items:
        history = min((disagreement or {}).get(item.item_id, 0), 3)
        strata[(item.semantic_parent or item.topic_id, item.stratum, history)].append(item.item_id)
    queues = [
        sorted(ids, key=lambda name: seed_of("pilot", name))
        for _, ids in sorted(strata.items(), key=lambda pair: (seed_of("pilot-stratum", *pair[0]), pair[0]))
    ]
    chosen: list[str] = []
    for turn in range(max((len(queue) for queue in queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(chosen) < size:
                chosen.append(queue[turn])
    return sorted(chosen)
