"""Synthesis: one sentence from each of two sources, each with one open ending, asked as a pair."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from examgen.ids import seed_of
from examgen.writing.clauses import Clause
from examgen.writing.facts import CorpusFacts, names_of, similarity, terms_of
from examgen.writing.options import Construction

_SCENES = (
    "A radiologist drafts two sentences for a teaching note on one subject, and each of them still lacks its ending.",
    "A resident copies two facts on one subject into a summary for the reading room but leaves out how each one ends.",
    "Two colleagues prepare one slide for a case conference and still have to agree on how its two sentences end.",
    "An examiner asks a candidate to finish two sentences on a common subject, one after the other.",
)
_COMMON = 0.31
"""Least rarity of the words that two subjects share, as a part of the rarest: "lesions" alone is no common subject."""
_GENERAL = terms_of("multiple sclerosis McDonald criteria recommendations guideline revision protocol patients people")
"""Words of frames that nearly every sentence of a corpus shares."""
_OFTEN = re.compile(r"\b(?:rare|rarely|common|commonly|uncommon|frequent|frequently|absent|present|most|minority)\b")
_ASKED = "Which pair of endings, in this order, makes both sentences correct?"


@dataclass(frozen=True)
class Pair:
    """Two constructions of one slot each, from two sources."""

    first: Construction
    second: Construction
    closeness: float

    @property
    def score(self) -> float:
        """Quality of both slots, and more for sentences that belong together."""
        return (self.first.score + self.second.score) / 2 + self.closeness

    def stem(self) -> str:
        """Scene, both openings and the question."""
        scene = _SCENES[seed_of("pair", self.first.head, self.second.head) % len(_SCENES)]
        one, two = (part.head[0].upper() + part.head[1:].rstrip(",") for part in (self.first, self.second))
        return f"{scene} The first begins “{one} …”, and the second begins “{two} …”. {_ASKED}"

    def options(self) -> list[tuple[tuple[int, int], str]]:
        """Picks and text of the four options, the key first."""
        return [
            ((i, j), f"{self.first.render([i])}; {self.second.render([j])}")
            for i in (0, 1) for j in (0, 1)
        ]  # fmt: skip


def pairs(constructions: Sequence[Construction], at_home: Collection[str], facts: CorpusFacts) -> Iterator[Pair]:
    """Pairs from different sources that share their subject, the closest first, no sentence used twice.

    One sentence of each pair is among those `at_home` (texts of clauses).
    """
    scored = []
    for number, first in enumerate(constructions):
        for second in constructions[number + 1 :]:
            if first.clause.text not in at_home and second.clause.text not in at_home:
                continue
            pair = _pair(first, second, facts)
            if pair:
                scored.append(pair)
    used: set[str] = set()
    for pair in sorted(scored, key=lambda pair: (-pair.score, pair.first.clause.text, pair.second.clause.text)):
        texts = {pair.first.clause.text, pair.second.clause.text}
        if not texts & used:
            used |= texts
            yield pair


def _numbers(text: str) -> frozenset[str]:
    """Numbers of a text, years and names such as 3D left out."""
    return frozenset(term for term in terms_of(text) if re.match(r"(?!(?:19|20)\d\d$)\d+(?!d$)", term))


@lru_cache(maxsize=16384)
def _subject(clause: Clause) -> frozenset[str]:
    """What a sentence is about: its subject, and the condition or method its frame names."""
    return terms_of(clause.subject_text) | (terms_of(clause.frame) - _GENERAL)


def _pair(first: Construction, second: Construction, facts: CorpusFacts) -> Pair | None:
    one, two = first.clause, second.clause
    if one.statement.source_id == two.statement.source_id:
        return None
    # Near-equal sentences ask the same thing twice; sentences without a common subject are two unrelated questions.
    shared = _subject(one) & _subject(two)
    if not shared or sum(map(facts.rarity, shared)) < _COMMON * facts.rarity(""):
        return None
    close = similarity(terms_of(one.text), terms_of(two.text), facts)
    if not 0.25 <= close <= 0.65:
        return None
    # A detail that the other sentence also holds would be asked twice, or be given away.
    if first.slots[0].surface.lower() in two.text.lower() or second.slots[0].surface.lower() in one.text.lower():
        return None
    if set(first.values[0][1:]) & set(second.values[0]):
        return None
    if _numbers(first.slots[0].surface) & _numbers(two.text) or _numbers(second.slots[0].surface) & _numbers(one.text):
        return None
    if first.slots[0].family == second.slots[0].family and terms_of(" ".join(first.values[0])) & terms_of(
        " ".join(second.values[0])
    ):
        return None
    if "frequency" in {first.slots[0].family, second.slots[0].family}:
        other = two if first.slots[0].family == "frequency" else one
        if _OFTEN.search(other.text):
            return None
    same = terms_of(one.frame) == terms_of(two.frame)
    if same and (close > 0.45 or terms_of(one.subject_text) == terms_of(two.subject_text)):
        return None
    same_frame = names_of(one.frame) == names_of(two.frame)
    if same_frame and first.slots[0].family == second.slots[0].family and close > 0.5:
        return None
    return Pair(first, second, close)
