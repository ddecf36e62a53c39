"""Repeated answers: variance components recovered from simulation, and the published number of items."""

from __future__ import annotations

import numpy as np
import pytest

from examgen.errors import StudyError
from examgen.pilot import parse_answers, parse_pilot
from examgen.repeated_answers import components, repeated_lines


def simulated(items: int, repeats: int, seed: int) -> dict[str, dict[str, list[bool]]]:
    """Arms whose chance on an item is uniform in (.3, .9) and in (.2, .8), independent of each other."""
    random = np.random.default_rng(seed)
    chances = {"a": random.uniform(0.3, 0.9, items), "b": random.uniform(0.2, 0.8, items)}
    return {
        arm: {f"i{n}": [bool(x) for x in random.random(repeats) < p] for n, p in enumerate(chance)}
        for arm, chance in chances.items()
    }


def test_components_are_recovered() -> None:
    found = components(simulated(4000, 4, 7), ("a", "b"), "pilot")
    assert found is not None
    spread = 0.6**2 / 12  # variance of a uniform chance
    within = [p * (1 - p) - spread for p in (0.6, 0.5)]
    assert found.gain == pytest.approx(0.1, abs=0.02)
    assert found.between == pytest.approx(2 * spread, abs=0.006)
    assert found.within == pytest.approx(within, abs=0.006)
    assert found.answers == (4.0, 4.0)


def test_single_answers_say_nothing_of_repeats() -> None:
    assert components(simulated(50, 1, 1), ("a", "b"), "pilot") is None
    with pytest.raises(StudyError, match="no endpoint is called 'c'; it holds a, b"):
        components(simulated(5, 2, 1), ("a", "c"), "pilot")


def test_people_as_one_endpoint_are_told_apart_by_repeat() -> None:
    text = "item_id,endpoint,correct,repeat\n" + "".join(
        f"i{n},{arm},{int(arm == 'people' and person != n)},{person}\n"
        for n in range(3) for arm in ("people", "model") for person in range(2)
    )  # fmt: skip
    assert parse_answers(text, "p.csv")["people"]["i0"] == [False, True]
    assert parse_pilot(text, "p.csv")["people"] == {"i0": False, "i1": True, "i2": True}
    with pytest.raises(StudyError, match="in a column repeat"):
        parse_answers(text + "i0,people,1,0\n", "p.csv")


def test_the_published_number_of_items() -> None:
    """Miller: variance 1/9 between items, no noise within, 3 points, 80 %: 969 items."""
    lines = repeated_lines(0.03, 1 / 9, (0.0, 0.0), power=0.8, alpha=0.05)
    assert "1 answer 969, 2 answers 969" in lines[1]
    noisy = repeated_lines(0.03, 1 / 9, (1 / 6, 1 / 6), power=0.8, alpha=0.05, repeats=(1, 10))
    assert "1 answer 3,876, 10 answers 1,260" in noisy[1]
