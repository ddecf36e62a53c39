"""Grounding: every quote stands verbatim in its passage, the evidence supports the key and supports no distractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from examgen.audits.facts import Difference, differences, facts
from examgen.audits.items import AuditItem, content_stems, words
from examgen.audits.observations import Observation, absent, counted
from examgen.records import Chunk, Evidence

CHANGED_KINDS = ("number", "unit", "year", "negation", "comparator", "name", "site", "opposite")
"""Kinds of fact whose change in a quote is a finding of its own."""


@dataclass(frozen=True)
class Span:
    """A stretch of a passage, how alike it is to the text sought (0 to 1), and the facts in which they differ."""

    start: int
    end: int
    text: str
    similarity: float
    changes: tuple[Difference, ...] = ()


def closest_span(quote: str, passage: str) -> Span:
    """The stretch of `passage` most like `quote`, widened to whole words.

    Similarity is the normalised indel similarity of the best alignment (rapidfuzz partial ratio); the changes are the
    typed facts that differ, whatever the similarity.
    """
    exact = passage.find(quote) if quote else -1
    if exact >= 0:
        return Span(exact, exact + len(quote), quote, 1.0)
    if not quote.strip() or not passage.strip():
        return Span(0, 0, "", 0.0, tuple(differences(quote, "")))
    if len(quote) >= len(passage):
        start, end = 0, len(passage)
    else:
        found = fuzz.partial_ratio_alignment(quote, passage)
        start, end = (found.dest_start, found.dest_end) if found else (0, 0)
    while start > 0 and passage[start - 1].isalnum() and passage[start : start + 1].isalnum():
        start -= 1
    while end < len(passage) and passage[end].isalnum() and passage[end - 1].isalnum():
        end += 1
    while start < end and passage[start] in " \n\t,;:":
        start += 1
    while end > start and passage[end - 1].isspace():
        end -= 1
    text = passage[start:end]
    return Span(start, end, text, fuzz.ratio(quote, text) / 100, tuple(differences(text, quote)))


@dataclass(frozen=True)
class QuoteCheck:
    """What became of one quote: verbatim in place, verbatim elsewhere in its passage, or not verbatim."""

    evidence: Evidence
    verdict: str
    span: Span | None
    detail: str = ""


def check_quote(evidence: Evidence, chunks: Mapping[str, Chunk]) -> QuoteCheck:
    """Compare a quote with its passage; verdict is exact, misplaced, inexact, empty or no passage."""
    chunk = chunks.get(evidence.chunk_id)
    if chunk is None:
        return QuoteCheck(evidence, "no passage", None, f"passage {evidence.chunk_id!r} is not in the corpus")
    if not evidence.quote.strip():
        return QuoteCheck(evidence, "empty", None, "the quote is empty")
    if evidence.source_id != chunk.source_id:
        return QuoteCheck(evidence, "no passage", None, f"passage {chunk.chunk_id} is of source {chunk.source_id!r}")
    if 0 <= evidence.start <= evidence.end and chunk.text[evidence.start : evidence.end] == evidence.quote:
        return QuoteCheck(evidence, "exact", Span(evidence.start, evidence.end, evidence.quote, 1.0))
    span = closest_span(evidence.quote, chunk.text)
    if span.similarity == 1.0:
        told = f"stands at {span.start}-{span.end}, not at {evidence.start}-{evidence.end}"
        return QuoteCheck(evidence, "misplaced", span, told)
    changes = "; ".join(str(change) for change in span.changes) or "wording or spacing"
    return QuoteCheck(evidence, "inexact", span, f"{changes}; closest: {span.text!r} at {span.start}-{span.end}")


def quote_measures(item: AuditItem, chunks: Mapping[str, Chunk] | None) -> dict[str, Observation]:
    """Measures of an item's quotes; all absent where no passages are given."""
    names = ["quotes", "quotes_not_verbatim", "quotes_misplaced", "quote_similarity"]
    names += [f"quote_changed_{kind}" for kind in CHANGED_KINDS]
    if chunks is None:
        return dict.fromkeys(names, absent())
    checks = [check_quote(evidence, chunks) for evidence in item.evidence]
    wrong = [check for check in checks if check.verdict in ("inexact", "empty", "no passage")]
    seen = {
        "quotes": Observation(float(len(checks))),
        "quotes_not_verbatim": counted(check.detail for check in wrong),
        "quotes_misplaced": counted(check.detail for check in checks if check.verdict == "misplaced"),
        "quote_similarity": Observation(min((c.span.similarity if c.span else 0.0 for c in checks), default=0.0)),
    }
    changes = [change for check in wrong if check.span for change in check.span.changes]
    for kind in CHANGED_KINDS:
        seen[f"quote_changed_{kind}"] = counted(str(change) for change in changes if change.kind == kind)
    return seen


def _elements(text: str) -> list[str]:
    """What a text asserts, in order: its facts by value and its other content words by stem."""
    elements: list[str] = []
    last = 0
    for fact in facts(text):
        elements += content_stems(words(text[last : fact.start]))
        elements.append(f"{fact.kind}={fact.value}")
        last = fact.end
    return elements + content_stems(words(text[last:]))


def _window(statement: Sequence[str], option: Sequence[str], quote: Sequence[str]) -> int | None:
    """Length of the shortest stretch of the quote that holds the option's elements in order and the stem's in any;
    None where there is none."""
    needed = set(statement)
    best: int | None = None
    for start in range(len(quote)):
        place, wanted = start, list(option)
        for end in range(start, len(quote)):
            if wanted and quote[end] == wanted[0]:
                wanted.pop(0)
            place = end
            if not wanted and needed <= set(quote[start : end + 1]):
                best = place - start + 1 if best is None else min(best, place - start + 1)
                break
    return best


def support_measures(item: AuditItem) -> dict[str, Observation]:
    """How far the quotes bear out the key, and how many distractors they bear out as well.

    `key_support` is the share of the key's content words and facts found in the quotes; `key_unsupported_facts`
    counts its numbers, years and names that are not. A distractor counts as supported when all its elements stand in
    the quotes, in its own order, and no farther from what the stem says than the key's do: "49 %" in another clause
    of the same quote supports nothing. For a stem that is a question the count goes to `distractors_quoted`, because
    a quote may well name what it excludes.
    """
    quotes = [evidence.quote for evidence in item.evidence if evidence.quote.strip()]
    if not quotes or not item.key_known:
        names = ("key_support", "key_unsupported_facts", "distractors_supported", "distractors_quoted")
        return dict.fromkeys(names, absent())
    quote = [element for text in quotes for element in [*_elements(text), "|"]]
    held = set(quote)
    key = _elements(item.key_text)
    missing = [e for e in key if e not in held]
    unsupported = [e.split("=", 1)[1] for e in missing if e.split("=", 1)[0] in ("number", "year", "name") and "=" in e]
    stem = [element for element in _elements(item.stem) if element in held]
    key_window = _window(stem, [e for e in key if e in held], quote)
    supported = []
    for place in item.distractors:
        option = _elements(item.options[place])
        if not option or not set(option) <= held or option == key:
            continue
        window = _window(stem, option, quote)
        if window is not None and (key_window is None or window - len(option) <= key_window - len(key)):
            supported.append(item.options[place])
    completes = not item.asks
    return {
        "key_support": Observation(1 - len(missing) / len(key) if key else 0.0, ", ".join(missing)),
        "key_unsupported_facts": counted(unsupported),
        "distractors_supported": counted(supported) if completes else Observation(0.0),
        "distractors_quoted": counted(supported),
    }


def sources_quoted(item: AuditItem) -> int:
    """Number of different sources quoted as evidence."""
    return len({evidence.source_id for evidence in item.evidence if words(evidence.quote)})
