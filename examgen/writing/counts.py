"""Counts: "two of four", "at least three lesions", and other counts that break the same rule."""

from __future__ import annotations

import re
from collections.abc import Iterator

from examgen.ids import seed_of
from examgen.lexicons import Lexicons
from examgen.writing.clauses import Clause
from examgen.writing.numbers import NUMBER, Quantity, bound_of, number_of, on_scale, opposite_bound, spelled

OUT_OF = re.compile(rf"(?<![\w.,-])(?P<x>{NUMBER}) of (?:the )?(?P<y>{NUMBER})(?![\w-])", re.IGNORECASE)
"""A count out of a total: groups x and y."""


def counts_out_of(match: re.Match[str]) -> Iterator[Quantity]:
    """ "two of four": the count and the total are two details; the count never exceeds the total."""
    x, y = number_of(match["x"]), number_of(match["y"])
    if not (1 <= x <= y <= 12 and x == int(x)):
        return
    seed = seed_of(match.string, match.start())
    near = _other_counts(match, int(x), int(y), bool(seed & 1))
    if near:
        scale = tuple(spelled(value, match["x"]) for value in sorted([x, *near])) if len(near) >= 3 else ()
        other = (spelled(near[0], match["x"]),)
        yield Quantity(match.start("x"), match.end("x"), "count out of", "count", 1.0, other, scale)
    least = max([x + 1, *near[:1]])
    totals = [value for value in ((y - 1, y + 1) if seed & 2 else (y + 1, y - 1)) if value >= least]
    if totals:
        yield Quantity(match.start("y"), match.end("y"), "total", "count", 0.9, (spelled(totals[0], match["y"]),))


def _other_counts(match: re.Match[str], x: int, y: int, upward: bool) -> list[int]:
    """Counts that may stand for x, the nearest first: none for a member ("is one of four"), as a verb must agree."""
    if x == 1 and re.search(r"\b(?:is|are|was|were|as|be) $", match.string[: match.start()]):
        return []
    counts = [value for value in range(1, y + 1) if value != x]
    if re.match(r"[^,;]*\b(?:are|were|have|do)\b", match.string[match.end() :]):
        counts = [] if x == 1 else [value for value in counts if value != 1]
    return sorted(counts, key=lambda value: (abs(value - x), (value > x) == upward))


def count_of_things(clause: Clause, match: re.Match[str], lexicons: Lexicons, normative: bool) -> Quantity | None:
    """A number before something that can be counted, at most three words on."""
    if match["high"] or not re.fullmatch(r"[a-z]+|\d{1,2}", match["low"], re.IGNORECASE):
        return None
    plurals = {lexicons.plural(noun) for noun in lexicons.countable}
    noun = _noun_ahead(clause.text[match.end() : match.end() + 60], plurals | lexicons.countable)
    value = int(number_of(match["low"]))
    known = clause.text[: match.start()].endswith((" the ", " these ", " both "))
    if noun is None or known or not 1 <= value <= 20:
        return None
    bound = bound_of(match)
    if value == 1 or noun.group(1) not in plurals:
        return _one_to_more(clause, match, noun, lexicons) if normative and value == 1 and bound else None
    span = (match.start(), match.end())
    spatial = re.search(r"extend|span|measure|long", clause.text[: match.start()][-40:])
    if bound and (not normative or (spatial and "require" not in clause.text)):
        return opposite_bound(clause, match, match.end(), "count", "")
    if not normative:
        return None
    values = list(range(max(2, value - 3), value + 4))
    rendered = [f"{match['pre'] or ''}{spelled(float(v), match['low'])}{match['post'] or ''}" for v in values]
    return on_scale(clause, span, "count", "count", 1.0, rendered, values.index(value))


def _noun_ahead(text: str, nouns: frozenset[str] | set[str]) -> re.Match[str] | None:
    """The first countable noun within four words, if nothing but adjectives stands before it."""
    ahead = [match for match, _ in zip(re.finditer(r" ([\w-]+)", text), range(4), strict=False)]
    noun = next((match for match in ahead if match.group(1) in nouns), None)
    if noun is None or re.search(r"[,;]| and | or | of | in ", text[: noun.start() + 1]):
        return None
    return noun


def _one_to_more(clause: Clause, match: re.Match[str], noun: re.Match[str], lexicons: Lexicons) -> Quantity | None:
    """ "at least one lesion" becomes "at least two lesions", the noun with it, where no verb follows to agree."""
    end = match.end() + noun.end()
    if noun.group(1) not in lexicons.countable or re.match(r" (?:is|has|was|does)\b", clause.text[end:]):
        return None
    between = clause.text[match.end() : match.end() + noun.start(1)]
    more = [
        f"{match['pre'] or ''}{word}{match['post'] or ''}{between}{lexicons.plural(noun.group(1))}"
        for word in ("two", "three", "four")
    ]
    scale = (clause.text[match.start() : end], *more)
    return Quantity(match.start(), end, "count", "count", 1.0, tuple(more[:2]), scale)
