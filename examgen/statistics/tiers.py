"""Tiers fixed before scoring, and the abstention probe made of items whose keys disagree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from examgen.errors import StatisticsError
from examgen.statistics.estimate import BoolArray, Estimate
from examgen.statistics.intervals import wilson


@dataclass(frozen=True, slots=True)
class TierRules:
    """What tier A asks for: so many independent keys, unanimous; optionally a rater endorsement.

    `endorsement` is the smallest share of raters who endorse the item, None when raters play no part.
    """

    keys: int = 3
    endorsement: float | None = None

    def __post_init__(self) -> None:
        if self.keys < 1:
            raise StatisticsError(f"tier A needs at least one key, not {self.keys}")
        if self.endorsement is not None and not 0.0 <= self.endorsement <= 1.0:
            raise StatisticsError(f"an endorsement is a share, not {self.endorsement}")


def assign_tiers(
    keys: Sequence[Sequence[str | None]],
    human: Sequence[bool],
    complete_provenance: ArrayLike,
    flagged: ArrayLike,
    *,
    endorsement: Sequence[float | None] | None = None,
    item_ids: Sequence[str] | None = None,
    rules: TierRules | None = None,
) -> pd.DataFrame:
    """Tier of each item: A, B, or "probe" where the independent keys disagree.

    `keys` (n_items, n_sources): the letter each key source gave, None when it gave none. `human`: per source,
    whether a human gave it. `complete_provenance`, `flagged`: per item. Tier A: at least `rules.keys` keys,
    all equal, complete provenance, no audit flag, endorsement where asked for. Tier B: no two keys differ
    but something of A is lacking. No key at all is B, with that reason: it cannot be a probe.

    Columns: item_id, tier, key (missing for a probe), n_keys, agreement (share of the commonest key, missing
    without keys), key_source ("human", "human and model", "model", "none"), reasons (why it is not A).
    """
    chosen = rules or TierRules()
    provenance, flags = _flags(complete_provenance), _flags(flagged)
    n = len(keys)
    ids = [str(i) for i in range(n)] if item_ids is None else [str(i) for i in item_ids]
    support = [None] * n if endorsement is None else list(endorsement)
    if not n == len(ids) == provenance.size == flags.size == len(support):
        raise StatisticsError("keys, provenance, flags, endorsement and ids must speak of the same items")
    rows = []
    for index, given in enumerate(keys):
        if len(given) != len(human):
            raise StatisticsError(f"item {ids[index]} has {len(given)} keys for {len(human)} sources")
        rows.append(
            _tier_row(ids[index], given, human, bool(provenance[index]), bool(flags[index]), support[index], chosen)
        )
    names = ["item_id", "tier", "key", "n_keys", "agreement", "key_source", "reasons"]
    return pd.DataFrame(rows, columns=names).astype({"agreement": "Float64", "n_keys": "int64"})


def tier_hash(tiers: pd.DataFrame) -> str:
    """SHA-256 of the assignment (item_id, tier, key), independent of row order: to be kept in the bank.

    A tier fixed before scoring is one whose hash was in the bank before any response existed.
    """
    rows = sorted(
        (str(item), str(tier), None if pd.isna(key) else str(key))
        for item, tier, key in tiers[["item_id", "tier", "key"]].itertuples(index=False)
    )
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class AbstentionProfile:
    """How an endpoint deals with items that have no agreed key, beside those that have one.

    `abstention`: share of probe items it declined (wanted). `forced`: share it committed to all the same.
    `over_abstention`: share of answerable items it declined (unwanted). `coverage`: share of answerable items it
    answered. `accuracy_answered`: right among those answered. `separation`: abstention minus over-abstention,
    0 for an endpoint that declines blindly; its value has no interval. `unresolved`: rows without an outcome,
    counted and left out.
    """

    abstention: Estimate
    forced: Estimate
    over_abstention: Estimate
    coverage: Estimate
    accuracy_answered: Estimate
    separation: float | None
    unresolved: int


def abstention_profile(
    probe_abstained: ArrayLike,
    answerable_abstained: ArrayLike,
    answerable_correct: ArrayLike,
    *,
    level: float = 0.95,
) -> AbstentionProfile:
    """Profile of one endpoint, Wilson intervals.

    `probe_abstained` (n_probe,) and `answerable_abstained` (n_answerable,): 1 declined, 0 committed, nan
    unresolved. `answerable_correct` (n_answerable,): 1 right, 0 wrong, ignored where the item was declined;
    nan there counts as unresolved.
    """
    probe, declined, right = (
        np.asarray(x, dtype=np.float64).ravel() for x in (probe_abstained, answerable_abstained, answerable_correct)
    )
    if declined.shape != right.shape:
        raise StatisticsError("answerable_abstained and answerable_correct must speak of the same items")
    for vector in (probe, declined, right):
        if not np.isin(vector[~np.isnan(vector)], (0.0, 1.0)).all():
            raise StatisticsError("outcomes are 1, 0 or nan")
    usable = ~np.isnan(declined) & ~((declined == 0) & np.isnan(right))
    unresolved = int(np.isnan(probe).sum() + (~usable).sum())
    probe, declined, right = probe[~np.isnan(probe)], declined[usable], right[usable]
    answered = declined == 0
    held, over = int(probe.sum()), int(declined.sum())
    abstention = wilson(held, probe.size, level=level)
    over_abstention = wilson(over, declined.size, level=level)
    separation = None
    if abstention.value is not None and over_abstention.value is not None:
        separation = abstention.value - over_abstention.value
    return AbstentionProfile(
        abstention,
        wilson(probe.size - held, probe.size, level=level),
        over_abstention,
        wilson(declined.size - over, declined.size, level=level),
        wilson(int(right[answered].sum()), int(answered.sum()), level=level),
        separation,
        unresolved,
    )


def _tier_row(
    item: str,
    given: Sequence[str | None],
    human: Sequence[bool],
    provenance: bool,
    flagged: bool,
    endorsement: float | None,
    rules: TierRules,
) -> tuple[str, str, str | None, int, float | None, str, str]:
    votes = [(key, person) for key, person in zip(given, human, strict=True) if key is not None and key == key]
    letters = [key for key, _ in votes]
    people = sum(person for _, person in votes)
    source = "none"
    if letters:
        source = "model" if people == 0 else "human" if people == len(letters) else "human and model"
    common = max((letters.count(letter) for letter in letters), default=0)
    agreement = common / len(letters) if letters else None
    if len(set(letters)) > 1:
        return item, "probe", None, len(letters), agreement, source, "keys disagree"
    reasons = []
    if len(letters) < rules.keys:
        reasons.append(f"{len(letters)} of {rules.keys} keys")
    if not provenance:
        reasons.append("provenance incomplete")
    if flagged:
        reasons.append("audit flag")
    if rules.endorsement is not None and (endorsement is None or not endorsement >= rules.endorsement):
        reasons.append("endorsement too low or missing")
    key = letters[0] if letters else None
    return item, "B" if reasons else "A", key, len(letters), agreement, source, "; ".join(reasons)


def _flags(values: ArrayLike) -> BoolArray:
    flags = np.asarray(values)
    if flags.ndim != 1 or flags.dtype != np.bool_:
        raise StatisticsError("give one True or False an item")
    return flags
