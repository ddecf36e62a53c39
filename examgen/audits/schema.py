"""Schema: what an item must have before anything else is asked of it."""

from __future__ import annotations

from collections import Counter

from examgen.audits.items import AuditItem
from examgen.audits.observations import Observation, counted, yes


def options_count(item: AuditItem) -> Observation:
    """Number of options."""
    return Observation(float(len(item.options)))


def key_out_of_range(item: AuditItem) -> Observation:
    """One where the key points at no option."""
    return yes(not item.key_known, f"key {item.key} of {len(item.options)} options")


def empty_stem(item: AuditItem) -> Observation:
    """One where the stem has no word."""
    return yes(not item.stem_words, "the stem is empty")


def empty_options(item: AuditItem) -> Observation:
    """Number of options without a visible character."""
    return counted(f"option {place + 1}" for place, text in enumerate(item.options) if not text.strip())


def empty_explanation(item: AuditItem) -> Observation:
    """One where the explanation is empty."""
    return yes(not item.explanation.strip(), "no explanation")


def empty_labels(item: AuditItem) -> Observation:
    """How many of topic and subtopic are empty."""
    return counted(name for name in ("topic", "subtopic") if not str(getattr(item, name)).strip())


def repeated_options(item: AuditItem) -> Observation:
    """Number of options that repeat another after normalisation (case of longer words, white space, final stop).

    Haladyna, Downing & Rodriguez 2002: options are independent; MS-Exam-Gen: exactly four distinct options.
    """
    seen = Counter(_as_compared(text) for text in item.options if text.strip())
    return counted(text for text, times in seen.items() for _ in range(times - 1))


def _as_compared(text: str) -> str:
    """Case counts in short tokens only (alleles, variables): "Sc" is not "sC"."""
    return " ".join(word.casefold() if len(word) > 3 else word for word in text.split()).removesuffix(".")
