"""Slots: the checkable details of a clause, each with the values that would make the statement false."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from examgen.ids import seed_of
from examgen.lexicons import Lexicons, SiblingSet, any_of
from examgen.writing.clauses import Clause, words_of
from examgen.writing.quantities import quantity_slots


@dataclass(frozen=True)
class Slot:
    """A detail at `text[start:end]` of a clause's text and the texts that may stand in its place.

    `scale` holds values in rising order around the original (itself among them) when four can be offered.
    """

    start: int
    end: int
    surface: str
    family: str
    question_type: str
    weight: float
    alternatives: tuple[str, ...]
    scale: tuple[str, ...] = ()
    group: str = ""

    @property
    def four(self) -> bool:
        """Whether the slot alone can give an item four values."""
        return len(self.scale) >= 4 or (not self.scale and len(self.alternatives) >= 3)


_EDGE = r"(?:(?:\w+ )?(?:demarcated|marginated)|fluffy|(?:ill|well)-defined)"
_BORDERS = re.compile(rf"\b{_EDGE}(?:,| and) {_EDGE}\b")


def find_slots(clause: Clause, lexicons: Lexicons, kinds: Sequence[SiblingSet] = ()) -> list[Slot]:
    """Slots of the predicate in order, without overlaps; the longer and heavier of two that overlap is kept.

    `kinds` are sibling sets that the corpus itself gave, beside those of the lexicons.
    """
    groups = (*lexicons.siblings, *kinds)
    found = [*_contraries(clause, lexicons), *_siblings(clause, groups), *_exchanges(clause, lexicons)]
    found += [
        Slot(
            q.start,
            q.end,
            clause.text[q.start : q.end],
            q.family,
            q.question_type,
            q.weight,
            q.alternatives,
            q.scale,
            q.group,
        )
        for q in quantity_slots(clause, lexicons)
    ]
    usable = [slot for slot in found if slot.start >= clause.verb and _asserted(clause, slot, lexicons)]
    kept: list[Slot] = []
    for slot in sorted(usable, key=lambda slot: (-(slot.end - slot.start) * slot.weight, slot.start)):
        if all(slot.end <= other.start or other.end <= slot.start for other in kept):
            kept.append(slot)
    return sorted(kept, key=lambda slot: slot.start)


def _contraries(clause: Clause, lexicons: Lexicons) -> list[Slot]:
    protected = [match.span() for match in any_of(lexicons.words["protected"]).finditer(clause.text)]
    found = []
    for match in lexicons.contrary_pattern.finditer(clause.text, clause.verb):
        contrary = lexicons.contrary_of[match.group().lower()]
        if any(start <= match.start() and match.end() <= end for start, end in protected):
            continue
        if not _fits(clause, match, contrary.set_name):
            continue
        if _occurs(contrary.opposite, clause.text[: match.start()] + "|" + clause.text[match.end() :]):
            group = contrary.opposite.lower()
        else:
            group = ""
        found.append(
            Slot(match.start(), match.end(), match.group(), contrary.set_name, contrary.question_type, contrary.weight,
                 (contrary.opposite,), (), group)
        )  # fmt: skip
    return found


def _fits(clause: Clause, match: re.Match[str], family: str) -> bool:
    """Contexts in which a pair is a true contrary and reads naturally; what is only included excludes nothing."""
    if clause.base == "include":
        return False
    after = clause.text[match.end() :]
    if family == "laterality" and {"bilateral", "symmetric"} <= set(re.findall(r"\w+", clause.text.lower())):
        return " and " in match.group()
    if family == "signal":
        return not re.match(r" (?:lesions?|foci|focus|white|spots?|areas?)\b", after)
    if match.group() in {"higher", "lower", "slows", "slow"} and re.match(r" (?:the|its|their|an?)\b", after):
        return False
    if match.group() in {"persists", "persist", "disappears", "disappear"}:
        return re.match(r"$|,| (?:on|after|without|despite|and)\b", after) is not None
    if match.group() in {"more", "fewer"}:
        return re.match(r" (?!(?:than|to|in|of|on|at|for)\b)(?:[\w-]+ ){0,2}[\w-]+s\b", after) is not None
    if match.group() in {"present", "absent"} and not re.match(r"$|,| (?:in|from|on|at|and)\b", after):
        return False
    if family == "border" and _BORDERS.search(clause.text, clause.verb):
        return False  # two words for one border: changing either contradicts the other
    if family == "involvement" and not match.group().endswith("ed"):
        return re.match(r" (?:the|both) ", after) is not None
    if family == "evidence" and re.match(r"(?:favour|support|argue)", match.group()):
        _, end = clause.segments()[clause.segment_of(match.start())]
        if re.search(r" and (?:towards?|for|against)\b", clause.text[match.end() : end]):
            return False
        return (
            re.search(r"sclerosis|diagnosis|NMOSD|MOGAD|disease|syndrome|PML", clause.text[match.end() : end])
            is not None
        )
    return True


def _siblings(clause: Clause, groups: Sequence[SiblingSet]) -> list[Slot]:
    found = []
    for group in groups:
        for match in any_of(group.members).finditer(clause.text, clause.verb):
            start, end = clause.segments()[clause.segment_of(match.start())]
            context = clause.text[min(start, clause.subject) : match.start()] + " " + clause.text[match.end() : end]
            if group.adjacent:
                context = re.sub(r" (?:a|an|the)$", "", clause.text[start : match.start()].rstrip())
                if not re.search(any_of(group.cues).pattern + r"$", context):
                    continue
            elif not any_of(group.cues).search(context):
                continue
            others = tuple(
                _apart(group, [o for o in group.strangers(match.group()) if not _occurs(o, clause.text)], clause.text)
            )
            if others and (group.in_lists or not _listed(clause.text, match.start(), match.end(), group.members)):
                found.append(
                    Slot(
                        match.start(), match.end(), match.group(), group.name, group.question_type, group.weight, others
                    )
                )
    return found


def _apart(group: SiblingSet, others: list[str], text: str) -> list[str]:
    """The others in an order drawn from the text, none of them kin of an earlier one."""
    kept: list[str] = []
    for other in sorted(others, key=lambda name: seed_of("sibling", text, name)):
        if not any(other in group.kin_of(name) for name in kept):
            kept.append(other)
    return kept


def _exchanges(clause: Clause, lexicons: Lexicons) -> list[Slot]:
    """ "A rather than B" becomes "B rather than A" when both are terms of one set."""
    found = []
    for group in lexicons.siblings:
        names = any_of(group.members).pattern
        pattern = rf"({names})(,? rather than (?:to |from |for |with |in )?)({names})"
        for match in re.finditer(pattern, clause.text[clause.verb :]):
            start, end = clause.verb + match.start(), clause.verb + match.end()
            swapped = match.group(3) + match.group(2) + match.group(1)
            found.append(Slot(start, end, clause.text[start:end], "exchange", group.question_type, 0.95, (swapped,)))
    return found


def _listed(text: str, start: int, end: int, members: tuple[str, ...]) -> bool:
    """Whether the term stands in a list with others of its set: then another member may be true as well."""
    names = any_of(members).pattern
    after = re.match(rf"\s*(?:,|or|and|and/or)\s+(?:an? |the )?(?:{names})", text[end:])
    before = re.search(rf"(?:{names})\s*(?:,|or|and|, and|, or)\s+(?:an? |the )?$", text[:start])
    return bool(after or before)


def _occurs(term: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(term.lower())}\b", text.lower()) is not None


def _asserted(clause: Clause, slot: Slot, lexicons: Lexicons) -> bool:
    """A slot is usable when no hedge or negation governs it."""
    number = clause.segment_of(slot.start)
    start, _ = clause.segments()[number]
    before = clause.text[start : slot.start]
    if number and not any(token.lower in lexicons.finite for token in words_of(before + slot.surface.split()[0])):
        return False  # in the subject of a later clause: the clause may hold of the other subject as well
    if any_of(lexicons.words["modal_hedges"]).search(before) or re.search(
        r"\b(?:such as|including|for example)\b", before
    ):
        return False
    if re.search(r"\bor(?: \w+ly)? $", before) or re.match(r" or\b(?! more| fewer| less)", clause.text[slot.end :]):
        return False
    close = " ".join(before.split()[-5:])
    if any_of(lexicons.words["hedges"]).search(close) and slot.family not in {"comparison", "frequency"}:
        return False
    return not any_of(lexicons.words["negations"]).search(" ".join(before.split()[-5:]))
