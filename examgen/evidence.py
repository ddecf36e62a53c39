"""Evidence: sentences with exact offsets, the statements among them that can stand alone, and where a quote lies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from examgen.records import Chunk

MINIMUM_WORDS = 9
MAXIMUM_WORDS = 48


def words_set(text: str) -> frozenset[str]:
    """The words of a text as a set: closed classes are easier to read as running words."""
    return frozenset(text.split())


_ABBREVIATIONS = words_set(
    "al approx art ca cf co corp dept dr ed eds e.g eg eq eqs esp est etc fig figs i.e ie inc jr ltd max min mr mrs "
    "ms no nos nr p pp prof ref refs resp sec sect sr st suppl tab vol vs"
)
_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s|$)")
_BULLET = re.compile(r"[ \t]*(?:[-*+•·▪‣–]|\(?\d{1,2}[.)]|\(?[a-z][.)])[ \t]+")
_DEBRIS_LINE = re.compile(
    r"[ \t]*(?:#{1,6}\s|\||:{3,}|```|~~~|<|!\[|\{|\[\^?\w+\]:|={3,}|-{3,}|\*{3,}|&|\.\. |>)|.*\|.*\||.*\t.*\t"
)
_OPENERS = words_set(
    "this that these those it its they their them such here there however therefore thus hence moreover furthermore "
    "additionally also but and or so because although though while whereas nevertheless nonetheless instead "
    "otherwise consequently accordingly similarly likewise conversely finally then next first second third another "
    "other others both he she his her we our us you your i my note see if when yet still again indeed rather "
    "meanwhile afterwards alternatively importantly interestingly notably unfortunately fortunately please let "
    "figure fig table box section what why how who which where all one each neither either some many most several"
)
_OPENING_PHRASES = re.compile(
    r"(?:in (?:this|that|these|those|such|addition|contrast|particular|fact|other words|short|general|turn|summary)\b|"
    r"(?:for|of|on|at|by|with|from|to|after|before|during|under|unlike|like) (?:this|that|these|those|it|them|such|"
    r"example|instance|which|both|him|her|the latter|the former)\b|as (?:a result|such|above|noted|mentioned|described|"
    r"shown|well|discussed)|on the (?:other|one) hand|that is|at the same time|(?:more|most) (?:importantly|recently))",
    re.IGNORECASE,
)
_ANAPHORA = re.compile(
    r"\b(?:this|these|those|it|they|them|he|she|his|her|we|our|us|you|your|the (?:former|latter|above|following|"
    r"present (?:study|work|paper)|same (?:study|paper|authors))|respectively|above|below-mentioned|aforementioned|"
    r"(?:see|in|cf\.?) (?:the )?(?:fig(?:ure|\.)|table|section|chapter|episode|appendix|box|supplement\w*)|"
    r"(?:previous|next|last) (?:section|chapter|episode|paragraph)|as (?:described|shown|mentioned|discussed|noted) "
    r"(?:above|below|earlier|before|previously))\b",
    re.IGNORECASE,
)
_CITATION = re.compile(
    r"\[\d[\d,;–\- ]*\]|\bFigs?\b|\(\d\)|±|\.\.$|\bet al\b|\(\s*(?:19|20)\d\d\s*\)|\bdoi\b|https?:|www\.|@|©",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[`{}<>|\\_*#$^~=]|\]\(|\*\*|\$\$|//")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a text: `text[start:end]` is the sentence as it stands there."""

    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """A sentence that stands alone; offsets are of the source, `text` has its white space folded."""

    source_id: str
    start: int
    end: int
    quote: str
    text: str
    heading: str = ""
    path: str = ""


def fold(text: str) -> str:
    """Text with each run of white space made one space."""
    return " ".join(text.split())


def sentences(text: str) -> list[Sentence]:
    """Sentences of the running text, in order; headings, tables, code and directives are left out."""
    return [found for start, end in _blocks(text) for found in _split(text, start, end)]


def statements(text: str, source_id: str = "", heading: str = "", path: str = "") -> list[Statement]:
    """The sentences of a text that stand alone, as statements."""
    found = []
    for sentence in sentences(text):
        quote = text[sentence.start : sentence.end]
        folded = fold(quote)
        if not problem(folded):
            found.append(Statement(source_id, sentence.start, sentence.end, quote, folded, heading, path))
    return found


def problem(sentence: str) -> str:
    """Why a folded sentence cannot stand alone as a statement; empty when it can."""
    words = sentence.split()
    if not sentence.endswith("."):
        return "does not end with a full stop"
    if not MINIMUM_WORDS <= len(words) <= MAXIMUM_WORDS:
        return f"has {len(words)} words"
    first = re.sub(r"\W+$", "", words[0]).lower()
    if not (words[0][0].isupper() or re.match(r"\d?[A-Z]", words[0])):
        return "does not start as a sentence"
    if first in _OPENERS or _OPENING_PHRASES.match(sentence):
        return f"leans on what stands before it ({first})"
    if _ANAPHORA.search(sentence):
        return "points outside itself"
    if _CITATION.search(sentence) or _MARKUP.search(sentence):
        return "carries citations or markup"
    if sentence.count("(") != sentence.count(")") or sentence.count("[") != sentence.count("]"):
        return "has an open bracket"
    if re.search(r'[“”"]|\?|!|:', sentence):
        return "quotes, asks or announces"
    return ""


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Span of a quote in a text, exactly or else but for white space, soft hyphens and kinds of dash and quote mark."""
    wanted = quote.strip()
    if not wanted:
        return None
    at = text.find(wanted)
    if at >= 0:
        return at, at + len(wanted)
    pieces = [_tolerant(word) for word in wanted.split()]
    match = re.search(r"\s+".join(pieces), text)
    return match.span() if match else None


def chunk_span(statement: Statement, chunk: Chunk) -> tuple[int, int] | None:
    """Where the statement lies in a chunk of its source, checked to the letter; None when not wholly inside."""
    if statement.source_id != chunk.source_id or statement.start < chunk.start or statement.end > chunk.end:
        return None
    start, end = statement.start - chunk.start, statement.end - chunk.start
    return (start, end) if chunk.text[start:end] == statement.quote else None


def stitch(chunks: Sequence[Chunk]) -> str:
    """The text of a source as far as its chunks cover it; what they leave out is blank lines of the same length."""
    pieces: list[str] = []
    at = 0
    for chunk in sorted(chunks, key=lambda chunk: (chunk.start, chunk.end)):
        if chunk.start > at:
            pieces.append("\n" * (chunk.start - at))
            at = chunk.start
        if chunk.end > at:
            pieces.append(chunk.text[at - chunk.start :])
            at = chunk.end
    return "".join(pieces)


def _tolerant(word: str) -> str:
    marks = {"-": "[-‐‑–—]", "–": "[-‐‑–—]", "—": "[-‐‑–—]", "'": "['’‘]", "’": "['’‘]", '"': '["“”]', "“": '["“”]'}
    return "\u00ad?".join(marks.get(letter, re.escape(letter)) for letter in word)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip("\r\n"))
        start += len(line)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Spans of paragraphs and list items; a heading, table row or directive ends a block and belongs to none."""
    blocks: list[tuple[int, int]] = []
    current: list[tuple[int, int]] = []
    fenced = False

    def close() -> None:
        if current:
            blocks.extend(_without_headings(text, current))
            current.clear()

    for start, end in _lines(text):
        line = text[start:end]
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or not line.strip() or _DEBRIS_LINE.match(line):
            close()
            continue
        bullet = _BULLET.match(line)
        if bullet:
            close()
            start += bullet.end()
        current.append((start, end))
    close()
    return blocks


def _without_headings(text: str, lines: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cut a run of lines where a short line without end mark is followed by a capital: a heading without markup."""
    longest = max(end - start for start, end in lines)
    begin = 0
    for number, (start, end) in enumerate(lines[:-1]):
        line = text[start:end].strip()
        follows = text[lines[number + 1][0] : lines[number + 1][1]].lstrip()
        if line and line[-1] not in ".,;:?!-" and follows[:1].isupper() and end - start < 0.7 * longest:
            yield lines[begin][0], end
            begin = number + 1
    yield lines[begin][0], lines[-1][1]


def _split(text: str, start: int, end: int) -> Iterator[Sentence]:
    at = start
    for mark in _END.finditer(text, start, end):
        if mark.end() < end and not _ends_sentence(text, at, mark, end):
            continue
        sentence = _trim(text, at, mark.end())
        if sentence:
            yield sentence
        at = mark.end()
    rest = _trim(text, at, end)
    if rest:
        yield rest


def _ends_sentence(text: str, at: int, mark: re.Match[str], end: int) -> bool:
    following = text[mark.end() : min(end, mark.end() + 40)].lstrip()
    if not following or not (following[0].isupper() or following[0].isdigit() or following[0] in "\"'“‘(["):
        return False
    if text[mark.start()] != ".":
        return True
    last = re.search(r"\S*$", text[at : mark.start()])
    word = last.group().lstrip("(\"'[“‘").lower() if last else ""
    if word in _ABBREVIATIONS:
        # "MS." ends a sentence about the disease; "Ms." before a name does not
        return bool(last and last.group().isupper() and word not in {"p", "pp"})
    return not (re.fullmatch(r"[a-z](?:\.[a-z])*", word) and last is not None and word not in {"t", "a", "g", "c"})


def _trim(text: str, start: int, end: int) -> Sentence | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Sentence(start, end) if end > start else None
