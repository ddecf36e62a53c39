"""Front matter, reference lists and page furniture: what is left out, and what must not be."""

from __future__ import annotations

import datetime

from examgen.matter import card, drop_references, furniture, keyword_card, split_front_matter, year_of
from examgen.texts import Block


def test_front_matter_is_read_and_cut_off() -> None:
    about, body = split_front_matter('---\ntitle: "A: b"\ndate: 2026-11-30\nlicence: CC BY 4.0\n---\n# A\n')
    assert body == "# A\n"
    assert card(about) == {"title": "A: b", "year": 2026, "licence": "CC BY 4.0"}


def test_what_only_looks_like_front_matter_stays_text() -> None:
    for text in (
        "---\nno mapping\n---\nx",
        "---\na: [1\n---\nx",
        "text\n---\na: 1\n---\n",
        "---\na: 1\n",
        "---\nd: 2026-99-99\n---\nx",
    ):
        assert split_front_matter(text) == ({}, text)
    bomb = "---\na: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(5000)) + "---\nx"
    assert split_front_matter(bomb)[0] == {}


def test_years() -> None:
    assert year_of(datetime.date(2024, 5, 1)) == 2024
    assert year_of("published in 1998") == 1998
    assert year_of(2017) == 2017
    assert year_of("12345") is None
    assert year_of(None) is None


def test_keywords_hold_pairs() -> None:
    assert keyword_card("date: 2026-11-30; licence: CC BY 4.0; brain, MRI") == {
        "date": "2026-11-30",
        "licence": "CC BY 4.0",
    }


def test_reference_sections_and_lines_are_dropped_with_what_is_under_them() -> None:
    blocks = [
        Block("heading", "Title", 1),
        Block("paragraph", "Primary references: Polman 2011."),
        Block("paragraph", "Text."),
        Block("heading", "5. References", 2),
        Block("item", "Polman 2011."),
        Block("heading", "Online", 3),
        Block("item", "x"),
        Block("heading", "Appendix", 2),
        Block("paragraph", "References to scans stay: all of them."),
    ]
    kept, dropped = drop_references(blocks)
    assert [block.text for block in kept] == ["Title", "Text.", "Appendix", "References to scans stay: all of them."]
    assert dropped > 40


def test_lines_that_repeat_at_the_edge_of_most_pages_are_furniture() -> None:
    pages = [
        ["Journal of X", f"Body {word}", "same middle", f"More {word}", "tail", "end", "fin", f"Page {n} of 4"]
        for n, word in enumerate("abcd", start=1)
    ]
    found = furniture(pages)
    assert {(n, 0) for n in range(4)} <= found
    assert {(n, 7) for n in range(4)} <= found
    assert furniture(pages[:2]) == set()


def test_numbers_that_do_not_go_up_with_the_pages_are_no_furniture() -> None:
    values = (14, 3, 88, 20, 41)
    pages = [[f"{value} lesions", f"body {value}", "x" * n] for n, value in enumerate(values, start=1)]
    assert furniture(pages) == set()


def test_left_and_right_pages_may_differ() -> None:
    letters = "abcdefgh"
    pages = [
        [("The book" if n % 2 else "The chapter"), *(f"{letters[n]}{letters[m]} line" for m in range(8)), str(100 + n)]
        for n in range(8)
    ]
    assert {(n, 0) for n in range(8)} | {(n, 9) for n in range(8)} == furniture(pages)


def test_lines_far_from_the_edge_stay_even_when_they_repeat() -> None:
    pages = [
        [f"{n}{m} unlike {chr(97 + n)}" + "abcdefghij"[m] for m in range(4)]
        + ["same"]
        + [f"other {chr(97 + n)} {'klmnopqrst'[m]}" for m in range(4)]
        for n in range(5)
    ]
    assert not {place for _, place in furniture(pages)} & {4}
