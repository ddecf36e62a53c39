"""Quotes are verbatim, changed facts are named whatever the similarity, and support is judged against the stem."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

from examgen.audits import AuditItem
from examgen.audits.facts import differences
from examgen.audits.grounding import check_quote, closest_span, quote_measures, support_measures
from examgen.ids import content_hash
from examgen.records import Chunk, Evidence

TEXT = (
    "Lesions count when they measure at least 3 mm in long axis. In AQP4-IgG-seropositive NMOSD, cord lesions "
    "extend over three or "
    "more segments and occupy the central grey matter. Contrast is not required at 1.5 T. Natalizumab needs imaging "
    "every 3 months "
    "before therapy. The sensitivity of the 2017 criteria was 83% and that of the 2010 criteria was 49%."
)
CHUNK = Chunk(
    chunk_id="k",
    content_hash=content_hash(TEXT),
    source_id="s",
    path="a.md",
    start=0,
    end=len(TEXT),
    ordinal=0,
    text=TEXT,
)
CHUNKS = {"k": CHUNK}


def evidence(quote: str, start: int | None = None) -> Evidence:
    at = TEXT.find(quote) if start is None else start
    return Evidence(source_id="s", chunk_id="k", quote=quote, start=max(at, 0), end=max(at, 0) + len(quote))


CHANGES = [
    ("number", "measure at least 3 mm in long axis", "measure at least 8 mm in long axis"),
    ("number", "extend over three or more segments", "extend over four or more segments"),
    ("unit", "at least 3 mm in long axis", "at least 3 cm in long axis"),
    ("negation", "Contrast is not required at 1.5 T", "Contrast is required at 1.5 T"),
    ("comparator", "measure at least 3 mm in long axis", "measure at most 3 mm in long axis"),
    ("name", "Natalizumab needs imaging every 3 months", "Ocrelizumab needs imaging every 3 months"),
    ("name", "In AQP4-IgG-seropositive NMOSD, cord lesions", "In MOG-IgG-seropositive NMOSD, cord lesions"),
    ("comparator", "every 3 months before therapy", "every 3 months after therapy"),
    ("opposite", "occupy the central grey matter", "occupy the peripheral grey matter"),
    ("year", "sensitivity of the 2017 criteria was", "sensitivity of the 2024 criteria was"),
]


@pytest.mark.parametrize(("kind", "true", "changed"), CHANGES)
def test_changed_fact_is_its_own_finding(kind, true, changed):
    assert true in TEXT
    item = AuditItem("i", "Stem", ("a", "b"), 0, evidence=(evidence(changed, TEXT.index(true)),))
    seen = quote_measures(item, CHUNKS)
    assert seen[f"quote_changed_{kind}"].value >= 1, seen
    assert seen["quotes_not_verbatim"].value == 1
    clean = quote_measures(AuditItem("i", "Stem", ("a", "b"), 0, evidence=(evidence(true),)), CHUNKS)
    assert all(
        o.value == 0 for name, o in clean.items() if name.startswith("quote_changed") or name == "quotes_not_verbatim"
    )


def test_similarity_alone_would_have_missed_it():
    assert (
        fuzz.ratio(
            "lesions of the cord measure at least 3 mm in axis", "lesions of the cord measure at least 8 mm in axis"
        )
        > 95
    )
    assert [d.kind for d in differences("at least 3 mm", "at least 8 mm")] == ["number"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at least 3 lesions", "≥3 lesions"),
        ("three lesions", "3 lesions"),
        ("1,000 mL", "1000 ml"),
        ("3 tesla", "3 T"),
        ("fewer than 5 months", "less than 5 month"),
    ],
)
def test_other_spellings_are_no_difference(one, other):
    assert differences(one, other) == []


def test_swapped_numbers_differ():
    assert differences("83% against 49%", "49% against 83%")


def test_verbatim_but_elsewhere_is_misplaced_and_told_where():
    check = check_quote(evidence("Contrast is not required", 5), CHUNKS)
    assert check.verdict == "misplaced"
    assert str(TEXT.index("Contrast")) in check.detail


def test_wording_only_is_named_as_such_and_closest_span_has_whole_words():
    check = check_quote(evidence("cord lesions extending over three or more segments", 0), CHUNKS)
    assert check.verdict == "inexact"
    assert check.span is not None
    assert check.span.text.startswith("cord lesions")
    assert check.span.text.endswith("segments")
    assert check.span.changes == ()
    assert "wording" in check.detail


def test_unknown_passage_and_empty_quote_are_no_evidence():
    lost = Evidence(source_id="s", chunk_id="other", quote="x", start=0, end=1)
    assert check_quote(lost, CHUNKS).verdict == "no passage"
    assert check_quote(evidence("  ", 0), CHUNKS).verdict == "empty"
    assert closest_span("x", "").similarity == 0


def test_without_passages_nothing_is_claimed():
    assert all(o.value is None for o in quote_measures(AuditItem("i", "s", ("a", "b"), 0), None).values())


def supported(stem: str, options: tuple[str, ...], key: int, quote: str) -> dict[str, float | None]:
    item = AuditItem("i", stem, options, key, evidence=(evidence(quote),))
    return {name: o.value for name, o in support_measures(item).items()}


CORD = (
    "In AQP4-IgG-seropositive NMOSD, cord lesions extend over three or more segments "
    "and occupy the central grey matter."
)
FACTORIAL = (
    "three or more segments and occupy the central grey matter",
    "two or more segments and occupy the central grey matter",
    "three or more segments and occupy the peripheral grey matter",
    "two or more segments and occupy the peripheral grey matter",
)


def test_factorial_options_have_one_supported_option():
    right = supported("In AQP4-IgG-seropositive NMOSD, cord lesions extend over", FACTORIAL, 0, CORD)
    assert right == {
        "key_support": 1.0,
        "key_unsupported_facts": 0.0,
        "distractors_supported": 0.0,
        "distractors_quoted": 0.0,
    }
    wrong = supported("In AQP4-IgG-seropositive NMOSD, cord lesions extend over", FACTORIAL, 1, CORD)
    assert wrong["key_unsupported_facts"] == 1
    assert wrong["distractors_supported"] == 1


def test_a_number_of_another_clause_supports_nothing():
    quote = "The sensitivity of the 2017 criteria was 83% and that of the 2010 criteria was 49%."
    seen = supported("The sensitivity of the 2017 criteria was", ("83%", "49%", "55%", "76%"), 0, quote)
    assert seen["distractors_supported"] == 0
    assert seen["key_unsupported_facts"] == 0


def test_questions_may_quote_what_they_exclude():
    seen = supported(
        "Which part of the cord do the lesions occupy?", ("central grey matter", "segments", "skin", "bone"), 0, CORD
    )
    assert seen["distractors_supported"] == 0


@pytest.mark.parametrize(
    ("key", "quote"),
    [
        ("Aquaporin-4", "Most patients with NMOSD have antibodies to aquaporin-4."),
        ("Aquaporin-4 antibodies", "In NMOSD, aquaporin-4 antibodies are found in most patients."),
        ("Interleukin-6 is raised", "In the fluid interleukin-6 is raised."),
        ("Aquaporin-4", "Aquaporin-4 is the target in NMOSD."),
        ("antibodies to aquaporin-4", "Aquaporin-4 is the target of the antibodies."),
    ],
)
def test_a_capital_at_the_start_of_a_key_makes_no_name(key, quote):
    item = AuditItem("i", "The target in NMOSD is", (key, "other"), 0, evidence=(evidence(quote, 0),))
    assert support_measures(item)["key_unsupported_facts"].value == 0


@pytest.mark.parametrize(
    ("key", "quote"),
    [
        ("Aquaporin-1", "Most patients with NMOSD have antibodies to aquaporin-4."),
        ("Interleukin-8 is raised", "In the fluid interleukin-6 is raised."),
        ("COVID-19", "It follows an infection with Influenza-19."),
        ("AQP4-IgG", "Most patients have MOG-IgG."),
    ],
)
def test_another_number_or_name_in_a_key_is_still_found(key, quote):
    item = AuditItem("i", "The target in NMOSD is", (key, "other"), 0, evidence=(evidence(quote, 0),))
    assert support_measures(item)["key_unsupported_facts"].value == 1
