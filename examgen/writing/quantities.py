"""Quantities: the numbers of a clause that a rule or a definite observation fixes, and other values for them."""

from __future__ import annotations

import re

from examgen.lexicons import Lexicons, Unit, any_of
from examgen.writing.clauses import Clause
from examgen.writing.counts import OUT_OF, count_of_things, counts_out_of
from examgen.writing.numbers import VALUE, Quantity, bound_of, number_of, on_scale, opposite_bound, spelled

_FAR = 6
"""A false range lies within this factor of the true one: farther off nobody takes it for true."""


def quantity_slots(clause: Clause, lexicons: Lexicons) -> list[Quantity]:
    """Numbers of the predicate with their false values.

    Where a rule sets the number (`normative` words), any clearly different number breaks it; an observed bound is
    contradicted only by the opposite bound.
    """
    normative = any_of(lexicons.normative).search(clause.text) is not None
    taken: list[tuple[int, int]] = []
    found: list[Quantity] = []
    for match in OUT_OF.finditer(clause.text, clause.verb):
        if normative:
            found.extend(counts_out_of(match))
        taken.append(match.span())
    for match in VALUE.finditer(clause.text, clause.verb):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        quantity = _measured(clause, match, lexicons, normative)
        quantity = quantity or count_of_things(clause, match, lexicons, normative)
        if quantity:
            found.append(quantity)
    return found


def _measured(clause: Clause, match: re.Match[str], lexicons: Lexicons, normative: bool) -> Quantity | None:
    """A number with a unit; nothing when the unit is unknown or part of a product ("1 mm × 1 mm")."""
    follows = clause.text[match.end() :]
    for unit in sorted(lexicons.units, key=lambda unit: -len(unit.unit)):
        at = re.match(rf"\s?(?:{_forms(unit)})(?![\w/])", follows)
        if at and not re.match(r"\s?(?:×|x )", follows[at.end() :]):
            end = match.end() + at.end()
            return (_range if match["high"] else _single)(clause, match, unit, end, normative)
    return None


def _forms(unit: Unit) -> str:
    """Plural and singular of a unit as a pattern."""
    name = re.escape(unit.unit)
    return f"{name}|{re.escape(unit.unit[:-1])}" if unit.unit.endswith("s") else name


def _single(clause: Clause, match: re.Match[str], unit: Unit, end: int, normative: bool) -> Quantity | None:
    value = number_of(match["low"])
    values = _ladder(value, unit)
    if re.search(r"\b(?:the|first|last|next|these) $", clause.text[: match.start()]):
        values = [step for step in values if step != 1]
    if value not in values:
        return None
    if not normative and re.match(r"[^,;]*\b(?:more|less|fewer|higher|lower)\b", clause.text[end:]):
        return None
    if bound_of(match) and not normative:
        return opposite_bound(clause, match, end, unit.question_type, unit.unit)
    rendered = [_rendered(clause, match, step, end, unit.unit) for step in values]
    weight = 1.0 if normative else 0.8
    family = f"quantity {unit.unit}"
    return on_scale(clause, (match.start(), end), family, unit.question_type, weight, rendered, values.index(value))


def _ladder(value: float, unit: Unit) -> list[float]:
    """Values of the unit's ladder that are clearly apart from the value and each other, with the value among them."""
    if value <= 0 or (unit.unit == "%" and value > 100):
        return []
    kept = [value]
    for step in sorted((v for v in unit.ladder if v < value), reverse=True):
        if kept[0] / step >= unit.factor:
            kept.insert(0, step)
    for step in (v for v in unit.ladder if v > value):
        if step / kept[-1] >= unit.factor:
            kept.append(step)
    return kept if len(kept) > 1 else []


def _rendered(clause: Clause, match: re.Match[str], value: float, end: int, unit: str) -> str:
    """Another value with the words around the original, the unit in the number that fits."""
    unit_text = clause.text[match.end() : end]
    if unit.endswith("s"):
        unit_text = f" {unit.removesuffix('s')}" if value == 1 else f" {unit}"
    return f"{match['pre'] or ''}{spelled(value, match['low'])}{match['post'] or ''}{unit_text}"


def _range(clause: Clause, match: re.Match[str], unit: Unit, end: int, normative: bool) -> Quantity | None:
    """A range and others that do not touch it or each other."""
    low, high = number_of(match["low"]), number_of(match["high"])
    if low >= high or (match["joint"] == " and " and not clause.text[: match.start()].endswith("between ")):
        return None
    chosen = [(low, high)]
    for a, b in unit.ranges:
        if low / _FAR <= a <= high * _FAR and all(b < c or a > d for c, d in chosen):
            chosen.append((a, b))
    if len(chosen) < 2:
        return None
    chosen.sort()
    unit_text = clause.text[match.end() : end]
    rendered = [
        f"{match['pre'] or ''}{spelled(a, match['low'])}{match['joint']}{spelled(b, match['high'])}{unit_text}"
        for a, b in chosen
    ]
    weight = 1.0 if normative else 0.85
    span, place = (match.start(), end), chosen.index((low, high))
    return on_scale(clause, span, f"range {unit.unit}", unit.question_type, weight, rendered, place)
