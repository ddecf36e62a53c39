"""Accuracy: the paper's Figure 3 and Table IV, three ways of unresolved rows, naive twins."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from examgen.accuracy import axis_rows, group_rows, overall_rows, resampled, topic_rows
from examgen.records import BankItem
from examgen.report.numbers import every, find, value_of
from examgen.scores import Answers, collect
from examgen.study import Statistics
from tests.panels import PANEL, endpoint, make_answers, make_bank, make_item

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
BANK = make_bank()
ENDPOINTS = [endpoint(name, group="API" if n < 3 else "local") for n, name in enumerate(PANEL)]
ANSWERS = collect(BANK, make_answers(BANK, PANEL, missing=0.1), ENDPOINTS)
SETTINGS = Statistics(bootstrap_replicates=300)
ROWS = overall_rows(ANSWERS, SETTINGS)


@pytest.fixture(scope="module")
def paper() -> Answers:
    """The paper's panel from its counts: within a topic it does not matter which items are right."""
    path = SHARED / "cases" / "ms_exam_gen_figure3_correct_counts.csv"
    if not path.exists():
        pytest.skip("the paper's counts are not beside the repository")
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    names = [name for name in rows[0] if name not in ("topic", "n")]
    bank: list[BankItem] = []
    given = []
    for row in rows:
        for place in range(int(row["n"])):
            item = make_item(len(bank), row["topic"], ["a 0", "b 1", "c 2", "d 3"], 0, stem=f"question {len(bank)}")
            bank.append(item)
            for name in names:
                right = place < int(row[name])
                answered = {"choice": 0 if right else 1, "status": "parsed", "correct": right}
                given.append({"item_id": item.item_id, "endpoint_id": name, "mode": "letter", **answered})
    assert len(given) == 36_696
    return collect(bank, given, [endpoint(name) for name in names])


def test_the_paper_s_totals(paper: Answers) -> None:
    assert paper.scores.sum(axis=0).astype(int).tolist() == [
        2743, 2707, 2657, 2616, 2581, 2548, 2483, 2465, 2378, 2235, 2196, 1434,
    ]  # fmt: skip
    assert 13 * len(paper.items) == 39_754


def test_the_paper_s_table_iv(paper: Answers) -> None:
    with (SHARED / "cases" / "ms_exam_gen_table4.csv").open(encoding="utf-8", newline="") as handle:
        published = list(csv.DictReader(handle))
    # 100,000 replicates differ by at most .22 points from the paper's limits; 4,000 add up to .2 of their own noise
    drawn = resampled(paper, Statistics(seed=0), "construction_batch")
    for row in published:
        found = drawn.interval(paper.names.index(row["endpoint"]))
        assert 100 * found.value == pytest.approx(float(row["average"]), abs=0.06)
        assert 100 * found.low == pytest.approx(float(row["ci_low"]), abs=0.35)
        assert 100 * found.high == pytest.approx(float(row["ci_high"]), abs=0.35)


def test_the_paper_s_strata_averages() -> None:
    path = SHARED / "cases" / "ms_exam_gen_table4.csv"
    if not path.exists():
        pytest.skip("the paper's table is not beside the repository")
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    means = [np.mean([float(row[name]) for row in rows]) for name in ("easy", "medium", "hard", "synthesis")]
    assert np.round(means, 2).tolist() == pytest.approx([81.31, 78.79, 77.67, 79.29], abs=0.011)


def test_unresolved_rows_three_ways_equal_a_loop() -> None:
    for column, name in enumerate(PANEL):
        score = ANSWERS.scores[:, column]
        known = score[~np.isnan(score)]
        mine = every(ROWS, endpoint_id=name, axis="overall")
        assert value_of(mine, statistic="accuracy") == pytest.approx(known.mean())
        assert value_of(mine, statistic="accuracy, unresolved as wrong") == pytest.approx(known.sum() / score.size)
        bounds = find(mine, statistic="accuracy, bounds")
        assert bounds is not None
        assert bounds["low"] == pytest.approx(known.sum() / score.size)
        assert bounds["high"] == pytest.approx((known.sum() + score.size - known.size) / score.size)
        assert value_of(mine, statistic="unresolved") == pytest.approx(1 - known.size / score.size)


def test_items_never_asked_are_not_unresolved() -> None:
    half = collect(BANK, make_answers(BANK[:24], {"model-0": 0.5}), ENDPOINTS[:1])
    rows = overall_rows(half, SETTINGS)
    assert value_of(rows, statistic="unresolved") == 0
    assert value_of(rows, statistic="not asked") == 0.5
    assert find(rows, statistic="accuracy")["n"] == 24  # type: ignore[index]


def test_an_endpoint_that_gives_one_letter_is_told() -> None:
    bank = [make_item(n, "t", ["a", "b", "c", "d"], n % 4, stem=f"question {n}") for n in range(40)]

    def row(item: BankItem, name: str, choice: int) -> dict[str, object]:
        answered = {"choice": choice, "status": "parsed", "correct": choice == item.key}
        return {"item_id": item.item_id, "endpoint_id": name, "mode": "letter", **answered}

    given = [row(item, "stuck", 1) for item in bank] + [row(item, "sound", item.key) for item in bank]
    rows = overall_rows(collect(bank, given, [endpoint("stuck"), endpoint("sound")]), SETTINGS)
    stuck = find(rows, endpoint_id="stuck", statistic="commonest letter")
    sound = find(rows, endpoint_id="sound", statistic="commonest letter")
    assert stuck is not None
    assert stuck["note"].startswith("B in 40 of 40 answers: the accuracy is the share of keys")
    assert sound is not None
    assert (sound["value"], sound["note"]) == (0.25, "A in 10 of 40 answers")


def test_ranks_and_widths_are_there() -> None:
    ranks = every(ROWS, statistic="rank")
    assert sorted(row["value"] for row in ranks)[0] == 1
    assert all(row["low"] <= row["value"] <= row["high"] for row in ranks)
    assert value_of(ROWS, statistic="interval width, parents over batches") == pytest.approx(1.0)


def test_topics_and_axes_equal_plain_means() -> None:
    topics = ANSWERS.labels("topic")
    for row in topic_rows(ANSWERS, SETTINGS):
        score = ANSWERS.scores[topics == row["topic"], ANSWERS.names.index(row["endpoint_id"])]
        assert row["value"] == pytest.approx(np.nanmean(score))
    rows = axis_rows(ANSWERS, SETTINGS)
    assert {row["axis"] for row in rows} == {"stratum", "question_type", "site", "difficulty bin", "endpoint group"}
    site = find(rows, endpoint_id="model-1", axis="site", level="B")
    assert site is not None
    assert site["n"] == (~np.isnan(ANSWERS.scores[1::2, 1])).sum()


def test_groups_report_their_range() -> None:
    rows = group_rows(ANSWERS)
    assert [row["level"] for row in rows] == ["API", "local"]
    means = np.nanmean(ANSWERS.scores, axis=0)
    assert rows[0]["low"] == pytest.approx(means[:3].min())
    assert rows[0]["high"] == pytest.approx(means[:3].max())


def test_an_endpoint_without_answers_is_not_estimable() -> None:
    rows = overall_rows(collect(BANK, [], ENDPOINTS[:1]), SETTINGS)
    row = find(rows, statistic="accuracy")
    assert row is not None
    assert row["value"] is None
    assert row["note"]
