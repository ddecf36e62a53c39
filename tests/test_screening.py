from __future__ import annotations

from typing import Any

from examgen.records import Chunk
from examgen.screening import screen_by_rules, supporting_sentence
from tests.test_locking import candidate

TEXT = (
    "In adult MS, the recommended slice thickness for brain images is at most 3 mm. "
    "In MOGAD, the recommended slice thickness for orbit images is at most 2 mm."
)
CHUNK = Chunk(chunk_id="c", content_hash="h", source_id="s", path="p", start=0, end=len(TEXT), ordinal=0, text=TEXT)
STEM = "In adult MS, what is the recommended slice thickness for brain images?"


def item(**changes: Any) -> Any:
    quote = TEXT[: TEXT.index(" In MOGAD")]
    base = candidate("x").evidence[0]
    fields = {
        "stem": STEM,
        "options": ("At most 3 mm", "At most 6 mm", "At most 9 mm", "At most 2 mm"),
        "key": 0,
        "explanation": "The recommended slice thickness is at most 3 mm.",
        "evidence": (base.model_copy(update={"quote": quote, "start": 0, "end": len(quote), "chunk_id": "c"}),),
    }
    return candidate("x").model_copy(update={**fields, **changes})


def test_a_sound_item_passes() -> None:
    assert screen_by_rules(item(), [CHUNK]).accepted


def test_each_question_can_fail() -> None:
    wrong_key = screen_by_rules(item(key=1), [CHUNK])
    assert wrong_key.key_consistent is False
    no_context = screen_by_rules(item(), [])
    assert no_context.answerable is False
    other = screen_by_rules(item(explanation="Thin slices show more."), [CHUNK])
    assert other.explanation_consistent is False
    also = CHUNK.model_copy(
        update={"text": "In adult MS the recommended slice thickness for brain images is at most 6 mm."}
    )
    second = screen_by_rules(item(), [CHUNK], [also])
    assert second.unique is False
    assert second.context == "fresh"
    assert "6 mm" in second.issues[0]


def test_a_sentence_about_something_else_supports_nothing() -> None:
    assert not supporting_sentence(
        "At most 2 mm", "At most 3 mm", STEM.replace("brain", "cord") + " cervical sagittal", [CHUNK]
    )
