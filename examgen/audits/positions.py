"""Where the keys stand over a bank: evenly, or so that guessing one letter pays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scipy.stats import chi2

from examgen.audits.items import AuditItem
from examgen.records import LETTERS


def position_counts(items: Sequence[AuditItem]) -> dict[str, int]:
    """How often the key stands at each letter, letters without a key included."""
    places = max((len(item.options) for item in items), default=0)
    counts = Counter(item.key for item in items if item.key_known)
    return {LETTERS[place]: counts[place] for place in range(min(places, len(LETTERS)))}


def position_p_value(letters: Sequence[str], places: int | None = None) -> float:
    """P value of Pearson's chi-square test (places - 1 degrees of freedom) that the key stands equally often in
    every place.

    `letters` names the key's letter of each item; `places` is the number of options (default: the last letter seen,
    at least four). Fewer than five expected a place: the test says nothing and the value is 1.
    """
    known = [letter for letter in letters if isinstance(letter, str) and letter and letter in LETTERS]
    size = places or max(4, max((LETTERS.index(letter) + 1 for letter in known), default=0))
    expected = len(known) / size
    if expected < 5:
        return 1.0
    counts = Counter(known)
    statistic = sum((counts[letter] - expected) ** 2 / expected for letter in LETTERS[:size])
    return float(chi2.sf(statistic, size - 1))
