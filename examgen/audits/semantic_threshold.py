"""The cosine from which two items say the same: a property of the embedder, found with pairs written by hand.

Embedders spread their cosines differently, so one number does not fit all. From pairs that say the same and pairs that
do not, minimal pairs among them, the lowest threshold is proposed at which few of the pairs that say different things
pass for duplicates. A pair whose typed facts differ is told apart whatever its cosine (`duplicates`), and counts so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from examgen.audits.duplicates import told_apart

PAPER = 0.90
"""The threshold of MS-Exam-Gen (arXiv 2610.06170), for embedders without a record."""

WORST_FALSE = 0.0
"""Share of different pairs that may pass for duplicates at the proposed threshold: none of the hard ones written by
hand. A bank of a thousand items has half a million pairs, so a share that looks small here would reject in hundreds.
"""

SEMANTIC_COLUMNS = ("semantic_duplicate",)  # a neighbour says other things: its limit stays that of the suite
NEAR_COLUMNS = ("near_duplicate", "minimal_pair")


@dataclass(frozen=True)
class SemanticThreshold:
    """A proposed cosine and what it costs: the share of paraphrases it misses and of different pairs it takes for
    the same, of so many pairs of each; `false_by_cosine` is that share without the comparison of facts.
    """

    embedder: str
    threshold: float
    missed: float
    false: float
    false_by_cosine: float
    paraphrases: int
    different: int

    def record(self) -> dict[str, Any]:
        """As stored."""
        return asdict(self)


def propose(
    embedder: str,
    pairs: Sequence[tuple[str, str, str]],
    cosines: np.ndarray,
    worst_false: float = WORST_FALSE,
) -> SemanticThreshold:
    """The lowest threshold in steps of 0.01 at which at most `worst_false` of the different pairs pass.

    `pairs` are (kind, left, right) with the kind "paraphrase" or any other; `cosines` their cosines, shape (n,).
    """
    same = np.array([kind == "paraphrase" for kind, _, _ in pairs])
    apart = np.array([told_apart(left, right) != "" for _, left, right in pairs])
    if not same.any() or same.all():
        raise ValueError("pairs of both kinds are needed: paraphrases and others")

    def false_at(threshold: float, candidates: np.ndarray) -> float:
        return float((cosines[candidates] >= threshold).sum() / (~same).sum())

    steps = [round(0.50 + 0.01 * step, 2) for step in range(50)]
    fit = next((step for step in steps if false_at(step, ~same & ~apart) <= worst_false), steps[-1])
    return SemanticThreshold(
        embedder=embedder,
        threshold=fit,
        missed=round(float(((cosines < fit) | apart)[same].mean()), 4),
        false=round(false_at(fit, ~same & ~apart), 4),
        false_by_cosine=round(false_at(fit, ~same), 4),
        paraphrases=int(same.sum()),
        different=int((~same).sum()),
    )


def chosen(asked: float | None, embedder: str, records: Mapping[str, Mapping[str, Any]]) -> tuple[float, str]:
    """The cosine in force and where it comes from: the study, the embedder's record (by its id, or by its kind for one
    that learns from the corpus), or the paper.
    """
    if asked is not None:
        return asked, "set in the study"
    record = records.get(embedder) or records.get(embedder.partition(":")[0])
    if record is not None:
        return float(record["threshold"]), f"calibrated for {record['embedder']}"
    return PAPER, "the paper's; not calibrated for this embedder"
