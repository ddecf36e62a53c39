"""Passages: every character in one, each in its place, tables and lists whole, the same ids in every run."""

from __future__ import annotations

import hashlib
import itertools
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examgen import ids
from examgen.chunks import cut
from examgen.records import Chunk, Section, SourceText
from examgen.study import Chunking
from examgen.texts import Block, compose

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60)
GOLDEN = (23529, "f1fdaf4190ab977ffff4f65c772883fab1506b625c0f3155acb34aca134c7ee8")
"""Number and hash of the passages of the random documents below."""

ANY_TEXT = st.lists(
    st.one_of(
        WORDS,
        st.sampled_from(["\n\n", "\n", ". ", "- item\n", "a | b\n", "e\u0301", "👩‍👩‍👧", " ", "Sentence one. Two! "]),
    ),
    max_size=120,
).map("".join)


@st.composite
def chunkings(draw: st.DrawFn) -> Chunking:
    size = draw(st.integers(50, 400))
    overlap = draw(st.integers(0, size - 1))
    return Chunking(size=size, overlap=overlap, mode=draw(st.sampled_from(["characters", "structure"])))


def check(text: SourceText, chunking: Chunking) -> list[Chunk]:
    chunks = cut(text, chunking)
    place = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert text.text[chunk.start : chunk.end] == chunk.text
        assert 0 < len(chunk.text) <= chunking.size
        assert chunk.start <= place < chunk.end, "no character lost, each passage goes further"
        place = chunk.end
    assert place == len(text.text)
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    return chunks


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT, chunkings())
def test_every_character_is_in_a_passage_that_stands_where_it_says(words: str, chunking: Chunking) -> None:
    check(SourceText(source_id="s", path="p", text=words), chunking)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["heading", "paragraph", "item", "table"]), WORDS, st.integers(1, 3)), max_size=30
    ),
    chunkings(),
)
def test_with_headings_and_pages_too(parts: list[tuple[str, str, int]], chunking: Chunking) -> None:
    blocks = [Block(kind, words, level, page=number // 3 + 1) for number, (kind, words, level) in enumerate(parts)]  # type: ignore[arg-type]
    text = compose("s", "p", blocks, pages=len(parts) // 3 + 1)
    for chunk in check(text, chunking):
        assert chunk.page is not None
        assert text.page_starts[chunk.page - 1] <= chunk.start
        assert (
            chunk.page == len(text.page_starts)
            or text.page_starts[chunk.page] > chunk.start
            or (text.page_starts[chunk.page] == len(text.text))
        )


@given(ANY_TEXT, chunkings())
@settings(max_examples=50, deadline=None)
def test_ids_depend_on_source_place_and_text_alone(words: str, chunking: Chunking) -> None:
    first = cut(SourceText(source_id="s", path="a", text=words), chunking)
    moved = cut(SourceText(source_id="s", path="b", text=words), chunking)
    other = cut(SourceText(source_id="t", path="a", text=words), chunking)
    assert [chunk.chunk_id for chunk in first] == [chunk.chunk_id for chunk in moved]
    assert not {chunk.chunk_id for chunk in first} & {chunk.chunk_id for chunk in other}
    for chunk in first:
        assert chunk.chunk_id == ids.chunk_id("s", chunk.start, chunk.text)
        assert chunk.content_hash == ids.content_hash(chunk.text)


def test_the_mode_characters_steps_evenly() -> None:
    text = SourceText(source_id="s", path="p", text="x" * 3000)
    spans = [(chunk.start, chunk.end) for chunk in cut(text, Chunking(size=1200, overlap=200, mode="characters"))]
    assert spans == [(0, 1200), (1000, 2200), (2000, 3000)]


def prose(sentences: int, word: str = "lesion") -> str:
    return " ".join(f"Sentence number {n} says that the {word} is seen on FLAIR." for n in range(sentences))


def test_passages_end_at_sentences_and_overlaps_start_at_one() -> None:
    chunks = cut(SourceText(source_id="s", path="p", text=prose(100)), Chunking())
    assert len(chunks) > 3
    for before, after in itertools.pairwise(chunks):
        assert before.text.endswith(". ")
        assert after.text.startswith("Sentence number")
        assert 0 < before.end - after.start <= 200


def test_initials_and_abbreviations_end_no_sentence() -> None:
    text = prose(9) + " It was shown by A. Smith et al. In a series, e.g. The one of Dr. Jones. " + prose(20)
    for chunk in cut(SourceText(source_id="s", path="p", text=text), Chunking(size=600, overlap=100)):
        assert not re.match(r"Smith|In a series|The one|Jones", chunk.text)


def test_a_heading_starts_a_passage_and_nothing_overlaps_there() -> None:
    blocks = [Block("heading", "Doc", 1)]
    for part in ("First", "Second", "Third"):
        blocks += [Block("heading", part, 2), Block("paragraph", prose(14, part.lower()))]
    chunks = cut(compose("s", "p", blocks), Chunking())
    assert [chunk.heading for chunk in chunks] == ["Doc > First", "Doc > Second", "Doc > Third"]
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["Doc", "Second", "Third"]


def test_no_heading_is_left_alone_at_the_bottom() -> None:
    blocks = [Block("paragraph", prose(17)), Block("heading", "Lonely", 2), Block("paragraph", prose(30))]
    chunks = cut(compose("s", "p", blocks), Chunking(size=1050, overlap=100))
    assert not any(chunk.text.rstrip().endswith("Lonely") for chunk in chunks)


@pytest.mark.parametrize("kind", ["item", "table"])
def test_rows_and_items_stay_whole(kind: str) -> None:
    rows = [f"Row {n}. Criterion | at least {n} lesions. Typical sites. | 2017" for n in range(80)]
    blocks = [Block("item", row) for row in rows] if kind == "item" else [Block("table", "\n".join(rows))]
    for chunk in cut(compose("s", "p", blocks), Chunking(size=700, overlap=150)):
        for line in chunk.text.strip().split("\n"):
            assert line.removeprefix("- ") in rows


def test_a_row_longer_than_a_passage_is_cut_and_nothing_is_lost() -> None:
    check(compose("s", "p", [Block("table", "a | " + "word " * 500 + "| b\nc | d")]), Chunking(size=300, overlap=50))


def test_signs_are_not_parted_from_what_they_stand_on() -> None:
    text = ("x" * 49 + "q\u0323\u0323") * 30
    for chunk in cut(SourceText(source_id="s", path="p", text=text), Chunking(size=50, overlap=0)):
        assert not chunk.text.startswith("\u0323")


def test_headings_over_a_passage_are_those_that_hold_its_start() -> None:
    body = prose(6)
    text = f"Intro\n\n{body}\n\nA\n\n{body}\n\nB\n\n{body}"
    sections = (
        Section(level=1, title="Intro", start=0, end=len(text)),
        Section(level=3, title="A", start=text.index("A\n\nS"), end=text.index("B\n\nS")),
        Section(level=2, title="B", start=text.index("B\n\nS"), end=len(text)),
    )
    found = cut(SourceText(source_id="s", path="p", text=text, sections=sections), Chunking(size=400, overlap=0))
    assert {chunk.heading for chunk in found} == {"Intro", "Intro > A", "Intro > B"}


PIECES = (
    "\n\n", "\n", ". ", "! ", "? ", "- item of a list\n", "a | b | c\n", "e\u0301", "q\u0323\u0323", " ", "word " * 20,
    "\U0001f469\u200d\U0001f467", "Sentence one. Two! ", "≥ 3 lesions", "µg", "T2-", "al. ", "e.g. ", "(Fig. 2) ",
    "\u201cQuoted.\u201d ", "日本語", "ß",
)


def random_document(number: int) -> SourceText:
    """A document of random blocks, the same one for a number in every run."""
    draw = random.Random(number)
    blocks = []
    for place in range(draw.randint(0, 60)):
        kind = draw.choice(("heading", "paragraph", "paragraph", "item", "table", "code"))
        words = "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 8 if kind == "heading" else 120)))
        blocks.append(Block(kind, words, draw.randint(1, 4), page=place // 4 + 1))  # type: ignore[arg-type]
    return compose(f"source {number}", f"{number}.md", blocks, pages=16 if number % 2 else None)


def test_passages_are_what_they_were_when_ids_were_first_given_out() -> None:
    """Banks and indexes name passages by id: a faster way of cutting may change none of them."""
    seen = hashlib.sha256()
    count = 0
    for number in range(120):
        draw = random.Random(f"chunking {number}")
        size = draw.randint(50, 1500)
        mode = draw.choice(("characters", "structure"))
        chunking = Chunking(size=size, overlap=draw.randint(0, size - 1) // draw.choice((1, 2, 6)), mode=mode)  # type: ignore[arg-type]
        for chunk in cut(random_document(number), chunking):
            seen.update(chunk.model_dump_json().encode())
            count += 1
    assert (count, seen.hexdigest()) == GOLDEN
