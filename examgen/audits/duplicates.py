"""Duplicates that know minimal pairs: exact, near (string similarity) and semantic (cosine), each with its partner.

Two items are compared by what they ask and what they hold true: the stem and the text of the key. A pair whose
difference is a typed fact (a number, year, negation, comparator, name, site or opposite), or whose keys say different
things, is a *minimal pair*: worth having in a benchmark, so it is flagged and not dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
import pandas as pd
from rapidfuzz import fuzz, process

from examgen.audits.anchors import anchored_pairs
from examgen.audits.blocking import candidate_pairs
from examgen.audits.facts import differences, opposed
from examgen.audits.items import STOP_WORDS, AuditItem, stemmed, words
from examgen.ids import normalised

FLOOR = 0.90
"""Similarity and cosine from which pairs are looked for unless asked otherwise (the paper's); a lower floor takes
longer.
"""

RULES = (
    "exact_duplicate",
    "key_conflict",
    "contradiction",
    "near_duplicate",
    "minimal_pair",
    "semantic_duplicate",
    "semantic_neighbour",
)
"""Kinds of pair, each a column of scores; `<rule>_partner` names the earlier item."""

SCORED = RULES[3:]
"""The rules that depend on the similarity from which pairs are looked for."""

EXACT_UP_TO = 20_000
"""Texts up to which no pair above the floor can be lost; beyond, pairs are looked for by rare runs of characters
(`anchors`), because the exact search costs the square of their number.
"""

_BLOCK = 1024
_COLUMNS = 8192
_PAIRS = 200_000


@dataclass(frozen=True)
class Pair:
    """Two items alike under a rule: `later` stands after `earlier` in the order given; score is 0 to 1."""

    earlier: int
    later: int
    rule: str
    score: float
    detail: str = ""


def compared_text(item: AuditItem) -> str:
    """What is compared: the stem and the key, normalised."""
    return f"{normalised(item.stem)} {normalised(item.key_text)}".strip()


def _whole(item: AuditItem) -> tuple[str, ...]:
    return (normalised(item.stem), *sorted(normalised(option) for option in item.options))


def difference_between(left: AuditItem, right: AuditItem) -> str:
    """Why two alike items are a minimal pair; empty where they say the same.

    Typed facts of stem and key are compared in order. Beyond them, keys that differ in a content word make a minimal
    pair, unless the words are inflections of each other.
    """
    typed = differences(f"{left.stem} {left.key_text}", f"{right.stem} {right.key_text}", ordered=False)
    if typed:
        return "; ".join(str(change) for change in typed[:4])
    swapped = _swapped_words(words(left.stem), words(right.stem))
    opposite = next((f"opposite: {a} -> {b}" for a, b in swapped if opposed(a, b)), "")
    if opposite:
        return opposite
    keys = [word for pair in _swapped_words(words(left.key_text), words(right.key_text)) for word in pair]
    content = [word for word in keys if word and word.casefold() not in STOP_WORDS]
    if content and fuzz.token_set_ratio(normalised(left.key_text), normalised(right.key_text)) < 100:
        return f"keys differ: {left.key_text!r} and {right.key_text!r}"[:200]
    return ""


def _swapped_words(left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str]]:
    """Words that one text has in place of another's, compared by stem."""
    matcher = SequenceMatcher(None, [stemmed(w) for w in left], [stemmed(w) for w in right], autojunk=False)
    found = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            before, after = left[a:b], right[c:d]
            found += [
                (before[i] if i < len(before) else "", after[i] if i < len(after) else "")
                for i in range(max(len(before), len(after)))
            ]
    return found


def exact_pairs(items: Sequence[AuditItem]) -> list[Pair]:
    """Items with the same stem and options: duplicates where the key is the same, a conflict where it is not."""
    found: list[Pair] = []
    groups: dict[tuple[str, ...], dict[str, int]] = {}
    for place, item in enumerate(items):
        keys = groups.setdefault(_whole(item), {})
        key = normalised(item.key_text)
        found += [Pair(first, place, "exact_duplicate", 1.0) for other, first in keys.items() if other == key]
        found += [
            Pair(first, place, "key_conflict", 1.0, f"{items[first].key_text!r} there, {item.key_text!r} here")
            for other, first in keys.items()
            if other != key
        ]
        keys.setdefault(key, place)
    return found


def contradictions(items: Sequence[AuditItem]) -> list[Pair]:
    """Items with the same stem of which one holds true what the other offers as a wrong option.

    One of the two is wrong, or has two right answers, and the texts do not say which. So both get the mark, whichever
    came first. The same stem with other options and another key alone is no contradiction: both may be right.
    """
    found: list[Pair] = []
    groups: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if item.key_known:
            groups.setdefault(normalised(item.stem), []).append(place)
    for places in (group for stem, group in groups.items() if stem and len(group) > 1):
        keys = {place: normalised(items[place].key_text) for place in places}
        wrong: dict[str, list[int]] = {}
        for place in places:
            for text in {normalised(items[place].options[other]) for other in items[place].distractors}:
                wrong.setdefault(text, []).append(place)
        pairs = {(min(p, q), max(p, q)) for p in places for q in wrong.get(keys[p], ()) if keys[p] != keys[q]}
        found += [
            Pair(a, b, "contradiction", 1.0, f"keys {items[a].key_text!r} and {items[b].key_text!r}"[:200])
            for a, b in sorted(pairs)
        ]
    return found


def near_pairs(items: Sequence[AuditItem], floor: float = FLOOR) -> Iterator[Pair]:
    """Items whose stem and key are alike as strings: normalised indel similarity of at least `floor`.

    Equal texts score 1 without being compared; the others go through a filter that loses none up to `EXACT_UP_TO`.
    """
    groups: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(compared_text(item), []).append(place)
    for places in groups.values():
        whole = _whole(items[places[0]])
        for later in places[1:]:
            if _whole(items[later]) != whole:
                yield _judged(items, places[0], later, 1.0, "near_duplicate", "minimal_pair")
    for first, second, score in alike(list(groups), floor):
        yield from _crossed(items, groups, groups[first][0], groups[second][0], score)


def alike(texts: Sequence[str], floor: float, exact_up_to: int = EXACT_UP_TO) -> Iterator[tuple[str, str, float]]:
    """Pairs of distinct texts whose similarity is at least `floor`, each once, with the similarity."""
    exact = len(texts) <= exact_up_to
    seen: set[tuple[int, int]] = set()
    for left, right in candidate_pairs(texts, floor) if exact else anchored_pairs(texts, floor):
        for begin in range(0, len(left), _PAIRS):
            a, b = left[begin : begin + _PAIRS], right[begin : begin + _PAIRS]
            scores = process.cpdist(
                [texts[i] for i in a],
                [texts[j] for j in b],
                scorer=fuzz.ratio,
                score_cutoff=100 * floor,
                dtype=np.float32,
            )
            for hit in np.flatnonzero(scores >= 100 * floor - 1e-4):
                pair = (int(min(a[hit], b[hit])), int(max(a[hit], b[hit])))
                if pair not in seen:
                    seen.add(pair)
                    yield texts[pair[0]], texts[pair[1]], float(scores[hit]) / 100


def _crossed(
    items: Sequence[AuditItem], groups: Mapping[str, list[int]], first: int, second: int, score: float
) -> Iterator[Pair]:
    """Pairs of two groups of equal texts: the first of one with each of the other."""
    left, right = groups[compared_text(items[first])], groups[compared_text(items[second])]
    for other in right:
        yield _judged(items, min(first, other), max(first, other), score, "near_duplicate", "minimal_pair")
    for other in left[1:]:
        yield _judged(items, min(second, other), max(second, other), score, "near_duplicate", "minimal_pair")


def _judged(items: Sequence[AuditItem], first: int, later: int, score: float, same: str, other: str) -> Pair:
    difference = difference_between(items[first], items[later])
    return Pair(first, later, other if difference else same, round(min(score, 1.0), 6), difference)


def semantic_pairs(items: Sequence[AuditItem], vectors: np.ndarray, floor: float = FLOOR) -> Iterator[Pair]:
    """Items whose vectors (n, d; L2-normalised) have a cosine of at least `floor`, in blocks of rows and columns: 32 MB
    at a time.

    A pair whose numbers, years, negations or names differ is a neighbour, not a duplicate.
    """
    known = np.flatnonzero(vectors.any(axis=1))
    matrix = vectors[known].astype(np.float32, copy=False)
    for begin in range(0, len(known), _BLOCK):
        for start in range(begin, len(known), _COLUMNS):
            scores = matrix[begin : begin + _BLOCK] @ matrix[start : start + _COLUMNS].T
            rows, columns = np.nonzero(scores >= floor)
            for row, column in zip(rows, columns, strict=True):
                if start + column > begin + row:
                    first, later = int(known[begin + row]), int(known[start + column])
                    yield _paraphrase(items, first, later, float(scores[row, column]))


def _paraphrase(items: Sequence[AuditItem], first: int, later: int, score: float) -> Pair:
    left, right = items[first], items[later]
    told = told_apart(f"{left.stem} {left.key_text}", f"{right.stem} {right.key_text}")
    rule = "semantic_neighbour" if told else "semantic_duplicate"
    return Pair(first, later, rule, round(min(score, 1.0), 6), told)


def told_apart(left: str, right: str) -> str:
    """The typed facts in which two texts of like meaning differ; empty where they may say the same."""
    typed = differences(left, right, ordered=False)
    changed = [d for d in typed if (d.before and d.after) or d.kind in ("number", "year", "negation")]
    return "; ".join(str(change) for change in changed[:4])


def find_pairs(
    items: Sequence[AuditItem], vectors: Mapping[str, np.ndarray] | None = None, floor: float = FLOOR
) -> list[Pair]:
    """All pairs of every rule, in the order of the items; vectors are by row id, an item without one is not
    compared.
    """
    found = exact_pairs(items)
    exact = {(pair.earlier, pair.later) for pair in found}
    found += contradictions(items)
    found += [pair for pair in near_pairs(items, floor) if (pair.earlier, pair.later) not in exact]
    if vectors:
        size = len(next(iter(vectors.values())))
        matrix = np.zeros((len(items), size), dtype=np.float32)
        for place, item in enumerate(items):
            if item.row_id in vectors:
                matrix[place] = vectors[item.row_id]
        found += semantic_pairs(items, matrix, floor)
    return sorted(found, key=lambda pair: (pair.later, RULES.index(pair.rule), -pair.score, pair.earlier))


def duplicate_columns(
    items: Sequence[AuditItem], pairs: Sequence[Pair], semantic: bool, excluded: Collection[str] = ()
) -> pd.DataFrame:
    """One row an item: for each rule the highest score with an *earlier* item, 0 where there is none, and its partner.

    Items in `excluded` (row ids, for instance rejected ones) are nobody's partner. A contradiction alone marks both
    items, and counts with an excluded partner too: it tells of the one that is left. Without vectors the semantic
    columns are NaN: not measured.
    """
    ids = [item.row_id for item in items]
    scores = {rule: np.zeros(len(ids)) for rule in RULES}
    partners = {rule: [""] * len(ids) for rule in RULES}
    details = {rule: [""] * len(ids) for rule in RULES}
    out = set(excluded)
    for pair in pairs:
        both = pair.rule == "contradiction"
        for place, partner in ((pair.later, pair.earlier), (pair.earlier, pair.later))[: 1 + both]:
            if (both or ids[partner] not in out) and pair.score > scores[pair.rule][place]:
                scores[pair.rule][place] = pair.score
                partners[pair.rule][place] = ids[partner]
                details[pair.rule][place] = pair.detail
    columns: dict[str, object] = {}
    for rule in RULES:
        absent = rule.startswith("semantic") and not semantic
        columns[rule] = np.full(len(ids), np.nan) if absent else scores[rule]
        columns[f"{rule}_partner"] = partners[rule]
        columns[f"{rule}_seen"] = details[rule]
    return pd.DataFrame(columns, index=pd.Index(ids))
