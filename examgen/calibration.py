"""Everything computed from a bank and the panel's answers: the results tables by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd

from examgen import study
from examgen.accuracy import axis_rows, overall_rows, resampled, topic_rows
from examgen.comparisons import comparison_rows, increment_rows
from examgen.construction import construction_rows
from examgen.contrasts import contrast_rows
from examgen.cue_probe import CueProbe, longest_shares, probe
from examgen.difficulty import difficulty_rows, leave_one_out_rows, panel_rows
from examgen.item_analysis import analysis_rows, easiness, short_form_rows, transposed_fit
from examgen.key_risk import key_risk_rows, removal_rows
from examgen.option_order import option_order_rows
from examgen.profiles import crossings, profile_rows
from examgen.records import BankItem, EndpointRow, FunnelRow, Response
from examgen.repeats import repeat_rows
from examgen.resolving_power import sizing_rows
from examgen.result_rows import Row, number, result, unknown
from examgen.scores import Answers, collect
from examgen.statistics.estimate import Estimate

Responses = Iterable[Response | Mapping[str, Any]] | pd.DataFrame


def calibrate(
    bank: Sequence[BankItem], responses: Responses, endpoints: Sequence[EndpointRow], settings: study.Statistics,
    sizing: study.Sizing | None = None, *, funnel: Sequence[FunnelRow] = (),
    other_banks: Mapping[str, Sequence[BankItem]] | None = None, tiers: Mapping[str, str] | None = None,
    nested: Sequence[Sequence[str]] = (),
) -> dict[str, list[Row]]:
    """Every results table of an evaluation, name to rows; also of responses that were produced elsewhere.

    `responses` are records, plain rows or a frame with item_id, endpoint_id, choice, correct, status (order,
    repeat and mode optional). `other_banks` are probed for cues beside this one; `tiers` (item id -> tier) replaces
    the tiers of the bank, `nested` names configurations of each system in the order in which parts were added. What
    the data cannot give is a row without a value whose note says why; there is never a NaN.
    """
    answers = collect(bank, responses, endpoints)
    works = table_works(
        answers, settings, sizing, funnel=funnel, other_banks=other_banks, tiers=tiers, nested=nested
    )
    return {name: work() for name, work in works.items()}


def table_works(
    answers: Answers, settings: study.Statistics, sizing: study.Sizing | None = None, *,
    funnel: Sequence[FunnelRow] = (), other_banks: Mapping[str, Sequence[BankItem]] | None = None,
    tiers: Mapping[str, str] | None = None, nested: Sequence[Sequence[str]] = (),
) -> dict[str, Callable[[], list[Row]]]:
    """What makes each results table, by name; arguments as `calibrate`. What two tables share is computed once."""
    fit = cache(lambda: transposed_fit(answers))
    drawn = cache(lambda: resampled(answers, settings, "construction_batch"))
    compared = cache(lambda: comparison_rows(answers, settings, sizing, tiers))
    return {
        "accuracy": lambda: [
            *overall_rows(answers, settings, drawn()), *axis_rows(answers, settings), *removal_rows(answers)
        ],
        "topic_accuracy": lambda: topic_rows(answers, settings),
        "item_difficulty": lambda: difficulty_rows(answers, easiness=easiness(answers, fit())),
        "contrasts": lambda: contrast_rows(answers, settings, drawn()),
        "pair_comparisons": lambda: compared()[0],
        "pair_interactions": lambda: compared()[1],
        "increments": lambda: [row for chain in nested for row in increment_rows(answers, chain, settings)],
        "cue_probe": lambda: cue_rows({"this bank": answers.items, **(other_banks or {})}, answers, settings),
        "key_risk": lambda: key_risk_rows(answers),
        "option_order": lambda: option_order_rows(answers, settings.seed),
        "leave_one_out": lambda: leave_one_out_rows(answers),
        "reliability": lambda: [
            *panel_rows(answers), *analysis_rows(answers, fit(), settings.confidence),
            *repeat_rows(answers, settings.confidence),
        ],
        "construction": lambda: construction_rows(answers, funnel, settings.confidence),
        "profiles": lambda: [row for axes in crossings(answers) for row in profile_rows(answers, axes)],
        "sizing": lambda: sizing_rows(sizing, len(answers.items)),
        "short_form": lambda: short_form_rows(answers, settings.seed),
    }


def cue_rows(banks: Mapping[str, Sequence[BankItem]], answers: Answers, settings: study.Statistics) -> list[Row]:
    """Rows of `cue_probe` for each bank side by side, and of endpoints asked without the stem."""
    rows: list[Row] = []
    for name, items in banks.items():
        for stem in (False, True):
            found = probe(
                items, stem=stem, permutations=settings.permutations, seed=settings.seed, level=settings.confidence
            )
            rows += _probe_rows(found, name, len(items))
        if items:
            for unit, share in longest_shares(items).items():
                how = "share of items; a tie is not unique"
                rows.append(
                    number("key uniquely longest", share, how, len(items), bank=name, features=f"length in {unit}")
                )
    return rows + _stemless_rows(answers)


def _probe_rows(found: CueProbe, bank: str, size: int) -> list[Row]:
    labels = {"bank": bank, "features": found.features}
    rows = [
        result("selector accuracy", found.accuracy, **labels),
        number("chance", found.chance, "mean of 1 / options", size, **labels),
    ]
    method = f"keys redrawn within items, {found.permutations} permutations on {found.null_items} items"
    names = ("accuracy with keys at random", "permutation P", "accuracy on the items of the null")
    if found.p is None or found.null_mean is None:
        reason = found.accuracy.note if found.accuracy.value is None else "no permutation was asked for"
        return [*rows, *(unknown(name, method, reason, size, **labels) for name in names)]
    null = Estimate(
        found.null_mean, found.null_low, found.null_high, f"{method}, central 95%", found.null_items, found.seed
    )
    p = Estimate(found.p, None, None, f"{method}, one-sided", found.null_items, found.seed)
    same = Estimate(found.compared, None, None, method, found.null_items, found.seed)
    return [*rows, *(result(n, e, **labels) for n, e in zip(names, (null, p, same), strict=True))]


def _stemless_rows(answers: Answers) -> list[Row]:
    """Accuracy of endpoints that were shown the options without the question."""
    rows = []
    for column, name in enumerate(answers.names):
        mine = answers.stemless & (answers.endpoint == column) & (answers.correct >= 0)
        if mine.any():
            right = answers.correct[mine]
            how = "asked with the options alone"
            labels = {"bank": "this bank", "features": name}
            rows.append(number("accuracy without the stem", float(right.mean()), how, right.size, **labels))
    return rows
