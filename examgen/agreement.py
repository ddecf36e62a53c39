"""How far several raters agree on the same items: reviewers of keys, screeners of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from examgen.records import Decision, Verdict
from examgen.result_rows import Row, result
from examgen.statistics.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, percent_agreement
from examgen.statistics.estimate import not_estimable

MEASURES = (("percent agreement", percent_agreement), ("Gwet's AC1", gwet_ac1), ("Fleiss' kappa", fleiss_kappa))
SCREENERS = "screeners"


def rater_rows(said: Mapping[tuple[str, str], str], raters: str, level: float = 0.95) -> list[Row]:
    """Rows of `agreement` from (item, rater) -> what was said: percent, Gwet's AC1, Fleiss' kappa over all raters,
    and Cohen's kappa of each pair. An item that a rater did not see is missing for that rater only.

    `raters` is what they are called ("reviewers"). With fewer than two nothing is estimable, and the note says so.
    """
    people, names = sorted({rater for _, rater in said}), sorted({item for item, _ in said})
    ratings = [[said.get((name, rater)) for rater in people] for name in names]
    scope = f"{len(people)} {raters}"
    if len(people) < 2:
        rater = raters.removesuffix("s")
        why = f"one {rater}: agreement needs two" if people else f"no {rater} said anything"
        return [result(name, not_estimable(name, why, n=len(names)), scope=scope) for name, _ in MEASURES]
    rows = [result(name, measure(ratings, level=level), scope=scope) for name, measure in MEASURES]
    for one, two in combinations(range(len(people)), 2):
        pair = [[row[one], row[two]] for row in ratings]
        rows.append(result("Cohen's kappa", cohen_kappa(pair, level=level), scope=f"{people[one]}, {people[two]}"))
    return rows


def reviewer_rows(decisions: Sequence[Decision], level: float = 0.95) -> list[Row]:
    """Rows of `agreement` of the reviewers: their decisions as they stand."""
    return rater_rows({(d.item_id, d.reviewer): d.decision for d in decisions}, "reviewers", level)


def screener_rows(first: Sequence[Verdict], second: Sequence[Verdict], level: float = 0.95) -> list[Row]:
    """Rows of `agreement` of two screeners on the candidates both judged: accepted or not. None without a second."""
    both = {v.candidate_id for v in first} & {v.candidate_id for v in second}
    said = {
        (verdict.candidate_id, f"{place}: {verdict.screener}"): "accepted" if verdict.accepted else "rejected"
        for place, verdicts in (("first", first), ("second", second))
        for verdict in verdicts
        if verdict.candidate_id in both
    }
    return rater_rows(said, SCREENERS, level) if second else []
