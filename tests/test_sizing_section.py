"""The section `sizing` of a study: every way to tell a discordance, every wrong way named by its key."""

from __future__ import annotations

from typing import Any

import pytest

from examgen.errors import StudyError
from examgen.study import parse_study

MINIMAL: dict[str, Any] = {"study": "s", "corpus": {"folder": "docs"}, "seeds": ["a query"]}
PAIR = ["one", "two"]


def study(*contrasts: dict[str, Any], **rules: Any) -> Any:
    ends = [{"id": name, "kind": "baseline", "model": "random"} for name in PAIR]
    return parse_study({**MINIMAL, "endpoints": ends, "sizing": {**rules, "contrasts": list(contrasts)}}, "my.yaml")


@pytest.mark.parametrize(
    "contrast",
    [
        {"better": 0.1, "worse": 0.025},
        {"gain": 0.075, "worse": 0.025},
        {"accuracies": [0.97, 0.88]},
        {"accuracies": [0.97, 0.88], "agreement": 0.9},
        {"accuracies": [0.97, 0.88], "correlation": 0.0},
        {"counts": [16, 1, 168]},
        {"pilot": "pilot.csv", "endpoints": ["any", "name"]},
        {"better": 0.1, "worse": 0.0, "endpoints": PAIR, "accuracy": 0.97, "source": "last year's panel"},
    ],
)
def test_every_way_is_taken(contrast: dict[str, Any]) -> None:
    assert study(contrast).sizing.contrasts[0].name == "contrast 1"


def test_the_rules_have_defaults_and_the_old_keys_hold() -> None:
    sizing = study({"name": "a", "better": 0.1, "worse": 0.0}, alpha=0.05, power=0.8, ceiling_accuracy=0.97,
                   ceiling_probability=0.01).sizing  # fmt: skip
    assert (sizing.correction, sizing.design_effect, sizing.attrition, sizing.cap) == ("holm", 1.0, 0.0, None)


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ({}, "sizing.contrasts.0: contrast 'contrast 1': the discordance is missing: give better and worse"),
        ({"gain": 0.1}, "worse: is missing beside gain"),
        ({"better": 0.1, "worse": 0.0, "gain": 0.1}, "better and gain are too much"),
        ({"better": 0.1, "worse": 0.2}, "there is no gain to size for"),
        ({"better": 0.9, "worse": 0.2}, "make more items than there are"),
        ({"better": 1.5, "worse": 0.2}, "sizing.contrasts.0.better"),
        ({"accuracies": [0.8, 0.9]}, "accuracies: the better endpoint comes first"),
        ({"accuracies": [0.9, 0.8], "agreement": 0.5}, "agreement: with accuracies 0.9 and 0.8 it lies between 0.7"),
        ({"accuracies": [0.9, 0.8], "agreement": 0.8, "correlation": 0.1}, "correlation: give it or agreement"),
        ({"accuracies": [0.9, 0.8], "worse": 0.1}, "worse: goes with better or gain, not with accuracies"),
        ({"better": 0.1, "worse": 0.0, "agreement": 0.9}, "agreement: goes with accuracies, not with better"),
        ({"counts": [16, 1, 10]}, "counts: three whole numbers"),
        ({"counts": [0, 0, 0]}, "counts: three whole numbers"),
        ({"pilot": "a.csv"}, "endpoints: name the two endpoints of the pilot"),
        ({"gain": 0.1, "worse": 0.0, "endpoints": ["one", "one"]}, "endpoints: name two different endpoints"),
        ({"gain": 0.1, "worse": 0.0, "endpoints": ["one", "tow"]},
         "sizing.contrasts.0.endpoints.1: no endpoint is called 'tow'; did you mean 'two'?"),
        ({"bettr": 0.1}, "sizing.contrasts.0.bettr: unknown key; did you mean 'better'?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(contrast: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        study(contrast)
    assert message in str(caught.value)


def test_rules_out_of_range_and_equal_names() -> None:
    for rules in ({"design_effect": 0.5}, {"attrition": 1}, {"cap": 0}, {"comparisons": 0}, {"test": "z"}):
        with pytest.raises(StudyError, match=f"sizing.{next(iter(rules))}"):
            study(**rules)
    with pytest.raises(StudyError, match="two are called 'a'"):
        study({"name": "a", "gain": 0.1, "worse": 0}, {"name": "a", "gain": 0.2, "worse": 0})


def test_nested_arms_are_endpoints_in_order() -> None:
    base = {**MINIMAL, "endpoints": [{"id": name} for name in PAIR]}
    assert parse_study({**base, "panel": {"nested": PAIR}}).panel.nested == ("one", "two")
    for nested, message in ((["one"], "two different endpoints"), (["one", "won"], "panel.nested.1: no endpoint")):
        with pytest.raises(StudyError, match=message):
            parse_study({**base, "panel": {"nested": nested}})
