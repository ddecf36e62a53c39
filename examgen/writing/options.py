"""Options: endings of a sentence in which one slot takes four values, or two slots two values each (2 × 2)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from examgen.ids import seed_of
from examgen.lexicons import Lexicons
from examgen.writing.clauses import Clause, cut_before
from examgen.writing.numbers import number_of
from examgen.writing.slots import Slot

_DROPPED = re.compile(
    r",? (?:which|because|so that|in contrast to|although|whereas|while|even though|rather than|instead of|"
    r"as opposed to|"
    r"unlike)\b|, (?:so|but|with|particularly|especially|mainly|such as|for which|a pattern|compared with|exactly|just|"
    r"namely|numbered|graded|labelled|ranging|called)\b|, and (?=\S)"
)
_CONSEQUENCE = re.compile(r"\b(?:because|so that|which (?!runs?|lies?|needs?|requires?|extends?))\b|, so\b")
_JOINT = re.compile(r",? (?:whereas|while|but) ")
_COMPARING = re.compile(
    r"\bthan\b|\bin contrast to\b|\bunlike\b|"
    r"favou?rs?\b.*\bover\b|(?:prefer\w+|advantage|value|superior\w*|better) (?:over|to)\b|versus\b|"
    r"compared with\b"
)
_CONTRASTS = frozenset(
    {
        *("comparison", "frequency", "direction", "laterality", "extent", "border", "signal", "course"),
        *("requirement", "involvement", "placement"),
    }
)
_VOWEL = re.compile(r"(?:[aeio]|u(?!n[ir]|s|t)|8|11|18|MRI|NM|MS|S[A-Z]|F[A-Z]|X|MO(?!G)|[AEIO])")


@dataclass(frozen=True)
class Construction:
    """An ending `text[cut:end]` of a clause and its slots; `values[i]` holds the original of slot i first."""

    clause: Clause
    cut: int
    end: int
    slots: tuple[Slot, ...]
    values: tuple[tuple[str, ...], ...]

    @property
    def head(self) -> str:
        """The sentence before the ending."""
        return self.clause.text[: self.cut].strip()

    @property
    def score(self) -> float:
        """Quality of the slots: their mean weight, more for two families and a compact ending."""
        weight = sum(slot.weight for slot in self.slots) / len(self.slots)
        length = len(self.clause.text[self.cut : self.end].split())
        return weight + (0.1 if len({slot.family for slot in self.slots}) > 1 else 0.0) - 0.01 * max(0, length - 16)

    def render(self, picks: Sequence[int]) -> str:
        """The ending with the picked value in each slot."""
        text = self.clause.text
        pieces, at = [], self.cut
        for slot, values, pick in zip(self.slots, self.values, picks, strict=True):
            pieces += [text[at : slot.start], values[pick]]
            at = slot.end
        pieces.append(text[at : self.end])
        ending = _articles("".join(pieces).strip().rstrip(",;"))
        return _JOINT.sub(", and ", ending) if self._paired else ending

    @property
    def _paired(self) -> bool:
        """Both sides of a contrast hold a slot of one family: crossed, they need not contrast any more."""
        if len(self.slots) != 2:
            return False
        first, second = self.slots
        apart = self.clause.segment_of(first.start) != self.clause.segment_of(second.start)
        return apart and first.family == second.family

    def record(self) -> dict[str, object]:
        """The construction as data: statement, place of the cut, and each slot's original and false values."""
        slots = [
            {"family": slot.family, "original": values[0], "perturbed": list(values[1:])}
            for slot, values in zip(self.slots, self.values, strict=True)
        ]
        return {"statement": self.clause.statement.text, "stem_end": self.cut, "slots": slots}

    def options(self) -> list[tuple[tuple[int, ...], str]]:
        """Picks and text of every option, the key first."""
        return [
            (picks, self.render(picks)) for picks in itertools.product(*(range(len(values)) for values in self.values))
        ]


def four_values(clause: Clause, slots: Sequence[Slot], lexicons: Lexicons) -> list[Construction]:
    """Constructions with one slot of four values."""
    found = []
    for slot in slots:
        if not slot.four or slot.group or _compared(clause, slot):
            continue
        values = _window(slot, seed_of("window", clause.text, slot.start)) if slot.scale else _drawn(slot, clause)
        made = _construct(clause, (slot,), (values,), lexicons)
        if made:
            found.append(made)
    return found


def two_by_two(clause: Clause, slots: Sequence[Slot], lexicons: Lexicons) -> list[Construction]:
    """Constructions with two independent slots of two values each."""
    found = []
    for first, second in itertools.combinations(slots, 2):
        if not _independent(clause, first, second):
            continue
        values = tuple((slot.surface, _second_value(slot, clause)) for slot in (first, second))
        if not _consistent(first, second, values) or _flips_twice(*values) or _flips_twice(*values[::-1]):
            continue
        made = _construct(clause, (first, second), values, lexicons)
        if made:
            found.append(made)
    return sorted(found, key=lambda construction: -construction.score)


_DENIAL = re.compile(r"\b(?:not|no|never|without|neither)\b|n't\b")
_BOUND = re.compile(r"\b(?:at least|at most|less|fewer|more|above|below|under|over|exceeds?|longer|shorter)\b")


def _flips_twice(denied: Sequence[str], bounded: Sequence[str]) -> bool:
    """Whether one slot denies and the other turns a bound round: "not counted below 3 mm" is true where "counted from
    3 mm" is, so the option with both would be right as well."""
    denials = {bool(_DENIAL.search(value)) for value in denied}
    return len(denials) == 2 and all(_BOUND.search(value) for value in bounded)


def one_slot(clause: Clause, slots: Sequence[Slot], lexicons: Lexicons) -> list[Construction]:
    """Constructions with one slot of two values, the halves of a synthesis item."""
    found = []
    for slot in slots:
        if slot.group or _compared(clause, slot) or slot.family == "total":
            continue
        made = _construct(clause, (slot,), ((slot.surface, _second_value(slot, clause)),), lexicons)
        if made:
            found.append(made)
    return sorted(found, key=_worth_with_coin)


def _worth_with_coin(construction: Construction) -> float:
    """Score turned for sorting, less a little when the key leans another way in length than a coin says."""
    first, second = (len(text) for _, text in construction.options()[:2])
    wanted = seed_of("half", construction.clause.text) % 3 > 0
    return -construction.score + (0.15 if first != second and (first > second) != wanted else 0.0)


def at_verb(construction: Construction) -> Construction:
    """The same construction with the ending begun at the finite verb, for longer options."""
    clause = construction.clause
    return Construction(clause, clause.verb, construction.end, construction.slots, construction.values)


def _construct(
    clause: Clause, slots: tuple[Slot, ...], values: tuple[tuple[str, ...], ...], lexicons: Lexicons
) -> Construction | None:
    cut = cut_before(clause, _start(clause, slots[0]), lexicons)
    end = _ending(clause, slots[-1].end)
    made = Construction(clause, cut, end, slots, values)
    head = made.head
    if re.search(r"(?:[,;]|\b(?:and|or|not|no|nor|an?|the|neither|both|either|than))$", head):
        made = at_verb(made)
        head = made.head
    texts = [text for _, text in made.options()]
    if re.search(r"\bbecause\b", clause.text[clause.verb : slots[0].start]):
        return None  # a reason is no answer to what the sentence states
    if clause.segment_of(slots[0].start) or re.match(
        r"[,;]|(?:and|or|but|whereas)\b", clause.text[made.cut :].lstrip()
    ):
        return None
    if re.search(r"(?:\b(?:do|does|did)|\W)$", head) or re.search(r"\((?:[^)]*\d|(?:\S+ ){4})", head + " " + texts[0]):
        return None
    if len(head.split()) < 4 or len(set(texts)) != len(texts) or (len(texts) != 4 and len(slots) != 1):
        return None
    return made


def _start(clause: Clause, slot: Slot) -> int:
    """Where a slot's phrase starts: a total with its count ("at least two of five")."""
    match = re.search(r"(?:at least |at most |exactly )?\w+ of (?:the )?$", clause.text[: slot.start])
    return match.start() if match and slot.family == "total" else slot.start


def _ending(clause: Clause, last: int) -> int:
    """End of the ending: what follows the last slot is kept to the next clause that only comments or adds."""
    match = _DROPPED.search(clause.text, last)
    while match and match.group().startswith(", and") and _list_goes_on(clause, last, match):
        match = _DROPPED.search(clause.text, match.end())
    return match.start() if match else len(clause.text)


def _list_goes_on(clause: Clause, last: int, match: re.Match[str]) -> bool:
    """Whether ", and" closes a list begun after the last slot rather than opening a new clause."""
    return "," in clause.text[last : match.start()]


def _independent(clause: Clause, first: Slot, second: Slot) -> bool:
    """Two slots may be crossed when no reading ties the truth of one to the other."""
    if _compared(clause, first) or _compared(clause, second):
        return False
    mutual = first.group and first.group == second.surface.lower() and second.group == first.surface.lower()
    if mutual:
        return first.family in _CONTRASTS and clause.segment_of(first.start) != clause.segment_of(second.start)
    if first.group or second.group:
        return False
    if _CONSEQUENCE.search(clause.text[first.end : second.start]):
        return False
    if first.family[:6] in {"quanti", "range "} and first.family.split()[-1] == second.family.split()[-1]:
        return False
    lengths = {"extent", "bound", "count"}
    if {first.family, second.family} <= lengths and "segment" in clause.text[first.start : second.end + 20]:
        return False
    if first.family == second.family and first.surface.lower() == second.surface.lower():
        return False
    return not (first.family == "exchange" or second.family == "exchange")


def _consistent(first: Slot, second: Slot, values: Sequence[Sequence[str]]) -> bool:
    """A count never exceeds its total, whichever values meet, and no value meets itself but across a contrast."""
    if first.group:
        return True
    if (first.family, second.family) != ("count out of", "total") or second.start - first.end > 8:
        return not (values[0][1] == values[1][0] or (values[1][1] == values[0][0] and first.family == second.family))
    return max(map(number_of, values[0])) <= min(map(number_of, values[1]))


def _compared(clause: Clause, slot: Slot) -> bool:
    """Whether the slot stands behind a "than" of its clause: what a thing is compared with cannot be swapped safely."""
    start, _ = clause.segments()[clause.segment_of(slot.start)]
    return _COMPARING.search(clause.text[start : slot.start]) is not None


def _second_value(slot: Slot, clause: Clause) -> str:
    seed = seed_of("value", clause.text, slot.start)
    choices = slot.alternatives[:2] if slot.scale else slot.alternatives
    return choices[seed % len(choices)]


def _window(slot: Slot, seed: int) -> tuple[str, ...]:
    """Four neighbouring values of the scale around the original; its rank among them is drawn by the seed."""
    place = slot.scale.index(slot.surface)
    ranks = [rank for rank in range(4) if rank <= place and place + 3 - rank < len(slot.scale)]
    rank = ranks[seed % len(ranks)]
    window = slot.scale[place - rank : place - rank + 4]
    return (slot.surface, *(value for value in window if value != slot.surface))


def _drawn(slot: Slot, clause: Clause) -> tuple[str, ...]:
    order = sorted(slot.alternatives, key=lambda value: seed_of("drawn", clause.text, value))
    return (slot.surface, *order[:3])


def _articles(text: str) -> str:
    """Text with "a" and "an" made to fit the word that follows; before capitals ("an H-sign") they are left alone."""
    return re.sub(r"\b([Aa])n?(?= ([a-z]\S*))", lambda m: m.group(1) + ("n" if _VOWEL.match(m.group(2)) else ""), text)
