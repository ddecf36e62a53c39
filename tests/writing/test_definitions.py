"""Definitions are asked by their subject, among other subjects that the corpus defines by the same noun."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

import pytest

from examgen.evidence import Statement
from examgen.records import Topic
from examgen.writing.definitions import define
from examgen.writing.facts import CorpusFacts
from examgen.writing.rules import write
from tests.writing.sample import LEXICONS, chunks_of

TEXT = """# Disorders

Central pontine myelinolysis (CPM) is a neurological disorder that most often follows too rapid correction of low sodium. CADASIL is an inherited disease of small vessels that occurs when thickened walls block the flow of blood. Neuromyelitis optica is an autoimmune disease that predominantly affects the eyes and the lower body of adults. Transverse myelitis is a disorder caused by inflammation across both sides of one level of the cord. CPM is a disorder that some call osmotic demyelination after changes of salt in the blood.
"""


def made(text: str) -> object:
    return define(Statement("s", 0, len(text), text, text), LEXICONS)


@pytest.mark.parametrize(
    "text",
    [
        "The disease is a disorder that affects the small vessels of the white matter.",
        "Transverse myelitis is a disorder of myelitis that affects both sides of the cord in adults.",
        "Lesions of the cord are longer than three segments in most people with the disease.",
        "NMOSD is a disorder of adults.",
    ],
)
def test_what_is_no_definition_of_a_name(text: str) -> None:
    assert made(text) is None


def test_definitions_become_easy_items() -> None:
    chunks = chunks_of(TEXT, "text.md", 5000)
    facts = CorpusFacts.from_chunks(chunks)
    topic = Topic(
        topic_id="t", topic="Disorders", subtopic="Neurological disorder after rapid correction of low sodium"
    )
    items = [
        item for item in write(topic, "easy", 9, chunks, facts, LEXICONS, "b") if item.stem.startswith("Which of these")
    ]
    assert [item.stem for item in items] == [
        "Which of these is a neurological disorder that most often follows too rapid correction of low sodium?"
    ]
    (item,) = items
    assert item.key_text == "Central pontine myelinolysis"
    assert set(item.options) == {
        "Central pontine myelinolysis",
        "CADASIL",
        "Neuromyelitis optica",
        "Transverse myelitis",
    }
