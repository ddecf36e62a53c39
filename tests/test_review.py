"""The review round trip: queues out, decisions in, a new release."""

from __future__ import annotations

import pytest

from examgen.agreement import reviewer_rows
from examgen.calibration import calibrate
from examgen.errors import InputError
from examgen.ids import item_id
from examgen.key_risk import MAJORITY
from examgen.locking import unbalanced
from examgen.records import LETTERS, Decision
from examgen.report.numbers import every, find
from examgen.review import SAMPLE, decisions_of, release, review_rows
from examgen.study import Statistics
from examgen.tables import as_table
from tests.panels import PANEL, endpoint, make_answers, make_bank

BANK = make_bank(4, 6)
RESULTS = calibrate(
    BANK, make_answers(BANK, dict.fromkeys(PANEL, 0.4), seed=5), [endpoint(name) for name in PANEL],
    Statistics(bootstrap_replicates=200, permutations=2),
)  # fmt: skip
ROWS = review_rows(BANK, RESULTS)


def decided(place: int, *verdicts: str, letter: str = "") -> list[Decision]:
    return [
        Decision.model_validate(
            {"item_id": BANK[place].item_id, "reviewer": f"r{n}", "decision": verdict,
             "correct_letter": letter if verdict == "wrong key" else ""}
        )
        for n, verdict in enumerate(verdicts)
    ]  # fmt: skip


def test_queues_and_a_sample_are_exported() -> None:
    listed = {row["item_id"] for row in RESULTS["key_risk"]}
    queued = {row["item_id"] for row in RESULTS["item_difficulty"] if row["queue"]}
    exported = {row.item_id: row for row in ROWS}
    assert listed
    assert listed | queued <= set(exported)
    assert all((SAMPLE in row.reason) == (row.item_id not in listed | queued) for row in ROWS)
    first = find(RESULTS["key_risk"], queue=MAJORITY)
    assert first is not None
    row = exported[first["item_id"]]
    assert row.chosen_instead == f"{LETTERS[first['option']]}, {first['votes']} of {first['seen']}"
    assert row.options.count("\n") == 3
    assert row.evidence
    as_table("review", ROWS)


def test_a_panel_without_queues_still_gives_a_sample() -> None:
    results = calibrate(BANK, [], [endpoint("a")], Statistics(bootstrap_replicates=100, permutations=1))
    assert {row.reason for row in review_rows(BANK, results)} == {SAMPLE}


def test_decisions_are_read_and_blank_rows_skipped() -> None:
    rows = [
        {"item_id": "a", "decision": " Wrong_Key ", "reviewer": "x", "correct_letter": "b"},
        {"item_id": "b", "decision": None, "reviewer": ""},
    ]
    assert decisions_of(rows) == [Decision(item_id="a", reviewer="x", decision="wrong key", correct_letter="B")]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"item_id": "a", "decision": "fine", "reviewer": "x"}, "row 2: decision 'fine' is none of"),
        ({"item_id": "a", "decision": "accept", "reviewer": ""}, "needs item_id and reviewer"),
        ({"item_id": "a", "decision": "accept", "reviewer": "x", "correct_letter": "AB"}, "no letter"),
    ],
)
def test_unreadable_decisions_name_their_row(row: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        decisions_of([row], "sheet.csv")


def test_two_different_decisions_of_one_reviewer_are_an_error() -> None:
    rows = [{"item_id": "a", "decision": d, "reviewer": "x"} for d in ("accept", "flawed")]
    with pytest.raises(InputError, match="decided twice"):
        decisions_of(rows)


def test_the_release_follows_the_majority() -> None:
    new = LETTERS[(BANK[3].key + 1) % 4]
    decisions = [
        *decided(0, "accept", "accept", "flawed"), *decided(1, "flawed", "flawed"), *decided(2, "accept", "ambiguous"),
        *decided(3, "wrong key", "wrong key", letter=new), *decided(4, "wrong key"),
    ]  # fmt: skip
    found = release(BANK, decisions)
    kept = {item.candidate_id: item for item in found.items}
    assert len(kept) == len(BANK) - 2
    assert BANK[1].candidate_id not in kept
    assert BANK[4].candidate_id not in kept
    assert kept[BANK[0].candidate_id] == BANK[0]
    assert kept[BANK[2].candidate_id].flags == ("review: disputed",)
    corrected = kept[BANK[3].candidate_id]
    assert corrected.key_letter == new
    assert corrected.item_id == item_id(corrected.stem, corrected.options, corrected.options[corrected.key])
    assert unbalanced(found.funnel) == []
    assert found.facts["review"]["verdicts"] == {"accept": 1, "disputed": 1, "flawed": 1, "wrong key": 2}


def test_no_decision_changes_nothing() -> None:
    assert release(BANK, []).items == BANK


def test_decisions_on_another_bank_are_refused() -> None:
    with pytest.raises(InputError, match="not in this bank"):
        release(BANK, [Decision(item_id="elsewhere", reviewer="x", decision="accept")])


def test_agreement_of_two_and_three_reviewers() -> None:
    decisions = [d for n in range(8) for d in decided(n, "accept", "accept" if n % 4 else "flawed", "accept")]
    rows = reviewer_rows(decisions)
    as_table("agreement", rows)
    assert len(every(rows, statistic="Cohen's kappa")) == 3
    assert find(rows, statistic="percent agreement")["value"] == pytest.approx(1 - 2 * 2 / (8 * 3))  # type: ignore[index]
    alone = reviewer_rows(decided(0, "accept"))
    assert all(row["value"] is None and "needs two" in row["note"] for row in alone)
