"""Numbers: how they are read and spelled, and a number of a clause with the values that would make it false."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from examgen.ids import seed_of
from examgen.writing.clauses import Clause

NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
NUMBER = r"(?:\d+(?:\.\d+)?|" + "|".join(NUMBER_WORDS[1:]) + r")"
_PRE = (
    r"(?P<pre>(?:at least|at most|no more than|not more than|more than|less than|fewer than|about|approximately|around|"
    r"up to|within|every|above|below|exactly|a minimum of) )?"
)
_POST = r"(?P<post> or (?:more|fewer|longer|older|younger|later|less))?"
VALUE = re.compile(
    rf"(?<![\w.,-]){_PRE}(?P<low>{NUMBER})(?:(?P<joint> to |–|-| and )(?P<high>{NUMBER}))?(?![\w-]){_POST}",
    re.IGNORECASE,
)
"""A number or range with the words that bound it: groups pre, low, joint, high, post."""
_LOWER = ("at least", "more than", "above", "a minimum of")
_UPPER = ("at most", "no more than", "not more than", "less than", "fewer than", "below", "up to", "within")
_PEOPLE = re.compile(r" of (?:all )?(?:the )?(?:patients|people|children|lesions|cases)")


@dataclass(frozen=True)
class Quantity:
    """A number of a clause and its false values; the fields are those of a slot."""

    start: int
    end: int
    family: str
    question_type: str
    weight: float
    alternatives: tuple[str, ...]
    scale: tuple[str, ...] = ()
    group: str = ""


def number_of(text: str) -> float:
    """Value of a number in digits or words."""
    lower = text.lower()
    return float(NUMBER_WORDS.index(lower)) if lower in NUMBER_WORDS else float(text)


def spelled(value: float, like: str) -> str:
    """A number in the style of another: words for words as far as twelve, else digits."""
    if like.lower() in NUMBER_WORDS and value == int(value) and 0 < value < len(NUMBER_WORDS):
        return NUMBER_WORDS[int(value)]
    return f"{value:g}"


def bound_of(match: re.Match[str]) -> str:
    """Whether a matched value is a "lower" or an "upper" bound; empty for a value as such."""
    before = (match["pre"] or "").strip().lower()
    if before in _LOWER or (match["post"] or "") in (" or more", " or longer", " or older", " or later"):
        return "lower"
    return "upper" if before in _UPPER or match["post"] else ""


def on_scale(
    clause: Clause,
    span: tuple[int, int],
    family: str,
    question_type: str,
    weight: float,
    rendered: Sequence[str],
    place: int,
) -> Quantity | None:
    """A quantity whose false values are its neighbours on a rising scale; `rendered[place]` is the original."""
    original = clause.text[span[0] : span[1]]
    texts = [original if number == place else text for number, text in enumerate(rendered)]
    others = [text for number, text in enumerate(texts) if abs(number - place) == 1 and text not in clause.text]
    if seed_of(clause.text, span[0]) & 1:
        others.reverse()
    if not others:
        return None
    scale = tuple(texts) if len(texts) >= 4 else ()
    return Quantity(*span, family, question_type, weight, tuple(others), scale)


def opposite_bound(clause: Clause, match: re.Match[str], end: int, question_type: str, unit: str) -> Quantity | None:
    """An observed bound is only contradicted by the opposite bound: "more than 90%" by "less than 50%".

    `unit` is empty for things counted; `end` is where the value ends in the clause.
    """
    value, number = number_of(match["low"]), match["low"]
    lower = bound_of(match) == "lower"
    if unit == "%":
        if (lower and value < 50) or (not lower and value > 50):
            return None
        number = "50" if lower and value >= 80 else spelled(value, number)
    counted = not unit or (unit == "%" and _PEOPLE.match(clause.text[end:]) is not None)
    comparator = ("fewer than" if counted else "less than") if lower else "more than"
    text = f"{comparator} {number}{clause.text[match.end() : end]}"
    if lower and not unit:
        if value != 3:
            return None
        text = "one or two"
    return Quantity(match.start(), end, "bound", question_type, 0.7, (text,))
