"""Several contrasts in one bank: what each needs, which constraint binds, what a given bank can resolve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.discordance import Discordance
from examgen.statistics.estimate import check_probability
from examgen.statistics.mcnemar import Alternative, Design, Test, power_at
from examgen.statistics.multiplicity import Correction, planning_alpha
from examgen.statistics.sizing import (
    ceiling_n,
    discordance_floor,
    floor_n,
    hard_stop_n,
    minimum_detectable_gain,
    probability_of_floor,
    probability_perfect,
    required_n,
)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A declared comparison: its name, the discordance planned for, the accuracy of the better arm if known."""

    name: str
    discordance: Discordance
    accuracy: float | None = None


@dataclass(frozen=True, slots=True)
class SizingRules:
    """How a bank is sized; every field is a choice the plan's table repeats.

    `design_effect` multiplies the items needed (clustering in topics); `attrition` is the share of authored
    items that will not be analysed; `floor_probability` None means the power; `cap` the most items that can
    be authored, None for no limit; `comparisons` the size of the family when it is larger than the contrasts
    that are sized (every pair of a panel, for instance). `hard_stop_rate` is the rate of violations of a hard-stop rule
    that a run without any should exclude (one-sided 95 %), None without such a rule.
    """

    power: float = 0.8
    alpha: float = 0.05
    test: Test = "exact"
    correction: Correction = "holm"
    design_effect: float = 1.0
    attrition: float = 0.0
    ceiling_threshold: float = 0.01
    floor_probability: float | None = None
    cap: int | None = None
    alternative: Alternative = "two-sided"
    comparisons: int | None = None
    hard_stop_rate: float | None = None

    def __post_init__(self) -> None:
        check_probability("power", self.power, open_ends=True)
        check_probability("alpha", self.alpha, open_ends=True)
        check_probability("ceiling_threshold", self.ceiling_threshold, open_ends=True)
        if self.design_effect < 1.0:
            raise StatisticsError(f"a design effect below 1 ({self.design_effect}) is not planned on")
        if not 0.0 <= self.attrition < 1.0:
            raise StatisticsError(f"attrition lies in [0, 1), not {self.attrition}")
        if self.cap is not None and self.cap < 1:
            raise StatisticsError(f"cap is at least 1 item, not {self.cap}")
        if self.hard_stop_rate is not None:
            check_probability("hard_stop_rate", self.hard_stop_rate, open_ends=True)
        if self.comparisons is not None and self.comparisons < 1:
            raise StatisticsError(f"a family holds at least one comparison, not {self.comparisons}")

    def level(self, contrasts: int) -> float:
        """The level each of so many contrasts is planned at."""
        return planning_alpha(self.alpha, max(1, contrasts, self.comparisons or 0), self.correction)


@dataclass(frozen=True, slots=True)
class SizingPlan:
    """The plan: `table` has a row a contrast; `items` is the bank that serves all of them (authored items).

    `items` is None when some contrast cannot be sized; `feasible` is False when the cap is exceeded or
    `items` is None; `binding` names the contrast and the constraint that set `items`.
    """

    table: pd.DataFrame
    items: int | None
    binding: str
    feasible: bool
    rules: SizingRules


_INTEGERS = ["n_power", "n_sustained", "n_lower", "n_upper", "n_floor", "n_ceiling", "n_analysed", "n_authored"]


def size_contrasts(contrasts: Sequence[Contrast], rules: SizingRules | None = None) -> SizingPlan:
    """Size a bank for all declared contrasts, each at the family's planning level.

    The constraints of a contrast: power (sustained n, times the design effect), floor (enough discordant
    items for any significance), ceiling (a perfect score stays unlikely). The largest binds. Attrition
    turns analysed into authored items. Table columns: contrast, p_b, p_c, gain, alpha, floor, n_power (first),
    n_sustained, n_lower, n_upper (certificate), n_floor, n_ceiling, n_analysed, n_authored, binding, note.
    """
    chosen = rules or SizingRules()
    if not contrasts:
        raise StatisticsError("there is no contrast to size for: declare at least one")
    names = [contrast.name for contrast in contrasts]
    if len(set(names)) != len(names):
        raise StatisticsError("two contrasts have the same name")
    alpha = chosen.level(len(contrasts))
    table = pd.DataFrame([_size_one(contrast, chosen, alpha) for contrast in contrasts])
    table = table.astype(dict.fromkeys(_INTEGERS, "Int64"))
    if table["n_authored"].isna().any():
        failing = table.loc[table["n_authored"].isna(), "contrast"].iloc[0]
        return SizingPlan(table, None, f"{failing}: cannot be sized", False, chosen)
    worst = max(table.to_dict("records"), key=lambda row: int(row["n_authored"]))
    items, binding = int(worst["n_authored"]), f"{worst['contrast']}: {worst['binding']}"
    if chosen.hard_stop_rate is not None:
        clean = authored_items(hard_stop_n(chosen.hard_stop_rate), chosen.attrition)
        items, binding = max((items, binding), (clean, "hard-stop rules"), key=lambda pair: pair[0])
    return SizingPlan(table, items, binding, chosen.cap is None or items <= chosen.cap, chosen)


def _size_one(contrast: Contrast, rules: SizingRules, alpha: float) -> dict[str, object]:
    pair = contrast.discordance
    need = required_n(Design(pair.p_b, pair.p_c, alpha, rules.test, rules.alternative), power=rules.power)
    floor = discordance_floor(alpha, rules.test, rules.alternative)
    reach = rules.power if rules.floor_probability is None else rules.floor_probability
    n_floor = floor_n(pair.p_d, floor=floor, probability=reach)
    n_ceiling = None if contrast.accuracy is None else ceiling_n(contrast.accuracy, rules.ceiling_threshold)
    note = need.note
    if contrast.accuracy == 1.0:
        note = (note + "; " if note else "") + "an accuracy of 1 is at the ceiling whatever the size"
    powered = None if need.sustained is None else math.ceil(need.sustained * rules.design_effect - 1e-9)
    constraints = {"power": powered, "floor": n_floor, "ceiling": n_ceiling}
    analysed, binding, authored = None, "not sizeable", None
    if powered is not None:
        known = {name: n for name, n in constraints.items() if n is not None}
        binding = max(known, key=lambda name: known[name])
        analysed = known[binding]
        authored = authored_items(analysed, rules.attrition)
    return {
        "contrast": contrast.name, "p_b": pair.p_b, "p_c": pair.p_c, "gain": pair.gain,
        "assumption": pair.source, "alpha": alpha, "power": rules.power, "floor": floor,
        "n_power": need.first, "n_sustained": need.sustained, "n_lower": need.lower,
        "n_upper": need.upper, "n_floor": n_floor, "n_ceiling": n_ceiling, "n_analysed": analysed,
        "n_authored": authored, "binding": binding, "note": note,
    }  # fmt: skip


def authored_items(analysed: int, attrition: float) -> int:
    """Items to author so that `analysed` are left when the share `attrition` falls away."""
    if not 0.0 <= attrition < 1.0:
        raise StatisticsError(f"attrition lies in [0, 1), not {attrition}")
    return math.ceil(analysed / (1.0 - attrition) - 1e-9)


def resolvable(n_authored: int, contrasts: Sequence[Contrast], rules: SizingRules | None = None) -> pd.DataFrame:
    """What a bank of `n_authored` items can resolve: the warning of a build.

    A row a contrast: n_analysed, n_effective (over the design effect), power, floor_reached, perfect (chance
    of a perfect score, missing without an accuracy), minimum_gain (missing where none suffices), resolvable.
    """
    chosen = rules or SizingRules()
    if n_authored < 0:
        raise StatisticsError(f"a bank holds 0 items or more, not {n_authored}")
    alpha = chosen.level(len(contrasts))
    analysed = math.floor(n_authored * (1.0 - chosen.attrition) + 1e-9)
    effective = math.floor(analysed / chosen.design_effect + 1e-9)
    floor = discordance_floor(alpha, chosen.test, chosen.alternative)
    rows = []
    for contrast in contrasts:
        pair = contrast.discordance
        power = power_at(effective, Design(pair.p_b, pair.p_c, alpha, chosen.test, chosen.alternative))
        smallest = minimum_detectable_gain(
            effective, worse=min(pair.p_b, pair.p_c), power=chosen.power, alpha=alpha, test=chosen.test,
            alternative=chosen.alternative,
        )  # fmt: skip
        perfect = None if contrast.accuracy is None else probability_perfect(contrast.accuracy, analysed)
        rows.append({
            "contrast": contrast.name, "gain": pair.gain, "n_analysed": analysed, "n_effective": effective,
            "alpha": alpha, "power": power, "target_power": chosen.power,
            "floor_reached": probability_of_floor(effective, pair.p_d, floor), "perfect": perfect,
            "minimum_gain": smallest.value, "resolvable": bool(power >= chosen.power),
        })  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame.astype({"perfect": "Float64", "minimum_gain": "Float64"}) if rows else frame


def mean_difference_n(
    gain: float,
    *,
    between: float = 1.0 / 9.0,
    within_first: float = 0.0,
    within_second: float = 0.0,
    repeats: int = 1,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int:
    """Items for a paired difference of mean scores when each item is answered `repeats` times by each arm.

    `between`: variance over items of the difference of the arms' expected scores; `within_*`: variance of one
    arm's score on an item over repeats. n = (z_{a/2} + z_b)^2 (between + (w1 + w2)/repeats) / gain^2, rounded
    up. For repeated seeds and for several human respondents as one arm. Source: Miller 2024, eq. for power.
    """
    check_probability("power", power, open_ends=True)
    check_probability("alpha", alpha, open_ends=True)
    if gain == 0 or repeats < 1 or min(between, within_first, within_second) < 0:
        raise StatisticsError("gain must not be 0, repeats at least 1, variances not negative")
    z = float(stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power))
    variance = between + (within_first + within_second) / repeats
    return max(1, math.ceil(z * z * variance / (gain * gain) - 1e-9))
