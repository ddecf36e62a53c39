"""Can the key be found without reading the question? A selector trained on the form of the options alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examgen.fold_selector import TOLERANCE, Design, held_out_scores
from examgen.ids import seed_of
from examgen.option_features import (
    Options,
    stem_cosines,
    stem_features,
    structure_features,
    uniquely_longest,
)
from examgen.records import BankItem
from examgen.statistics.clusters import clustered_t
from examgen.statistics.estimate import Estimate, not_estimable

Array = NDArray[np.float64]

STRENGTH = 0.5
"""C of the selector (the paper's)."""
NULL_ITEMS = 3_000
PROBE_ITEMS = 20_000
NULL_TOLERANCE = 1e-3
"""Coefficients of the null are stopped here: picks that near a tie do not move its quantiles."""
METHOD = "standardised balanced logistic selector, C = 0.5, leave one topic out"


@dataclass(frozen=True)
class CueProbe:
    """The selector's accuracy on one set of features, and what it would be with keys drawn at random.

    `accuracy` has a clustered t interval over topics. `null_mean`, `null_low`, `null_high` are the mean and the
    central 95 % of its accuracies over `permutations` redrawn keys, `p` its one-sided permutation P (None when
    no null was run). `compared` is the accuracy on the items of the null (all, or a sample of them).
    """

    features: str
    accuracy: Estimate
    chance: float
    null_mean: float | None
    null_low: float | None
    null_high: float | None
    null_sd: float | None
    p: float | None
    compared: float | None
    permutations: int
    null_items: int
    seed: int


def pick_credit(options: Options, scores: Array, keys: NDArray[np.int64]) -> Array:
    """1 where the best-scored option is the key, shared among ties, (n_items,)."""
    best = scores >= options.item_max(scores) - 1e-9
    ties = np.add.reduceat(best.astype(float), options.start)
    credit: Array = best[options.start + keys] / ties
    return credit


def probe(
    items: Sequence[BankItem], *, stem: bool = False, permutations: int = 100, seed: int = 0, level: float = 0.95
) -> CueProbe:
    """Train on the other topics, pick in the left-out one; compare with keys redrawn within their items.

    A binomial test would be too narrow (all picks share one fit), so the null redraws every key. It runs on at
    most `NULL_ITEMS` items, the selector on at most `PROBE_ITEMS`, sampled by item id. With fewer than two topics or
    ten items nothing can be held out: not estimable.
    """
    used = _sample(items, PROBE_ITEMS)
    features = "structure and stem overlap" if stem else "structure"
    chance = float(np.mean([1 / len(item.options) for item in items])) if items else 0.0
    topics = {item.topic for item in used}
    if len(topics) < 2 or len(used) < 10:
        why = f"{len(topics)} topic(s), {len(used)} items: a topic has to be left out"
        nothing = not_estimable(METHOD, why, n=len(used))
        return CueProbe(features, nothing, chance, None, None, None, None, None, None, 0, 0, seed)
    credit = _Bench(used, stem).credit()
    note = "" if len(used) == len(items) else f"{len(used)} of {len(items)} items, sampled"
    base = clustered_t(credit, [item.topic for item in used], level=level)
    accuracy = Estimate(base.value, base.low, base.high, f"{METHOD}; {base.method}", base.n, None, note or base.note)
    if permutations == 0:
        return CueProbe(features, accuracy, chance, None, None, None, None, None, None, 0, 0, seed)
    tested = _sample(used, NULL_ITEMS)
    bench = _Bench(tested, stem)
    compared = float(bench.credit().mean())
    random = np.random.default_rng(seed_of("cue probe", seed, features))
    null = np.array([bench.credit(bench.redrawn(random), NULL_TOLERANCE).mean() for _ in range(permutations)])
    low, high = np.quantile(null, [0.025, 0.975])
    p = (1 + int((null >= compared - 1e-12).sum())) / (permutations + 1)
    spread = float(null.std(ddof=1)) if permutations > 1 else None
    return CueProbe(
        features, accuracy, chance, float(null.mean()), float(low), float(high), spread, p, compared, permutations,
        len(tested), seed,
    )


def longest_shares(items: Sequence[BankItem]) -> dict[str, float]:
    """Share of items whose key is the one longest option, by characters and by words."""
    options = Options.of([item.options for item in items])
    keys = np.array([item.key for item in items], dtype=np.int64)
    return {unit: uniquely_longest(options, keys, unit) for unit in ("characters", "words")}


class _Bench:
    """The features of a set of items, computed once and used for the keys and every redrawing of them."""

    def __init__(self, items: Sequence[BankItem], stem: bool) -> None:
        self.options = Options.of([item.options for item in items])
        self.keys = np.array([item.key for item in items], dtype=np.int64)
        names, fold = np.unique([item.topic for item in items], return_inverse=True)
        fold = fold.astype(np.int64)
        varying = typical = None
        if stem:
            whole, apart = stem_cosines(self.options, [item.stem for item in items], fold, len(names))
            typical, varying = stem_features(self.options, whole), stem_features(self.options, apart)
        features = structure_features(self.options)
        self.design = Design(features, fold[self.options.item], len(names), varying, typical)

    def credit(self, keys: NDArray[np.int64] | None = None, tolerance: float = TOLERANCE) -> Array:
        """Credit of each item under these keys."""
        chosen = self.keys if keys is None else keys
        target = np.zeros(self.options.item.size)
        target[self.options.start + chosen] = 1.0
        return pick_credit(self.options, held_out_scores(self.design, target, STRENGTH, tolerance), chosen)

    def redrawn(self, random: np.random.Generator) -> NDArray[np.int64]:
        """A key for each item, every option as likely."""
        return random.integers(0, self.options.sizes)


def _sample(items: Sequence[BankItem], limit: int) -> list[BankItem]:
    """At most `limit` items, chosen by their ids, in the bank's order."""
    if len(items) <= limit:
        return list(items)
    kept = sorted(items, key=lambda item: seed_of("cue probe", item.item_id))[:limit]
    names = {item.item_id for item in kept}
    return [item for item in items if item.item_id in names]
