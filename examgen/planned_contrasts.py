"""From the `sizing` section of a study to what the sizing functions take: contrasts, their spread, the rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from examgen.errors import StatisticsError
from examgen.pilot import discordant_counts, read_pilot
from examgen.sizing_section import Contrast as Declared
from examgen.sizing_section import Sizing
from examgen.statistics.discordance import (
    Discordance,
    discordance_from_accuracies,
    discordance_from_gain,
    discordance_range,
)
from examgen.statistics.intervals import tango
from examgen.statistics.plan import Contrast, SizingRules


@dataclass(frozen=True, slots=True)
class Planned:
    """A contrast to size for, and other tables it may turn out to be.

    `spread` holds the discordance under other assumptions: the three kinds of dependence when only accuracies are
    known, the limits of the gain when a pilot gave the numbers; empty when the discordance was declared.
    """

    contrast: Contrast
    spread: tuple[Discordance, ...] = ()
    endpoints: tuple[str, str] | None = None


def resolved(sizing: Sizing, folder: Path) -> Sizing:
    """The section with every pilot table read and replaced by its counts; paths are relative to `folder`.

    What depends on the result depends on what the files say and not on where they lie.
    """
    contrasts = []
    for contrast in sizing.contrasts:
        if contrast.pilot and contrast.endpoints is not None:
            place = folder / contrast.pilot
            counts = discordant_counts(read_pilot(place), contrast.endpoints, str(place))
            contrast = contrast.model_copy(update={"pilot": "", "counts": counts})
        contrasts.append(contrast)
    return sizing.model_copy(update={"contrasts": tuple(contrasts)})


def planned(contrast: Declared, ceiling_accuracy: float | None = None) -> Planned:
    """A contrast of the study with its discordance. Accuracies alone are planned on independence, and it says so."""
    best = contrast.accuracy
    if best is None:
        best = contrast.accuracies[0] if contrast.accuracies else ceiling_accuracy
    table, spread = _discordance(contrast)
    if contrast.source:
        table = replace(table, source=f"{table.source}; {contrast.source}")
    return Planned(Contrast(contrast.name, table, best), spread, contrast.endpoints)


def family(sizing: Sizing) -> list[Planned]:
    """Every contrast the section declares."""
    return [planned(contrast, sizing.ceiling_accuracy) for contrast in sizing.contrasts]


def rules_of(sizing: Sizing) -> SizingRules:
    """The rules of the section as the sizing functions take them."""
    return SizingRules(
        power=sizing.power, alpha=sizing.alpha, test=sizing.test, correction=sizing.correction,
        design_effect=sizing.design_effect, attrition=sizing.attrition, ceiling_threshold=sizing.ceiling_probability,
        floor_probability=sizing.floor_probability, cap=sizing.cap,
        alternative="greater" if sizing.one_sided else "two-sided", comparisons=sizing.comparisons,
        hard_stop_rate=sizing.hard_stop_rate,
    )  # fmt: skip


def _discordance(contrast: Declared) -> tuple[Discordance, tuple[Discordance, ...]]:
    if contrast.better is not None and contrast.worse is not None:
        return Discordance(contrast.better, contrast.worse, "as declared"), ()
    if contrast.gain is not None and contrast.worse is not None:
        return discordance_from_gain(contrast.gain, worse=contrast.worse), ()
    if contrast.counts is not None:
        return _counted(*contrast.counts)
    if contrast.accuracies is not None:
        one, two = contrast.accuracies
        if contrast.agreement is None and contrast.correlation is None:
            cases = discordance_range(one, two)
            said = f"accuracies {one:g} and {two:g}, agreement unknown: planned on independence"
            return replace(cases[1], source=said), tuple(cases)
        found = discordance_from_accuracies(one, two, agreement=contrast.agreement, correlation=contrast.correlation)
        return found, ()
    raise StatisticsError(f"contrast {contrast.name!r}: its pilot table has not been read")


def _counted(b: int, c: int, n: int) -> tuple[Discordance, tuple[Discordance, ...]]:
    """The table of a pilot, and the same discordance with the gain at its limits."""
    if n == 0:
        raise StatisticsError("a table of 0 items says nothing of the discordance")
    gain = tango(b, c, n)
    found = Discordance(b / n, c / n, f"({b}, {c}) of {n} items", n, gain.low, gain.high)
    spread = []
    for name, limit in (("gain at its lower limit", gain.low), ("gain at its upper limit", gain.high)):
        if limit is not None:
            share = min(1.0, max(found.p_d, abs(limit)))
            spread.append(Discordance((share + limit) / 2, max(0.0, (share - limit) / 2), name))
    return found, tuple(spread)
