"""What a shard of the panel needs beside its ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from examgen import study


@dataclass(frozen=True)
class PanelContext:
    """What a shard needs beside its ids; plain values and paths.

    `base_urls` are the addresses of local servers by endpoint id, `journals` a folder that outlives the try,
    `chunks` and
    `vectors` the paths of the readers' tables, `spent` the money gone before this shard. `no_stem` asks with the
    options
    alone; `retry_unresolved` asks again what an earlier run gave up. `starts` is the responses table of the endpoint
    that an arm starts from, of the same items, order and repeat.
    """

    panel: study.Panel = field(default_factory=study.Panel)
    base_urls: Mapping[str, str] = field(default_factory=dict)
    journals: str = ""
    chunks: str = ""
    vectors: str = ""
    embedding: study.Embedding | None = None
    budget: float | None = None
    spent: float = 0.0
    no_stem: bool = False
    retry_unresolved: bool = False
    starts: str = ""
