"""Item-writing flaws of numeric options. NBME = NBME Item-Writing Guide (2020), ch. 3; HDR = Haladyna, Downing &
Rodriguez, Applied Measurement in Education 15 (2002) 309-333.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import combinations

from examgen.audits.items import AuditItem
from examgen.audits.observations import Observation, counted, yes
from examgen.audits.terms import UNITS

_NUMBER = r"[-−]?\$?\d[\d,]*(?:\.\d+)?"
_RANGE = re.compile(
    rf"(?:(?:from )?({_NUMBER})\s*%?\s*(?:[-–—]|to)|between ({_NUMBER})\s*%? and)\s*({_NUMBER})\s*(.{{0,25}})",
    re.IGNORECASE,
)
_UNDER = re.compile(
    rf"(?:(?:less|fewer|lower|younger) than|under|below|<|up to|at most|≤|no more than)\s*({_NUMBER})\s*(.{{0,25}})",
    re.IGNORECASE,
)
_OVER = re.compile(
    rf"(?:(?:more|greater|higher|older) than|over|above|>|at least|≥|no fewer than)\s*({_NUMBER})\s*(.{{0,25}})",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    rf"(?:about |approximately |exactly )?({_NUMBER})(?![\d/^*+(])\s*([^\d+*/^=()]{{0,25}})", re.IGNORECASE
)
_CLOSED = re.compile(r"^(?:up to|at most|at least|≤|≥|no more|no fewer)", re.IGNORECASE)


@dataclass(frozen=True)
class Interval:
    """The numbers an option allows: bounds, whether each belongs to it, and the unit as written."""

    low: float
    high: float
    low_in: bool
    high_in: bool
    unit: str

    @property
    def single(self) -> bool:
        """Whether the option is one number."""
        return self.low == self.high

    def meets(self, other: Interval) -> bool:
        """Whether some number belongs to both."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low < high:
            return True
        return low == high and all((i.low < low or i.low_in) and (i.high > high or i.high_in) for i in (self, other))


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace("$", "").replace(",", ""))


def _unit(text: str) -> str:
    found = re.match(r"[^\W\d_]+(?:/[^\W\d_]+)?|%|°[CF]?", text.strip())
    if found is None or found.group().casefold() in ("million", "billion", "thousand", "hundred", "only"):
        return ""
    return UNITS.get(found.group(), found.group().casefold().removesuffix("s"))


def interval(option: str) -> Interval | None:
    """What an option that is nothing but a number or a range allows; None for any other option."""
    text = option.strip().rstrip(".")
    match = _RANGE.fullmatch(text)
    if match:
        low, high = _value(match[1] or match[2]), _value(match[3])
        unit = _unit(match[4]) or ("%" if "%" in text else "")
        return Interval(low, high, True, True, unit) if low < high else None
    closed = _CLOSED.match(text) is not None
    if match := _UNDER.fullmatch(text):
        return Interval(-math.inf, _value(match[1]), False, closed, _unit(match[2]))
    if match := _OVER.fullmatch(text):
        return Interval(_value(match[1]), math.inf, closed, False, _unit(match[2]))
    if match := _SINGLE.fullmatch(text):
        number = _value(match[1])
        return Interval(number, number, True, True, "$" if "$" in match[1] else _unit(match[2]))
    return None


def overlapping_ranges(item: AuditItem) -> Observation:
    """Pairs of options of which at least one is a range and some number fits both ("1-3" and "3-5").

    Thresholds in the same direction ("at least 2", "at least 3") are alternatives of a criterion and exempt; so are
    ranges in different units. NBME, HDR: numeric choices must not overlap.
    """
    found = []
    known = [(option, interval(option)) for option in item.options]
    for (text, left), (other, right) in combinations(known, 2):
        if (
            left is None
            or right is None
            or (left.single and right.single)
            or (left.unit and right.unit and left.unit != right.unit)
        ):
            continue
        same_way = (left.low == right.low == -math.inf) or (left.high == right.high == math.inf)
        if not same_way and left.meets(right):
            found.append(f"{text} / {other}")
    return counted(found)


def unordered_numbers(item: AuditItem) -> Observation:
    """All options are numbers or ranges in one unit and stand neither in rising nor in falling order.

    NBME, HDR: put numeric choices in order. A bank whose options are shuffled breaks this on purpose.
    """
    known = [interval(option) for option in item.options]
    intervals = [i for i in known if i is not None]
    if len(intervals) < 3 or len(intervals) < len(known) or len({i.unit for i in intervals}) > 1:
        return counted(())
    places = [(i.low if i.low > -math.inf else i.high - 1e-9, i.high) for i in intervals]
    ordered = places in (sorted(places), sorted(places, reverse=True))
    return yes(not ordered, " / ".join(item.options))


def mixed_units(item: AuditItem) -> Observation:
    """All options are numbers or ranges and their units differ, or some have one and others none.

    NBME: numeric data stated in one format. Where the stem asks for a unit ("in which unit") nothing is said here.
    """
    known = [interval(option) for option in item.options]
    intervals = [i for i in known if i is not None]
    if len(intervals) < 2 or len(intervals) < len(known) or all(i.low == 0 == i.high for i in intervals):
        return counted(())
    units = sorted({i.unit for i in intervals if not (i.low == i.high == 0 and not i.unit)})
    return counted(unit or "(none)" for unit in units) if len(units) > 1 else counted(())


def precision_cue(item: AuditItem) -> Observation:
    """Single numbers where the key alone has more or fewer decimals than the distractors, which agree.

    NBME: the answer that was worked out stands out by its precision.
    """
    if not item.key_known or len(item.options) < 3:
        return counted(())
    places = []
    for option in item.options:
        match = _SINGLE.fullmatch(option.strip().rstrip("."))
        if match is None:
            return counted(())
        places.append(len(match[1].partition(".")[2]))
    others = {places[place] for place in item.distractors}
    alone = len(others) == 1 and places[item.key] not in others
    return yes(alone, " / ".join(item.options))
