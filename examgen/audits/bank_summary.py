"""What a bank looks like from outside: how often the key is the longest option, where keys stand, what a cue probe
picks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from examgen.audits import cues
from examgen.audits.items import AuditItem
from examgen.audits.positions import position_counts, position_p_value
from examgen.cue_probe import CueProbe, probe
from examgen.records import BankItem
from examgen.statistics.estimate import Estimate
from examgen.statistics.intervals import wilson

Probe = Callable[[Sequence[AuditItem]], CueProbe]

NEEDS_SOURCES = (
    "verbatim quotes and their place",
    "changed numbers, units, names and negations in quotes",
    "support of the key by the evidence",
    "distractors supported by the evidence",
)
"""Checks that an outside bank cannot get because its sources are not there."""
NEEDS_EXPLANATIONS = ("references to option labels in explanations", "explanations against the key")
NEEDS_VECTORS = ("semantic duplicates",)


@dataclass(frozen=True)
class BankSummary:
    """The figures of a bank. Shares have Wilson intervals; `chance` is the mean of one over the number of options."""

    name: str
    items: int
    chance: float
    key_longest: Estimate
    key_uniquely_longest_words: Estimate
    key_stands_out: Estimate
    positions: dict[str, int]
    position_p: float
    probe: CueProbe | None
    skipped: tuple[str, ...] = field(default=())

    @property
    def headline(self) -> str:
        """The first line of the report: the length cue, set against chance."""
        share = 100 * (self.key_longest.value or 0.0)
        expected = 100 * self.chance
        told = f"The key is the longest option in {share:.1f} % of {self.items:,} items"
        low = 100 * (self.key_longest.low or 0.0)
        if low > 2 * expected:
            scored = f"whoever always picks the longest option scores {share:.0f} %"
            return f"{told}: {scored}, against {expected:.0f} % by chance."
        if low > expected:
            return f"{told}, more than chance would have it ({expected:.0f} %)."
        return f"{told}, no more than chance would have it ({expected:.0f} %)."


def default_probe(items: Sequence[AuditItem]) -> CueProbe:
    """The project's cue probe on the form of the options, with a null of 20 redrawn keys."""
    # The probe reads options, key, topic and id, which both kinds of item have under the same names.
    return probe(cast(Sequence[BankItem], items), permutations=20)


def _share(items: Sequence[AuditItem], rule: Callable[[AuditItem], cues.Observation]) -> Estimate:
    values = [rule(item).value for item in items]
    known = [value for value in values if value is not None]
    return wilson(sum(value > 0 for value in known), len(known))


def summarise(name: str, items: Sequence[AuditItem], probing: Probe | None = default_probe) -> BankSummary:
    """Summary of a bank; `probing` None leaves the cue probe out and says so."""
    keyed = [item for item in items if item.key_known]
    skipped = [f"{check}: needs the sources" for check in NEEDS_SOURCES if not any(item.evidence for item in items)]
    skipped += [f"{check}: needs embeddings" for check in NEEDS_VECTORS]
    if not any(item.explanation.strip() for item in items):
        skipped += [f"{check}: the bank has no explanations" for check in NEEDS_EXPLANATIONS]
    if probing is None:
        skipped.append("cue probe: not asked for")
    return BankSummary(
        name=name,
        items=len(items),
        chance=sum(1 / len(item.options) for item in keyed) / max(1, len(keyed)),
        key_longest=_share(keyed, cues.key_longest),
        key_uniquely_longest_words=_share(keyed, cues.key_uniquely_longest),
        key_stands_out=_share(keyed, cues.key_stands_out),
        positions=position_counts(keyed),
        position_p=position_p_value(
            [item.key_letter for item in keyed], max((len(i.options) for i in keyed), default=4)
        ),
        probe=probing(keyed) if probing else None,
        skipped=tuple(skipped),
    )
