"""The suites decide: every check has a canary, thresholds in the JSON move the accepted set, and nothing passes
silently.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from examgen import audits, ids
from examgen.errors import InputError, TableError
from examgen.records import Candidate, Chunk, Evidence
from expectations import acceptance, engine
from expectations.suites import SUITES, load_suite, suite_hash

TEXT = (
    "In AQP4-IgG-seropositive NMOSD, acute spinal cord lesions typically extend over three or more contiguous "
    "vertebral segments "
    "and occupy the central grey matter of the cord. In MOGAD, lesions of the optic nerve typically affect its "
    "anterior part."
)
CHUNK = Chunk(
    chunk_id="k",
    content_hash=ids.content_hash(TEXT),
    source_id="s",
    path="a.md",
    start=0,
    end=len(TEXT),
    ordinal=0,
    text=TEXT,
)
QUOTE = TEXT[: TEXT.index(" In MOGAD")]
STEM = "In AQP4-IgG-seropositive NMOSD, acute spinal cord lesions typically extend over"
OPTIONS = tuple(
    f"{count} or more contiguous vertebral segments and occupy the {place} of the cord"
    for count in ("three", "two")
    for place in ("central grey matter", "peripheral white matter")
)


def candidate(name: str, stem: str = STEM, options: tuple[str, ...] = OPTIONS, key: int = 0, **changes) -> Candidate:
    quote = Evidence(source_id="s", chunk_id="k", quote=QUOTE, start=0, end=len(QUOTE))
    fields = {
        "topic_id": "t",
        "topic": "NMOSD",
        "subtopic": "Cord",
        "stratum": "medium",
        "explanation": QUOTE,
        "evidence": (quote,),
        "writer": "w",
    }
    key_text = options[key] if 0 <= key < len(options) else ""
    return Candidate(
        candidate_id=name,
        item_id=ids.item_id(stem, options, key_text),
        stem=stem,
        options=options,
        key=key,
        **{**fields, **changes},
    )


@pytest.fixture(scope="module")
def good() -> pd.DataFrame:
    return audits.measure([candidate("good")], {"k": CHUNK})


@pytest.fixture
def suites(tmp_path) -> Path:
    return Path(shutil.copytree(SUITES, tmp_path / "suites"))


def edit(folder: Path, suite: str, check_id: str, **kwargs) -> None:
    path = folder / f"{suite}.json"
    content = json.loads(path.read_text())
    next(e for e in content["expectations"] if e["meta"]["check_id"] == check_id)["kwargs"].update(kwargs)
    path.write_text(json.dumps(content))


def broken(check) -> object:
    """A value that the check must not let pass."""
    if check.type == "expect_column_values_to_be_in_set":
        return "impossible"
    limit = check.kwargs["limit"]
    return {"most": limit + 1, "least": limit - 1, "below": limit}[check.type.rsplit("_", 1)[1]]


@pytest.mark.parametrize("suite", ["item_acceptance", "item_duplicates", "final_bank", "external_bank"])
def test_every_check_has_a_canary(good, suite):
    """One frame with a clean row for each stratum and, for each check, a row that breaks it alone."""
    checks = [check for check in load_suite(SUITES, suite).checks.values() if check.column != "key_letter"]
    rows, expected = [], {}
    base = good.iloc[0].to_dict() | {
        "stem_words": 40.0,
        "option_words_least": 20.0,
        "option_words_most": 22.0,
        "key_advantage": 0.0,
        "quotes": 2.0,
        "sources_quoted": 2.0,
        "repeated_start": 0.0,
        "semantic_duplicate": 0.0,
        "semantic_neighbour": 0.0,
    }
    for stratum in ("easy", "medium", "hard", "synthesis"):
        rows.append(base | {"candidate_id": f"clean {stratum}", "stratum": stratum})
    for check in checks:
        condition = check.kwargs.get("row_condition")
        stratum = condition["parameter"] if condition else "medium"
        rows.append(base | {"stratum": stratum} | {"candidate_id": check.check_id, check.column: broken(check)})
        expected[check.check_id] = "reject" if check.severity == "critical" else "flag"
    judgement = acceptance.judge(pd.DataFrame(rows), SUITES, suite)
    by_row: dict[str, set[str]] = {}
    for finding in judgement.findings:
        by_row.setdefault(finding.candidate_id, set()).add(finding.check_id)
        assert all((finding.limit, finding.reason, finding.observed))
        assert finding.expectation.startswith("expect_")
    for name, severity in expected.items():
        assert name in by_row.get(name, set()), f"{suite}: the canary of {name} sings no more"
        assert (name in judgement.rejected_ids) or severity == "flag"
    assert not [name for name in by_row if name.startswith("clean")], by_row
    assert len(judgement.accepted_ids) + len(judgement.rejected_ids) == len(rows)


def test_unmeasured_is_rejected_unless_the_suite_says_skip(good):
    frame = pd.concat([good, good.assign(candidate_id="other", quotes_not_verbatim=np.nan, label_reference=np.nan)])
    judgement = acceptance.judge(frame, SUITES, "item_acceptance")
    assert judgement.rejected_ids == ("other",)
    finding = next(f for f in judgement.findings if f.check_id == "grounding.verbatim")
    assert finding.observed.startswith("not measured")


def test_a_column_without_any_value_rejects_everybody(good):
    judgement = acceptance.judge(good.assign(quotes=np.nan), SUITES, "item_acceptance")
    assert judgement.rejected_ids == ("good",)
    answer = next(
        a for a in judgement.result["results"] if a["expectation_config"]["meta"]["check_id"] == "grounding.quotes"
    )
    assert not answer["success"]


def test_mostly_is_refused(good, suites):
    edit(suites, "item_acceptance", "wording.hidden_passage", mostly=0.9)
    with pytest.raises(TableError, match="mostly"):
        acceptance.judge(good, suites, "item_acceptance")


def test_a_threshold_in_the_json_changes_the_accepted_set(suites):
    items = [
        candidate(
            "a", stratum="hard", stem=f"{STEM} (in a long hard stem of a good many more words than that, it is said)"
        )
    ]
    frame = audits.measure(items, {"k": CHUNK})
    assert acceptance.judge(frame, suites, "item_acceptance").accepted_ids == ("a",)
    before = suite_hash(suites, "item_acceptance")
    edit(suites, "item_acceptance", "hard.stem_words", limit=60)
    judgement = acceptance.judge(frame, suites, "item_acceptance")
    assert judgement.accepted_ids == ()
    finding = next(f for f in judgement.findings if f.check_id == "hard.stem_words")
    assert (finding.observed, finding.limit, finding.expectation) == (
        "26",
        "at least 60",
        "expect_measure_to_be_at_least",
    )
    assert suite_hash(suites, "item_acceptance") != before


@pytest.mark.parametrize("spoil", ["empty", "duplicate id", "missing id", "missing column", "missing condition column"])
def test_a_frame_that_cannot_be_judged_stops_the_run(good, spoil):
    frames = {
        "empty": good.iloc[:0],
        "duplicate id": pd.concat([good, good]),
        "missing id": good.assign(candidate_id=None),
        "missing column": good.drop(columns="hidden_passage"),
        "missing condition column": good.drop(columns="stratum"),
    }
    with pytest.raises(TableError):
        acceptance.judge(frames[spoil], SUITES, "item_acceptance")


def test_an_exception_inside_a_check_stops_the_run(good):
    with pytest.raises(TableError, match="raised"):
        acceptance.judge(good.assign(hidden_passage="text"), SUITES, "item_acceptance")


@pytest.mark.parametrize(
    "wrong",
    [
        {"severity": "fatal"},
        {"meta": {"reason": "x"}},
        {"meta": {"check_id": "x"}},
        {"type": "expect_the_unexpected"},
        {"kwargs": {"column": "hidden_passage", "limit": 0}},
        {"kwargs": {"column": "hidden_passage", "limit": 0, "unmeasured": "skip", "typo": 1}},
        {
            "kwargs": {
                "column": "quotes",
                "limit": 0,
                "unmeasured": "skip",
                "row_condition": {
                    "type": "comparison",
                    "column": {"name": "stratum"},
                    "operator": "==",
                    "parameter": "harrd",
                },
            }
        },
        {"meta": {"check_id": "wording.hidden_passage", "reason": "x"}},
    ],
)
def test_a_suite_with_a_mistake_is_refused_with_its_name(good, suites, wrong):
    path = suites / "item_acceptance.json"
    content = json.loads(path.read_text())
    content["expectations"][0].update(wrong)
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"item_acceptance\.json"):
        acceptance.judge(good, suites, "item_acceptance")


def test_a_builtin_check_over_empty_values_does_not_pass_silently(good, suites):
    path = suites / "item_acceptance.json"
    content = json.loads(path.read_text())
    content["expectations"] = [
        {
            "type": "expect_column_values_to_be_between",
            "kwargs": {"column": "clang", "max_value": 3},
            "meta": {"check_id": "x", "reason": "y"},
            "severity": "critical",
        }
    ]
    path.write_text(json.dumps(content))
    with pytest.raises(TableError, match="passes over"):
        acceptance.judge(pd.concat([good, good.assign(candidate_id="b", clang=np.nan)]), suites, "item_acceptance")


def test_a_limit_below_what_was_searched_for_is_refused(good, suites):
    edit(suites, "item_duplicates", "duplicates.near", limit=0.5)
    with pytest.raises(TableError, match=r"floor=0\.5"):
        acceptance.judge(good, suites, "item_duplicates")


def test_accept_keeps_the_duplicate_of_a_rejected_item():
    """a is rejected, so b, its duplicate, stays; c falls to b."""
    items = [
        candidate("a", explanation="Option B is wrong."),
        candidate("b"),
        candidate("c", options=OPTIONS[::-1], key=3),
    ]
    result = acceptance.accept(items, {"k": CHUNK})
    assert result.accepted_ids == ("b",)
    assert set(result.rejected_ids) == {"a", "c"}
    finding = next(f for f in result.findings if f.check_id == "duplicates.exact")
    assert (finding.candidate_id, finding.partner) == ("c", "b")
    again = acceptance.accept([candidate("d", options=OPTIONS[::-1], key=3)], {"k": CHUNK}, earlier=[items[1]])
    assert again.accepted_ids == ()


def test_judging_twice_gives_the_same(good):
    one, two = (acceptance.judge(good, SUITES, "item_acceptance") for _ in range(2))
    assert one == two


def test_slices_of_a_large_frame_say_what_the_whole_frame_says(good, monkeypatch):
    """Findings, counts and examples are the same, and the balance of key places is judged over all rows."""
    row = good.iloc[0].to_dict()
    spoilt = ({}, {"hidden_passage": 2.0}, {"clang": np.nan}, {"stratum": "impossible"}, {"stem_words": 2.0})
    rows = [row | {"candidate_id": f"c{n}", "key_letter": "A"} | spoilt[n % 5] for n in range(60)]
    frame = pd.DataFrame(rows)
    for suite in ("item_acceptance", "external_bank", "final_bank"):
        monkeypatch.setattr(engine, "SLICE", 10_000)
        whole = acceptance.judge(frame, SUITES, suite)
        monkeypatch.setattr(engine, "SLICE", 7)
        sliced = acceptance.judge(frame, SUITES, suite)
        for answer in (*whole.result["results"], *sliced.result["results"]):
            # Great Expectations counts each empty value as a value of its own; the slices count them together.
            answer["result"].pop("partial_unexpected_counts", None)
        assert sliced == whole
        assert whole.findings


def test_importing_the_package_costs_no_great_expectations():
    import subprocess
    import sys

    code = "import sys, expectations.acceptance, expectations.contracts; sys.exit('great_expectations' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
