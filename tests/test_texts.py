"""Normalisation: what is cleaned, what must survive, how blocks become one text with sections and pages."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examgen.texts import HYPHEN_BREAK, Block, clean, clean_code, compose, join_hyphens, table_text


def test_signs_and_greek_letters_survive() -> None:
    text = "TE ≥ 3 ms, ≤ 5 µm, ± 2 °C, α β γ Δ κ, T₂*, 10⁻³ mm²/s, ½, naïve"
    assert clean(text) == text


def test_ligatures_are_spelled_out_and_text_is_composed() -> None:
    assert clean("e\u0301tat de\ufb01nite o\ufb03ce \ufb02ow") == "état definite office flow"


def test_invisible_characters_and_odd_spaces_go() -> None:
    assert clean("soft\u00adhyphen zero\u200bwidth no\u00a0break\tthin\u2009space \x07bell") == (
        "softhyphen zerowidth no break thin space bell"
    )


def test_lines_of_every_system_become_newlines() -> None:
    assert clean("a\r\nb\rc\u2028d\n\n\n\ne  \n f") == "a\nb\nc\nd\n\ne\nf"


@given(st.text(max_size=300))
def test_clean_is_idempotent_and_composed(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert unicodedata.is_normalized("NFC", once)


def test_code_keeps_its_indentation() -> None:
    assert clean_code("\nif a:\n\tb = 1\n\n") == "if a:\n    b = 1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"dissemi{HYPHEN_BREAK}nation in space", "dissemination in space"),
        ("dissemi-\nnation in space", "dissemination in space"),
        ("long-\nterm outcome; the long road, a short term", "long-term outcome; the long road, a short term"),
        ("follow-\nup and each follow-up", "follow-up and each follow-up"),
        ("T2-\nweighted imaging", "T2-weighted imaging"),
        ("MAGNIMS-\nguided", "MAGNIMS-guided"),
        (f"a range of 3{HYPHEN_BREAK}5 mm", "a range of 3-5 mm"),
        ("no break - here", "no break - here"),
    ],
)
def test_words_cut_at_a_line_end_are_joined(text: str, expected: str) -> None:
    assert join_hyphens([text]) == [expected]


def test_a_document_decides_over_all_its_texts() -> None:
    assert join_hyphens(["peri-\nventricular", "peri-ventricular lesions"])[0] == "peri-ventricular"
    assert join_hyphens(["peri-\nventricular", "lesions"])[0] == "periventricular"


def test_blocks_become_text_with_sections() -> None:
    blocks = [
        Block("heading", "Title", 1),
        Block("paragraph", "One  two."),
        Block("heading", "Part", 2),
        Block("item", "first"),
        Block("item", "second\nline"),
        Block("table", table_text([["a", "b"], ["1", "2 3"], ["", ""]])),
        Block("heading", "Next", 2),
        Block("code", "x = 1\n  y"),
        Block("paragraph", "   "),
    ]
    text = compose("id", "p.md", blocks)
    assert text.text == "Title\n\nOne two.\n\nPart\n\n- first\n- second line\n\na | b\n1 | 2 3\n\nNext\n\nx = 1\n  y"
    spans = [(s.level, s.title, text.text[s.start : s.end]) for s in text.sections]
    assert spans[0] == (1, "Title", text.text)
    assert spans[1][2].startswith("Part\n")
    assert spans[1][2].endswith("2 3\n\n")
    assert spans[2][2] == "Next\n\nx = 1\n  y"


def test_pages_start_where_their_first_block_does() -> None:
    blocks = [Block("paragraph", "one", page=1), Block("paragraph", "two", page=3), Block("paragraph", "more", page=3)]
    text = compose("id", "p.pdf", blocks, pages=4)
    assert text.page_starts == (0, 5, 5, len(text.text))
    assert text.text[5:].startswith("two")
    assert compose("id", "p.md", blocks).page_starts == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["heading", "paragraph", "item", "table", "code"]), st.text(max_size=40), st.integers(1, 4)
        )
    )
)
def test_sections_nest(parts: list[tuple[str, str, int]]) -> None:
    text = compose("id", "p", [Block(kind, words, level) for kind, words, level in parts])  # type: ignore[arg-type]
    for section in text.sections:
        assert text.text.startswith(section.title, section.start)
        inner = [other for other in text.sections if section.start < other.start < section.end]
        assert all(other.level > section.level and other.end <= section.end for other in inner)
