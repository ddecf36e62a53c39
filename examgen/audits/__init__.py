"""Audits: small pure measures of items. Great Expectations judges the columns they fill (see
`expectations.acceptance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from examgen.audits import duplicates
from examgen.audits.items import AuditItem
from examgen.audits.measures import measure_items, measure_names, measure_rows
from examgen.records import BankItem, Candidate, Chunk

__all__ = ["AuditItem", "audit_items", "measure", "measure_items", "measure_names", "measure_rows"]


def audit_items(candidates: Sequence[Candidate | BankItem | AuditItem]) -> list[AuditItem]:
    """The audited view of candidates or locked items, in order."""
    return [item if isinstance(item, AuditItem) else AuditItem.of(item) for item in candidates]


def measure(
    candidates: Sequence[Candidate | BankItem | AuditItem],
    chunks: Mapping[str, Chunk] | None,
    vectors: Mapping[str, np.ndarray] | None = None,
    floor: float = duplicates.FLOOR,
) -> pd.DataFrame:
    """Every measure of every item: one row a candidate in the order given, indexed by candidate id.

    `chunks` are the passages by id (None: the measures that need them are NaN); `vectors` the L2-normalised embeddings
    by candidate id (None: semantic measures are NaN). Duplicates are looked for among the candidates themselves, each
    against the earlier ones, from the similarity `floor` up. NaN always means "does not apply" or "not measured".
    """
    items = audit_items(candidates)
    frame = measure_items(items, chunks)
    pairs = duplicates.find_pairs(items, vectors, floor)
    columns = duplicates.duplicate_columns(items, pairs, semantic=bool(vectors))
    whole = pd.concat([frame, columns.set_index(frame.index)], axis=1)
    whole.attrs["floor"] = floor
    return whole
