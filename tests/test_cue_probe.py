"""The cue probe: finds a planted cue, finds none in random keys, says when it cannot tell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from examgen.cue_probe import longest_shares, pick_credit, probe
from examgen.option_features import Options
from tests.panels import make_bank, make_item
from tests.redux import redux_bank, redux_rows

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def test_a_longer_key_is_found() -> None:
    bank = [
        make_item(n, f"topic {n % 4}", [f"word {n} {k}" + " and much more" * (k == n % 4) for k in range(4)], n % 4)
        for n in range(40)
    ]
    found = probe(bank, permutations=39)
    assert found.accuracy.value == 1.0
    assert found.p == pytest.approx(1 / 40)
    assert found.null_high is not None
    assert found.null_high < 0.6
    assert longest_shares(bank) == {"characters": 1.0, "words": 1.0}


@pytest.mark.parametrize("stem", [False, True])
def test_random_keys_stay_within_the_null(stem: bool) -> None:
    found = probe(make_bank(6, 20, seed=4), stem=stem, permutations=40, seed=2)
    assert found.p is not None
    assert found.p > 0.05
    assert found.null_mean == pytest.approx(0.25, abs=0.03)


def test_the_permutation_test_keeps_its_size() -> None:
    values = [probe(make_bank(4, 8, seed=s), permutations=19, seed=s).p for s in range(30)]
    assert np.mean([value is not None and value <= 0.1 for value in values]) < 0.3


def test_the_same_seed_gives_the_same_null() -> None:
    bank = make_bank(3, 6)
    assert probe(bank, permutations=5, seed=3) == probe(bank, permutations=5, seed=3)


def test_one_topic_is_not_estimable() -> None:
    found = probe(make_bank(1, 20), permutations=5)
    assert found.accuracy.value is None
    assert "1 topic" in found.accuracy.note


def test_ties_share_credit() -> None:
    options = Options.of([["a", "b", "c"], ["d", "e"]])
    assert pick_credit(options, np.array([1.0, 1, 0, 2, 3]), np.array([0, 0])).tolist() == [0.5, 0.0]


def test_generated_quizzes_are_a_positive_control() -> None:
    path = SHARED / "banks" / "generated_quizzes" / "quizzes_after_HEAD.jsonl"
    if not path.exists():
        pytest.skip("the generated quizzes are not beside the repository")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    bank = [
        make_item(n, row["lesson"].split("/")[1], row["options"], row["correct"], stem=f"{row['question']} ({n})")
        for n, row in enumerate(rows)
    ]
    assert probe(bank, permutations=0).accuracy.value == pytest.approx(0.91, abs=0.02)


def test_a_bank_that_people_wrote_has_few_cues() -> None:
    """MMLU-Redux as imported, without documents: a little above chance, far below the generated quizzes."""
    found = probe(redux_bank(redux_rows()), permutations=0)
    assert found.accuracy.value == pytest.approx(0.286, abs=0.02)
    assert found.accuracy.n == 5700
