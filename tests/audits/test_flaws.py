"""Every rule catches its planted defects and spares their clean twins, at the limits that the suites set."""

from __future__ import annotations

from collections import Counter

import pytest

from examgen.audits import AuditItem
from examgen.audits.flaws import FLAW_RULES
from examgen.audits.measures import ITEM_RULES, rule_name
from expectations.suites import SUITES, load_suite

from . import pairs_cues, pairs_options, pairs_stems

PAIRS = pairs_options.PAIRS + pairs_stems.PAIRS + pairs_cues.PAIRS
RULES = {rule_name(rule): rule for rule in ITEM_RULES}


def limits() -> dict[str, float]:
    """The strictest upper limit that any suite sets for a measure."""
    found: dict[str, float] = {}
    for name in ("item_acceptance", "external_bank"):
        for check in load_suite(SUITES, name).checks.values():
            if check.type == "expect_measure_to_be_at_most" and "row_condition" not in check.kwargs:
                found[check.column] = min(found.get(check.column, 1e9), check.kwargs["limit"])
    return {"recall_stem": 0.0, **found}


LIMITS = limits()


def item(stem: str, *options: str, explanation: str = "") -> AuditItem:
    key = next(place for place, option in enumerate(options) if option.startswith("*"))
    return AuditItem("i", stem, tuple(option.removeprefix("*") for option in options), key, explanation)


def fires(rule: str, audited: AuditItem) -> bool:
    value = RULES[rule](audited).value
    return value is not None and value > LIMITS[rule]


@pytest.mark.parametrize(("rule", "bad", "clean"), PAIRS, ids=[f"{p[0]}-{n}" for n, p in enumerate(PAIRS)])
def test_defect_is_caught_and_its_twin_is_not(rule, bad, clean):
    assert fires(rule, item(*bad)), f"{rule} misses {bad}"
    assert not fires(rule, item(*clean)), f"{rule} wrongly catches {clean}: {RULES[rule](item(*clean))}"


@pytest.mark.parametrize(("rule", "asked", "bad", "clean"), pairs_cues.EXPLAINED)
def test_explanations(rule, asked, bad, clean):
    assert fires(rule, item(*asked, explanation=bad)), f"{rule} misses {bad}"
    assert not fires(rule, item(*asked, explanation=clean)), f"{rule} wrongly catches {clean}"


def test_every_rule_has_at_least_four_pairs():
    counts = Counter(pair[0] for pair in PAIRS) + Counter(pair[0] for pair in pairs_cues.EXPLAINED)
    few = {rule_name(rule): counts[rule_name(rule)] for rule in FLAW_RULES if counts[rule_name(rule)] < 4}
    assert not few
    assert len(FLAW_RULES) >= 25


def test_every_flaw_rule_cites_its_source_and_is_judged():
    judged = {check.column for check in load_suite(SUITES, "external_bank").checks.values()}
    for rule in FLAW_RULES:
        assert any(name in (rule.__doc__ or "") for name in ("NBME", "HDR", "Issue", "order", "shuffle")), rule_name(
            rule
        )
        assert rule_name(rule) in judged


def test_rules_bear_odd_items():
    """Two to ten options, empty texts, a key that points nowhere, symbols only: no rule raises."""
    odd = [
        AuditItem("a", "", ("", ""), 0),
        AuditItem("b", "?", ("+", "-", "*"), 5),
        AuditItem("c", "x" * 5000, tuple("abcdefghij"), 9),
        AuditItem("d", "Was ist größer als 3 µm?", ("Zwölf", "10–20 µm", "²³⁵U", "∞"), 1),
        AuditItem("e", "A a", (), -1),
        AuditItem("f", "an", ("1e9", "1,2,3", "1.2.3.4", "-5"), 2),
    ]
    for audited in odd:
        for rule in ITEM_RULES:
            rule(audited)
