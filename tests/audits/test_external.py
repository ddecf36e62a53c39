"""Banks in the public layouts are read; what is no item is left out with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from examgen.audits.bank_summary import summarise
from examgen.audits.external import read_bank
from examgen.audits.gift import read_gift
from examgen.errors import BankError
from examgen.tables import as_table

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_mmlu_csv_without_header(tmp_path):
    (tmp_path / "m.csv").write_text('"What, then?",Pons,Cord,Eye,Arm,B\nWho?,a,b,c,d,D\n', encoding="utf-8")
    bank = read_bank(tmp_path / "m.csv")
    assert [item.key_text for item in bank.items] == ["Cord", "d"]
    assert bank.items[0].stem == "What, then?"


def test_medqa(tmp_path):
    row = {
        "question": "Where?",
        "answer": "Cord",
        "options": {"A": "Pons", "B": "Cord", "C": "Eye", "D": "Arm", "E": "Leg"},
        "meta_info": "step1",
        "answer_idx": "B",
    }
    item = read_bank(write(tmp_path / "a.jsonl", [row])).items[0]
    assert (item.key_text, len(item.options), item.topic) == ("Cord", 5, "step1")


@pytest.mark.parametrize(("cops", "keys"), [((1, 4), ("w", "z")), ((0, 3), ("w", "z")), ((2, 4), ("x", "z"))])
def test_medmcqa_counts_from_one_or_zero(tmp_path, cops, keys):
    rows = [
        {
            "id": f"q{n}",
            "question": f"Q{n}?",
            "opa": "w",
            "opb": "x",
            "opc": "y",
            "opd": "z",
            "cop": cop,
            "exp": "e",
            "subject_name": "Anatomy",
        }
        for n, cop in enumerate(cops)
    ]
    bank = read_bank(write(tmp_path / "a.jsonl", rows))
    assert tuple(item.key_text for item in bank.items) == keys
    assert bank.items[0].topic == "Anatomy"
    assert bank.items[0].explanation == "e"


def test_arc_both_layouts(tmp_path):
    nested = {
        "id": "1",
        "question": {"stem": "Where?", "choices": [{"text": "Pons", "label": "1"}, {"text": "Eye", "label": "2"}]},
        "answerKey": "2",
    }
    flat = {
        "id": "1",
        "question": "Where?",
        "choices": {"text": ["Pons", "Eye", "Arm"], "label": ["A", "B", "C"]},
        "answerKey": "C",
    }
    assert read_bank(write(tmp_path / "n.jsonl", [nested])).items[0].key_text == "Eye"
    assert read_bank(write(tmp_path / "f.jsonl", [flat])).items[0].key_text == "Arm"


def test_hugging_face_parquet_and_list_of_texts(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"question": "Where?", "choices": ["Pons", "Eye", "Arm", "Leg"], "answer": 2, "subject": "anatomy"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert read_bank(tmp_path / "a.parquet").items[0].key_text == "Arm"
    assert as_table is not None


def test_key_as_text_and_two_and_ten_options(tmp_path):
    rows = [
        {"question": "Two?", "options": ["yes indeed", "no"], "answer": "no"},
        {"question": "Ten?", "options": list("qrstuvwxyz"), "answer": "z"},
    ]
    assert [item.key for item in read_bank(write(tmp_path / "a.jsonl", rows)).items] == [1, 9]


def test_rows_that_are_no_items_are_left_out_with_reason(tmp_path):
    rows = [
        {"question": "Good?", "options": ["a", "b"], "answer": 0},
        {"question": "Key?", "options": ["a", "b"], "answer": "Z"},
        {"question": "One?", "options": ["a"], "answer": 0},
        {"question": "None?", "options": None, "answer": None},
    ]
    bank = read_bank(write(tmp_path / "a.jsonl", rows))
    assert len(bank.items) == 1
    assert [name for name, _ in bank.left_out] == ["row 2", "row 3", "row 4"]
    assert "none of the options" in bank.left_out[0][1]
    assert bank.rows == 4


def test_repeated_ids_are_told_apart(tmp_path):
    rows = [{"id": "q", "question": f"{n}?", "options": ["a", "b"], "answer": 0} for n in range(3)]
    assert len({item.candidate_id for item in read_bank(write(tmp_path / "a.jsonl", rows)).items}) == 3


def test_mapping_by_hand_and_clear_errors(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"Frage": "Wo?", "w": "Pons", "x": "Auge", "Loesung": "2"}])
    with pytest.raises(BankError, match="cannot tell which column holds the stem"):
        read_bank(path)
    mapping = {"stem": "Frage", "options": "w|x", "key": "Loesung", "counted_from": "1"}
    assert read_bank(path, mapping).items[0].key_text == "Auge"
    with pytest.raises(BankError, match="has no column"):
        read_bank(path, {**mapping, "key": "nothing"})
    with pytest.raises(BankError, match="no such file"):
        read_bank(tmp_path / "gone.csv")
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(BankError, match="not read"):
        read_bank(tmp_path / "a.xlsx")


GIFT = r"""
// a comment
$CATEGORY: anatomy/brain

::Site:: [html]<p>Where is the <b>pons</b>?</p> {
  =infratentorial # yes
  ~supratentorial #no
  ~%-50%spinal \= below
  #### It lies below the tentorium.
}

The pons is infratentorial. {T}

How many sites? {#5:0}

Weighted {~%100%right ~%-25%wrong one ~%-25%wrong two}

The {=pons ~eye} is infratentorial.

Match. {=a -> b =c -> d}
Two right {=a =b ~c}

Say why. {}
"""


def test_gift(tmp_path):
    (tmp_path / "a.gift").write_text(GIFT, encoding="utf-8")
    bank = read_bank(tmp_path / "a.gift")
    first = bank.items[0]
    assert first.stem == "Where is the pons?"
    assert first.options == ("infratentorial", "supratentorial", "spinal = below")
    assert (first.key, first.topic, first.explanation) == (0, "anatomy/brain", "It lies below the tentorium.")
    assert [item.key_text for item in bank.items] == ["infratentorial", "right", "pons"]
    reasons = " ".join(reason for _, reason in bank.left_out)
    for word in ("true-false", "numerical", "essay"):
        assert word in reasons
    assert len(bank.items) + len(bank.left_out) == len(read_gift(GIFT))


@pytest.mark.skipif(not (SHARED / "banks").exists(), reason="../shared/banks is not here")
def test_generated_quizzes_first_line_names_the_length_cue():
    bank = read_bank(SHARED / "banks" / "generated_quizzes" / "quizzes_after_HEAD.jsonl")
    summary = summarise("quizzes", bank.items, None)
    assert len(bank.items) == 2026
    assert not bank.left_out
    assert summary.headline.startswith("The key is the longest option in 90.7 % of 2,026 items")


def test_summary_of_an_even_bank_says_so(tmp_path):
    rows = [
        {"question": f"Question {n}?", "options": ["alpha", "beta beta", "gamma", "delta"], "answer": n % 4}
        for n in range(80)
    ]
    summary = summarise("even", read_bank(write(tmp_path / "a.jsonl", rows)).items, None)
    assert "no more than chance" in summary.headline
    assert summary.positions == {"A": 20, "B": 20, "C": 20, "D": 20}
    assert any("needs the sources" in text for text in summary.skipped)
