"""What the panel answered, as arrays: one long table of answers and the item × endpoint matrices cut from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examgen.errors import TableError
from examgen.records import NO_STEM_MODES, BankItem, EndpointRow, Response

Array = NDArray[Any]
Role = Literal["primary", "construction_overlap", "baseline", "arm"]
_COLUMNS = ("item_id", "endpoint_id", "order", "repeat", "mode", "choice", "status", "correct")


@dataclass(frozen=True)
class Answers:
    """Final rows of item × endpoint × order × repeat in columns of equal length.

    `item` and `endpoint` are places in `items` and `endpoints`; `choice` is the bank place of the option
    chosen, -1 when none was read; `correct` is 1, 0 or -1 (not resolved); `stemless` marks rows asked with
    the options alone.
    """

    items: tuple[BankItem, ...]
    endpoints: tuple[EndpointRow, ...]
    item: NDArray[np.int32]
    endpoint: NDArray[np.int16]
    order: NDArray[np.int16]
    repeat: NDArray[np.int16]
    choice: NDArray[np.int16]
    correct: NDArray[np.int8]
    stemless: NDArray[np.bool_]
    status: Mapping[tuple[str, str], int]

    @property
    def names(self) -> list[str]:
        """Endpoint ids, in the order of the columns of every matrix."""
        return [row.endpoint_id for row in self.endpoints]

    @cached_property
    def n_options(self) -> NDArray[np.int16]:
        """Number of options of each item, (n_items,)."""
        return np.array([len(item.options) for item in self.items], dtype=np.int16)

    @cached_property
    def keys(self) -> NDArray[np.int16]:
        """Bank place of the key of each item, (n_items,)."""
        return np.array([item.key for item in self.items], dtype=np.int16)

    def labels(self, axis: str) -> Array:
        """One label an item: `topic`, `subtopic`, `stratum`, `semantic_parent`, … or the name of one of its axes."""
        if axis in BankItem.model_fields:
            return np.array([str(getattr(item, axis)) for item in self.items], dtype=object)
        return np.array([next((a.value for a in i.axes if a.name == axis), "") for i in self.items], dtype=object)

    @cached_property
    def axis_names(self) -> list[str]:
        """Names of the axes that items carry beside topic and stratum."""
        return sorted({axis.name for item in self.items for axis in item.axes})

    def columns(self, *roles: Role) -> list[int]:
        """Places of the endpoints that play one of these roles."""
        return [place for place, row in enumerate(self.endpoints) if row.role in roles]

    @cached_property
    def _main(self) -> NDArray[np.int64]:
        """The rows of the main analysis: for each item × endpoint the one of lowest order, then lowest repeat."""
        rows = np.flatnonzero(~self.stemless)
        ranked = rows[np.lexsort((self.repeat[rows], self.order[rows], self.endpoint[rows], self.item[rows]))]
        cell = self.item[ranked].astype(np.int64) * max(1, len(self.endpoints)) + self.endpoint[ranked]
        first = np.ones(cell.size, dtype=bool)
        first[1:] = cell[1:] != cell[:-1]
        return ranked[first]

    def places_chosen(self, column: int) -> NDArray[np.int64]:
        """How often an endpoint chose the option in each place, over the rows asked in the bank's own order."""
        rows = self._main[(self.endpoint[self._main] == column) & (self.order[self._main] == 0)]
        return np.bincount(self.choice[rows][self.choice[rows] >= 0])

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """(n_items, n_endpoints): 1 right, 0 wrong, nan not asked or not resolved."""
        matrix = np.full((len(self.items), len(self.endpoints)), np.nan)
        rows = self._main[self.correct[self._main] >= 0]
        matrix[self.item[rows], self.endpoint[rows]] = self.correct[rows]
        return matrix

    @cached_property
    def _repeated(self) -> NDArray[np.int64]:
        """The rows of the order that each item × endpoint was asked in first, all repeats of it."""
        rows = np.flatnonzero(~self.stemless)
        if not (self.repeat[rows] != 0).any():
            return self._main
        order = np.zeros((len(self.items), len(self.endpoints)), dtype=np.int16)
        order[self.item[self._main], self.endpoint[self._main]] = self.order[self._main]
        return np.asarray(rows[self.order[rows] == order[self.item[rows], self.endpoint[rows]]])

    def _counted(self, rows: NDArray[np.int64], weights: Array | None = None) -> NDArray[np.float64]:
        shape = len(self.items), len(self.endpoints)
        cells = self.item[rows].astype(np.int64) * shape[1] + self.endpoint[rows]
        return np.bincount(cells, weights=weights, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)

    @cached_property
    def _tallies(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Rows asked, rows resolved and rows right of each item × endpoint, over the repeats."""
        rows = self._repeated
        resolved = rows[self.correct[rows] >= 0]
        return self._counted(rows), self._counted(resolved), self._counted(resolved, self.correct[resolved])

    @cached_property
    def mean_scores(self) -> NDArray[np.float64]:
        """(n_items, n_endpoints): share right of the resolved repeats, nan without any. Without repeats: `scores`.

        Accuracies use it. Paired exact tests, misses and item analysis need one answer an item and use `scores`.
        """
        if self._repeated.size == self._main.size:
            return self.scores
        _, resolved, right = self._tallies
        with np.errstate(invalid="ignore"):
            return np.where(resolved > 0, right / np.where(resolved > 0, resolved, 1.0), np.nan)

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean scores with unresolved rows as wrong, and as right; nan where nothing was asked."""
        asked, resolved, right = self._tallies
        safe = np.where(asked > 0, asked, 1.0)
        worst, best = right / safe, (right + asked - resolved) / safe
        return np.where(asked > 0, worst, np.nan), np.where(asked > 0, best, np.nan)

    def repeated(self, column: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Items that an endpoint was asked twice or more in one order: their places, the options chosen
        (n, repeats; -1 for none) and correctness (n, repeats; nan)."""
        mine = self._repeated[self.endpoint[self._repeated] == column]
        width = int(self.repeat[mine].max()) + 1 if mine.size else 0
        chosen = np.full((len(self.items), width), -1, dtype=np.int64)
        right = np.full((len(self.items), width), np.nan)
        asked = np.zeros((len(self.items), width), dtype=bool)
        where = self.item[mine], self.repeat[mine]
        chosen[where], asked[where] = self.choice[mine], True
        right[where] = np.where(self.correct[mine] >= 0, self.correct[mine], np.nan)
        several = np.flatnonzero(asked.sum(axis=1) > 1)
        return several, chosen[several], right[several]

    @cached_property
    def choices(self) -> NDArray[np.int16]:
        """(n_items, n_endpoints): bank place of the chosen option, -1 when none."""
        matrix = np.full((len(self.items), len(self.endpoints)), -1, dtype=np.int16)
        matrix[self.item[self._main], self.endpoint[self._main]] = self.choice[self._main]
        return matrix

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """(n_items, n_endpoints): whether a row exists at all."""
        matrix = np.zeros((len(self.items), len(self.endpoints)), dtype=bool)
        matrix[self.item[self._main], self.endpoint[self._main]] = True
        return matrix


def collect(
    bank: Sequence[BankItem], responses: Iterable[Response | Mapping[str, Any]] | pd.DataFrame,
    endpoints: Sequence[EndpointRow],
) -> Answers:
    """Answers from a bank, its responses (records, plain rows or a frame) and the endpoints.

    `TableError` when a response names an item or an endpoint that is not there, or when two rows share item,
    endpoint, order, repeat and mode. A row whose `correct` is empty stays unresolved, whatever its choice.
    """
    places = {item.item_id: place for place, item in enumerate(bank)}
    if len(places) != len(bank):
        raise TableError("table bank: two items share an item_id")
    columns = {row.endpoint_id: place for place, row in enumerate(endpoints)}
    frame = _frame(responses)
    item = _placed(frame["item_id"], places, "item_id", "bank")
    endpoint = _placed(frame["endpoint_id"], columns, "endpoint_id", "endpoints")
    correct = frame["correct"].map({True: 1, False: 0}).fillna(-1)
    choice = pd.to_numeric(frame["choice"]).fillna(-1)
    stemless = frame["mode"].isin(NO_STEM_MODES).to_numpy(dtype=bool)
    keyed = pd.DataFrame({"i": item, "e": endpoint, "o": frame["order"], "r": frame["repeat"], "s": stemless})
    twice = keyed.duplicated()
    if twice.any():
        row = frame.iloc[int(np.argmax(twice))]
        raise TableError(
            f"table responses: two rows for item {row['item_id']!r}, endpoint {row['endpoint_id']!r}, "
            f"order {row['order']}, repeat {row['repeat']}: keep the final one"
        )
    status = Counter(zip(frame["endpoint_id"], frame["status"], strict=True))
    order, repeat = (frame[name].to_numpy(dtype=np.int16) for name in ("order", "repeat"))
    return Answers(
        tuple(bank), tuple(endpoints), item.astype(np.int32), endpoint.astype(np.int16), order, repeat,
        np.asarray(choice, dtype=np.int16), np.asarray(correct, dtype=np.int8), stemless, dict(sorted(status.items())),
    )


def _frame(responses: Iterable[Response | Mapping[str, Any]] | pd.DataFrame) -> pd.DataFrame:
    """The needed columns of the responses, defaults filled in."""
    if isinstance(responses, pd.DataFrame):
        frame = responses.reset_index(drop=True)
    else:
        rows = [
            tuple(getattr(row, c) for c in _COLUMNS)
            if isinstance(row, Response)
            else tuple(row.get(c) for c in _COLUMNS)
            for row in responses
        ]
        frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    for name, default in (("order", 0), ("repeat", 0), ("mode", "letter"), ("choice", None), ("status", "")):
        if name not in frame:
            frame[name] = default
    missing = [name for name in _COLUMNS if name not in frame]
    if missing:
        raise TableError(f"table responses: column {missing[0]!r} is missing; it needs {', '.join(_COLUMNS)}")
    return frame.assign(order=frame["order"].fillna(0), repeat=frame["repeat"].fillna(0))


def _placed(names: pd.Series, places: Mapping[str, int], column: str, table: str) -> NDArray[np.int64]:
    """Place of each name in the other table; a name that is not there is an error."""
    found = names.map(places)
    lost = found.isna()
    if lost.any():
        raise TableError(
            f"table responses: {column} {names.iloc[int(np.argmax(lost))]!r} is not in table {table} "
            f"({int(lost.sum())} such rows): calibrate responses against the bank they were asked of"
        )
    return np.asarray(found, dtype=np.int64)
