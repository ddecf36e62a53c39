"""Banks out to the field's tools, answers in from them."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
import yaml

from examgen import exchange, imports
from examgen.errors import InputError
from tests.test_answers import make_item

BANK = [make_item(number) for number in range(6)]


def test_lm_eval_task_points_at_its_own_file() -> None:
    files = exchange.lm_eval_files(BANK, "ms_mri")
    task = yaml.safe_load(files["ms_mri.yaml"])
    rows = [json.loads(line) for line in files["ms_mri.jsonl"].splitlines()]
    assert task["dataset_kwargs"]["data_files"]["test"] == "ms_mri.jsonl"
    assert {task["doc_to_text"], task["doc_to_choice"], task["doc_to_target"]} <= set(rows[0])
    assert rows[0]["letters"][rows[0]["key"]] == "A"
    assert len(rows) == 6


def test_inspect_and_card() -> None:
    (line, *_rest) = exchange.inspect_files(BANK, "ms")["ms_inspect.jsonl"].splitlines()
    sample = json.loads(line)
    assert sample["choices"][0] == BANK[0].options[0]
    assert sample["target"] == "A"
    card = exchange.dataset_card(BANK, "ms", licence="cc-by-4.0")
    front = yaml.safe_load(card.split("---")[1])
    assert front["license"] == "cc-by-4.0"
    assert "6 single-best-answer items" in card


def test_csv_keeps_what_it_can_and_names_the_rest() -> None:
    first, second, third = (item.item_id for item in BANK[:3])
    lines = ["item_id,model,answer", f"{first},org/m 1,A", f"{second},org/m 1,The answer is B.", "nope,m,A"]
    text = "\n".join([*lines, f"{third},org/m 1,hmm", f"{first},org/m 1,B", ""])
    found = imports.from_csv(text, BANK)
    assert {(row.status, row.correct) for row in found.responses} == {
        ("parsed", True),
        ("parsed", False),
        ("unparseable", None),
    }
    assert {row.endpoint_id for row in found.responses} == {"org-m-1"}
    assert len(found.problems) == 2
    with pytest.raises(InputError, match="answer"):
        imports.from_csv("item_id,model\n", BANK)


def test_lm_eval_samples_by_likelihood_and_by_text() -> None:
    lines = [
        json.dumps(
            {
                "doc": {"item_id": BANK[0].item_id},
                "filtered_resps": [["-2.0", "False"], ["-0.5", "True"], ["-3", "False"], ["-4", "False"]],
            }
        ),
        json.dumps({"doc": {"item_id": BANK[1].item_id}, "resps": [["Answer: A"]], "filtered_resps": ["Answer: A"]}),
        json.dumps(
            {
                "doc": {"item_id": BANK[2].item_id},
                "filtered_resps": [[-1.0, False], [-1.0, False], [-3, False], [-4, False]],
            }
        ),
        "not json",
        json.dumps({"doc": {}}),
    ]
    found = imports.from_lm_eval(lines, BANK, "m")
    by_id = {row.item_id: row for row in found.responses}
    assert (by_id[BANK[0].item_id].choice, by_id[BANK[0].item_id].rule) == (1, "imported_likelihood")
    assert by_id[BANK[1].item_id].correct is True
    assert by_id[BANK[2].item_id].status == "unparseable"
    assert len(found.problems) == 2


def test_inspect_logs_in_both_forms_and_shuffled() -> None:
    def sample(number: int, text: str, **more: object) -> dict[str, object]:
        return {
            "id": BANK[number].item_id,
            "epoch": 1,
            "choices": list(BANK[number].options),
            "output": {"choices": [{"message": {"content": text}}]},
            **more,
        }

    samples = [
        sample(0, "ANSWER: $A$"),
        sample(1, "ANSWER: B", choices=list(reversed(BANK[1].options))),
        sample(2, "x", error={"message": "e"}),
    ]
    whole = {"eval": {"model": "openai/gpt-x"}, "samples": samples}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": whole["eval"]}))
        for number, one in enumerate(samples):
            archive.writestr(f"samples/{number}.json", json.dumps(one))
    for data in (json.dumps(whole).encode(), packed.getvalue()):
        found = imports.from_inspect(data, BANK)
        assert {row.item_id: row.choice for row in found.responses} == {BANK[0].item_id: 0, BANK[1].item_id: 2}
        assert {row.endpoint_id for row in found.responses} == {"openai-gpt-x"}
        assert len(found.problems) == 1
