"""Duplicates know minimal pairs, name their partner, and the filter loses nothing that brute force finds."""

from __future__ import annotations

import random

import numpy as np
import pytest
from rapidfuzz import fuzz, process

from examgen.audits import AuditItem
from examgen.audits.blocking import candidate_pairs
from examgen.audits.duplicates import alike, compared_text, duplicate_columns, find_pairs, near_pairs


def item(name: str, stem: str, key: str, *others: str) -> AuditItem:
    return AuditItem(name, stem, (key, *(others or ("one", "two", "three"))), 0, candidate_id=name)


MINIMAL = [
    (
        "In the 2017 McDonald criteria, dissemination in space needs lesions in",
        "two of four sites",
        "In the 2024 McDonald criteria, dissemination in space needs lesions in",
        "two of four sites",
    ),
    (
        "In NMOSD, acute lesions of the optic nerve typically involve its",
        "posterior part",
        "In MOGAD, acute lesions of the optic nerve typically involve its",
        "posterior part",
    ),
    (
        "Symptomatic lesions of the brainstem are counted by the panel as",
        "evidence of space",
        "Symptomatic lesions of the brainstem are not counted by the panel as",
        "evidence of space",
    ),
    (
        "A lesion counts towards the criteria where its long axis is at least 3 mm and",
        "it is ovoid",
        "A lesion counts towards the criteria where its long axis is at least 8 mm and",
        "it is ovoid",
    ),
    (
        "The rim of an active lesion on susceptibility imaging is described as",
        "hyperintense to the plaque",
        "The rim of an active lesion on susceptibility imaging is described as",
        "hypointense to the plaque",
    ),
    (
        "Under therapy with natalizumab the risk of opportunistic infection grows",
        "after two years",
        "Under therapy with ocrelizumab the risk of opportunistic infection grows",
        "after two years",
    ),
    (
        "The vignette of a man with gait trouble since spring. The best test is",
        "visual evoked potentials",
        "The vignette of a man with gait trouble since spring. The best test is",
        "lumbar puncture",
    ),
]

SAME = [
    (
        "Lesions of the cord in this disease usually extend over",
        "three segments",
        "Lesions of the cord in this disease usually extends over",
        "three segments",
    ),
    (
        "Which sequence shows a central vein best of all the sequences?",
        "susceptibility imaging",
        "Which sequence shows a central vein best of all sequences?",
        "susceptibility imaging",
    ),
    (
        "A lesion counts where its long axis is at least three mm and",
        "it is ovoid",
        "A lesion counts where its long axis is at least 3 mm and",
        "it is ovoid",
    ),
    (
        "The recommended gap between slices of this protocol amounts to",
        "no gap at all.",
        "The recommended gap between the slices of this protocol amounts to",
        "No gap at all",
    ),
]


@pytest.mark.parametrize(("stem", "key", "other_stem", "other_key"), MINIMAL)
def test_minimal_pairs_are_flagged_not_duplicates(stem, key, other_stem, other_key):
    columns = duplicate_columns(
        (pair := [item("a", stem, key), item("b", other_stem, other_key, "x", "y", "z")]), find_pairs(pair), False
    )
    assert columns.loc["b", "near_duplicate"] == 0
    if fuzz.ratio(compared_text(pair[0]), compared_text(pair[1])) >= 90:
        assert columns.loc["b", "minimal_pair"] >= 0.90
        assert columns.loc["b", "minimal_pair_partner"] == "a"
        assert columns.loc["b", "minimal_pair_seen"]


@pytest.mark.parametrize(("stem", "key", "other_stem", "other_key"), SAME)
def test_same_question_is_a_near_duplicate(stem, key, other_stem, other_key):
    pair = [item("a", stem, key), item("b", other_stem, other_key, "x", "y", "z")]
    columns = duplicate_columns(pair, find_pairs(pair), False)
    assert columns.loc["b", "near_duplicate"] >= 0.90
    assert columns.loc["b", "near_duplicate_partner"] == "a"
    assert columns.loc["a", "near_duplicate"] == 0


def test_exact_duplicates_and_conflicting_keys():
    first = AuditItem("a", "Where?", ("Pons", "Cord", "Eye", "Arm"), 0)
    again = AuditItem("b", "where? ", ("Arm", "cord", "Pons.", "Eye"), 2)
    conflict = AuditItem("c", "Where?", ("Pons", "Cord", "Eye", "Arm"), 1)
    columns = duplicate_columns([first, again, conflict], find_pairs([first, again, conflict]), False)
    assert columns["exact_duplicate"].tolist() == [0, 1, 0]
    assert columns["key_conflict"].tolist() == [0, 0, 1]
    assert columns.loc["c", "key_conflict_partner"] == "a"


SIGN = "Which sign is typical?"
CONTRADICTIONS = [
    ((SIGN, ("rim", "vein", "cyst")), (SIGN.upper(), ("Vein", "cap", "rim")), True),  # each other's wrong option
    ((SIGN, ("rim", "vein", "cyst")), (SIGN, ("cap", "rim", "stripe")), True),  # one way is enough
    ((SIGN, ("rim", "vein", "cyst")), (SIGN, ("vein", "rim", "cyst")), True),  # the same options
    ((SIGN, ("rim", "vein")), (SIGN, ("not a rim", "Rim.")), True),
    ((SIGN, ("rim", "vein", "cyst")), (SIGN, ("cap", "stripe", "knot")), False),  # both may be right
    ((SIGN, ("rim", "vein", "cyst")), (SIGN, ("rim", "cap", "vein")), False),  # the same key
    ((SIGN, ("rim", "vein", "cyst")), ("Which sign is early?", ("vein", "rim", "cap")), False),  # another stem
    (("", ("rim", "vein")), ("", ("vein", "rim")), False),
]


@pytest.mark.parametrize(("one", "two", "wanted"), CONTRADICTIONS)
def test_a_contradiction_marks_both_items(one, two, wanted):
    named = zip("ab", (one, two), strict=True)
    items = [AuditItem(name, stem, options, 0, candidate_id=name) for name, (stem, options) in named]
    columns = duplicate_columns(items, find_pairs(items), False)
    assert columns["contradiction"].tolist() == [float(wanted)] * 2
    assert columns["contradiction_partner"].tolist() == (["b", "a"] if wanted else ["", ""])
    left = duplicate_columns(items, find_pairs(items), False, {"b"})
    assert left.loc["a", "contradiction"] == wanted, "that its partner was dropped clears nobody"


def test_paraphrase_is_caught_by_vectors_and_other_facts_are_neighbours():
    items = [
        item("a", "How large must a lesion be to count?", "3 mm in its long axis"),
        item("b", "What is the minimum size of a lesion that is counted?", "3 mm in its long axis", "x", "y", "z"),
        item("c", "What is the minimum size of a plaque that is counted?", "8 mm in its long axis", "p", "q", "r"),
    ]
    near = np.array([1.0, 0.05], dtype=np.float32)
    vectors = {
        "a": np.array([1.0, 0.0], dtype=np.float32),
        "b": near / np.linalg.norm(near),
        "c": np.array([1.0, 0.0], dtype=np.float32),
    }
    columns = duplicate_columns(items, find_pairs(items, vectors), True)
    assert columns.loc["b", "semantic_duplicate"] > 0.99
    assert columns.loc["b", "semantic_duplicate_partner"] == "a"
    assert columns.loc["c", "semantic_duplicate"] == 0
    assert columns.loc["c", "semantic_neighbour"] > 0.99
    assert "8" in columns.loc["c", "semantic_neighbour_seen"]


def test_without_vectors_nothing_semantic_is_claimed():
    items = [item("a", "One?", "x"), item("b", "Two?", "y")]
    assert duplicate_columns(items, find_pairs(items), False)["semantic_duplicate"].isna().all()


def test_excluded_items_are_nobodys_partner():
    items = [
        item(name, "The lesion counts when its axis is long and", "it is ovoid", *opts)
        for name, opts in (("a", ("1", "2", "3")), ("b", ("4", "5", "6")), ("c", ("7", "8", "9")))
    ]
    pairs = find_pairs(items)
    assert duplicate_columns(items, pairs, False).loc["b", "near_duplicate_partner"] == "a"
    assert duplicate_columns(items, pairs, False, {"a"}).loc["b", "near_duplicate"] == 0


def _texts(count: int) -> list[str]:
    """Distinct texts of all lengths with planted neighbours on both sides of the threshold."""
    chooser = random.Random(5)
    words = ["".join(chooser.choices("abcdefghilmnoprstu", k=chooser.randint(2, 9))) for _ in range(400)]
    texts: list[str] = []
    while len(texts) < count:
        if texts and chooser.random() < 0.4:
            text = list(chooser.choice(texts))
            for _ in range(int(len(text) * chooser.uniform(0.01, 0.22))):
                place = chooser.randrange(len(text) + 1)
                text[place : place + chooser.randint(0, 1)] = chooser.choice(["", chooser.choice("aeiou xyz0123é")])
            made = "".join(text).strip()
        else:
            made = " ".join(chooser.choices(words, k=chooser.randint(1, 40)))
        texts.append(made or "x")
    return list(dict.fromkeys(texts))


@pytest.mark.parametrize("threshold", [0.85, 0.90])
def test_filter_loses_no_pair_that_brute_force_finds(threshold):
    texts = _texts(3000)
    found = set()
    for left, right in candidate_pairs(texts, threshold):
        scores = process.cpdist([texts[i] for i in left], [texts[j] for j in right], scorer=fuzz.ratio)
        found |= {(min(i, j), max(i, j)) for i, j, s in zip(left, right, scores, strict=True) if s >= 100 * threshold}
    brute = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=100 * threshold, dtype=np.float32)
    wanted = {(int(i), int(j)) for i, j in zip(*np.nonzero(brute >= 100 * threshold), strict=True) if i < j}
    assert len(wanted) > 300
    assert found == wanted


@pytest.mark.parametrize("threshold", [0.85, 0.90])
@pytest.mark.parametrize("exact_up_to", [0, 20_000])
def test_both_searches_find_what_brute_force_finds_each_pair_once(threshold, exact_up_to):
    """Among 3,000 texts with edits in random places; 0 makes the search by rare runs do the work."""
    texts = _texts(3000)
    found = [tuple(sorted(pair[:2])) for pair in alike(texts, threshold, exact_up_to)]
    brute = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=100 * threshold, dtype=np.float32)
    wanted = {
        tuple(sorted((texts[i], texts[j])))
        for i, j in zip(*np.nonzero(brute >= 100 * threshold), strict=True)
        if i < j
    }
    assert len(found) == len(set(found))
    assert set(found) == wanted


def test_a_family_from_one_template_has_partners_for_each_in_the_large_search():
    """Runs that everybody holds are no anchors; the neighbours in the two orders still find partners."""
    texts = [
        f"in a patient of {n} years with optic neuritis and {n % 7} lesions the next step is to repeat imaging"
        for n in range(18, 90)
    ]
    texts += [f"{a} {t}" for a in ("briefly", "clearly", "usually") for t in texts]
    found = {text for left, right, _ in alike(texts, 0.9, 0) for text in (left, right)}
    assert found == set(texts)


@pytest.mark.parametrize("count", [1, 1500])
def test_cosines_in_blocks_equal_those_of_the_whole(count, monkeypatch):
    from examgen.audits import duplicates

    monkeypatch.setattr(duplicates, "_BLOCK", 64)
    monkeypatch.setattr(duplicates, "_COLUMNS", 200)
    vectors = np.random.default_rng(3).normal(size=(count, 6)).astype(np.float32)
    vectors[::50] = 0
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, length, out=vectors, where=length > 0)
    items = [item(f"i{n}", f"stem {n}", "key") for n in range(count)]
    found = {(p.earlier, p.later) for p in duplicates.semantic_pairs(items, vectors, 0.9)}
    whole = np.triu(vectors @ vectors.T, 1) >= 0.9
    assert found == {(int(i), int(j)) for i, j in zip(*np.nonzero(whole), strict=True)}


def test_near_pairs_equal_brute_force_over_items():
    items = [item(f"i{n}", text, f"key {n % 3}") for n, text in enumerate(_texts(700))]
    found = {(p.earlier, p.later) for p in near_pairs(items, 0.9)}
    texts = [compared_text(i) for i in items]
    brute = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=90, dtype=np.float32)
    assert found == {(int(i), int(j)) for i, j in zip(*np.nonzero(brute >= 90), strict=True) if i < j}
