"""Attributions: author names taken out of a statement, and statements that are about a paper rather than a fact."""

from __future__ import annotations

import re

_AUTHOR = re.compile(
    r",? (?:(?:as )?(?:reported|described|proposed|published|introduced|defined|given|led) )?(?:by|of|from|in) "
    r"(?:[A-Z][\w'’-]+(?:(?:,| and| &) [A-Z][\w'’-]+)*) (?:and colleagues|(?:19|20)\d\d[a-z]?)(?=[\s,.])"
)
_BY_NAME = re.compile(r" by [A-Z][a-zé'’-]+(?=,)")
_AUTHOR_LEFT = re.compile(r"\b[A-Z][a-zé'’-]+(?:-[A-Z][a-z]+)? (?:19|20)\d\d\b|\band colleagues\b")
_ACCORDING = re.compile(r"^According to [A-Z][\w'’-]+(?: [A-Z][\w-]+)? (?:19|20)\d\d, (\w)")
_STUDY = re.compile(r"\b(?:study|studies|cohort|cohorts|series|meta-analysis|trial|participants|authors)\b")
_NAMED_TRIAL = re.compile(r"\b[A-Z]{4,}\d* (?:trial|study)|Treatment Trial|\b[A-Z][A-Za-z]*[A-Z]+\w* trial\b")
_NAMELESS = re.compile(
    r"(?:In|According to|Under|By) the (?:(?:19|20)\d\d )?(?:(?:revised|new|updated|first|original|previous|"
    r"international|diagnostic|proposed) )*(?:criteria|guidelines?|recommendations|revision|protocol|definitions?|"
    r"rules?|study|trial|classification|statement|proposal|consensus),"
)
_CALENDAR = re.compile(r"(?:19|20)\d\d\b")


def without_authors(text: str) -> str:
    """A statement without the names of those who made it; empty when it is about a paper rather than a fact."""
    if _AUTHOR_LEFT.match(text):
        return ""
    text = _ACCORDING.sub(lambda match: match.group(1).upper(), text)
    bare = _BY_NAME.sub("", _dated(_AUTHOR.sub("", text), text), count=1)
    if _AUTHOR_LEFT.search(bare):
        return ""
    opening = bare.split(",", 1)[0]
    if opening != text.split(",", 1)[0] and re.search(
        r"\b(?:study|studies|cohort|cohorts|series|analysis|analyses|follow-up|report)\b", opening
    ):
        return ""
    if _STUDY.search(opening) and not _NAMED_TRIAL.search(opening):
        return ""
    if _NAMELESS.match(bare):
        return ""
    return bare


def _dated(bare: str, text: str) -> str:
    """ "the X criteria of Author 2022" keeps its year as "the 2022 X criteria"."""
    taken = _AUTHOR.search(text)
    year = _CALENDAR.search(taken.group()) if taken else None
    opening = text[: taken.start()] if taken else ""
    if (
        year is None
        or _CALENDAR.search(opening)
        or "," in opening
        or not re.search(r"(?:criteria|guideline|classification|rules|statement)$", opening)
    ):
        return bare
    return re.sub(r"\bthe ", f"the {year.group()} ", bare, count=1)
