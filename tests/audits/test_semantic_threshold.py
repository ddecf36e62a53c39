"""The cosine from which items say the same is found from pairs, and chosen by embedder."""

from __future__ import annotations

import numpy as np
import pytest

from examgen.audits.semantic_threshold import PAPER, chosen, propose

PAIRS = [
    ("paraphrase", "Where is it seen? the pons", "In which part does it lie? the pons"),
    ("paraphrase", "What is it called? a plaque", "Which name has it? a plaque"),
    ("paraphrase", "How is it treated? by infusion", "What is the treatment? an infusion"),
    ("minimal", "How large is it? 3 mm", "How large is it? 8 mm"),
    ("minimal", "Which is used at first? a coil", "Which is used at last? a coil"),
    ("distinct", "What is it called? a plaque", "How is it treated? by infusion"),
]


def test_no_different_pair_passes_and_a_changed_number_does_not_count() -> None:
    cosines = np.array([0.95, 0.82, 0.70, 0.99, 0.801, 0.3])
    found = propose("e", PAIRS, cosines)
    assert found.threshold == 0.81
    assert found.missed == round(1 / 3, 4)
    assert found.false == 0
    assert found.false_by_cosine == round(1 / 3, 4)  # the 8 mm, which the facts tell apart
    assert (found.paraphrases, found.different) == (3, 3)


def test_a_share_of_false_ones_may_be_allowed() -> None:
    cosines = np.array([0.95, 0.82, 0.70, 0.99, 0.801, 0.3])
    assert propose("e", PAIRS, cosines, worst_false=0.34).threshold == 0.50


def test_pairs_of_one_kind_propose_nothing() -> None:
    with pytest.raises(ValueError, match="both kinds"):
        propose("e", PAIRS[:3], np.ones(3))


RECORDS = {"lsa": {"threshold": 0.7, "embedder": "lsa:9:x"}, "mini:1": {"threshold": 0.8, "embedder": "mini:1"}}


@pytest.mark.parametrize(
    ("asked", "embedder", "wanted", "source"),
    [
        (None, "mini:1", 0.8, "calibrated for mini:1"),
        (None, "lsa:256:abc", 0.7, "calibrated for lsa:9:x"),
        (None, "mini:2", PAPER, "not calibrated for this embedder"),
        (None, "openai:large", 0.90, "the paper's"),
        (0.95, "mini:1", 0.95, "set in the study"),
    ],
)
def test_the_threshold_in_force(asked: float | None, embedder: str, wanted: float, source: str) -> None:
    value, told = chosen(asked, embedder, RECORDS)
    assert value == wanted
    assert source in told
