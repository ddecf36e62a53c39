import numpy as np
import pytest

from examgen.statistics import StatisticsError, short_form
from examgen.statistics.short_form import _allocation, _draw, _strata


def panel(n=600, endpoints=9, seed=0):
    rng = np.random.default_rng(seed)
    theta, b = np.linspace(-1.5, 2.5, endpoints), rng.normal(0, 1.2, n)
    return (rng.random((n, endpoints)) < 1 / (1 + np.exp(-1.5 * (theta - b[:, None])))).astype(float)


def test_short_form_keeps_the_ranking_and_beats_random_forms():
    scores = panel()
    found = short_form(scores, [f"m{i}" for i in range(9)], agreement=0.9)
    assert 9 < len(found.items) < 300
    assert sum(found.weights) == pytest.approx(1.0)
    assert len(set(found.items)) == len(found.items)
    assert found.agreement >= 0.9
    assert found.held_out_agreement > 0.7
    assert found.mean_error < found.random_error
    assert len(found.held_out) == 9
    weighted = np.array(found.weights) @ scores[list(found.items)]
    assert np.abs(weighted - scores.mean(axis=0)).max() < 0.1
    again = short_form(scores, [f"m{i}" for i in range(9)], agreement=0.9)
    assert again.items == found.items


def test_more_agreement_takes_more_items():
    names = [f"m{i}" for i in range(9)]
    sizes = [len(short_form(panel(), names, agreement=a).items) for a in (0.6, 0.95)]
    assert sizes[0] < sizes[1]


def test_weights_do_not_bias():
    scores, rng = panel(n=400, seed=2), np.random.default_rng(1)
    strata = _strata(scores)
    share = _allocation(strata, 40)
    assert share.sum() == 40
    assert (share <= np.bincount(strata)).all()
    drawn = []
    for _ in range(600):
        rows, weights = _draw(strata, share, rng)
        assert len(set(rows.tolist())) == 40
        drawn.append(weights @ scores[rows])
    assert np.mean(drawn, axis=0) == pytest.approx(scores.mean(axis=0), abs=0.01)


def test_what_cannot_be_shortened_says_so():
    assert "five endpoints" in short_form(panel()[:, :4], list("abcd")).note
    assert short_form(np.ones((20, 6)), list("abcdef")).items == ()
    rng = np.random.default_rng(0)
    close = (rng.random((400, 8)) < 0.8).astype(float)
    assert "no form" in short_form(close, list("abcdefgh"), agreement=1.0, largest=40).note
    with pytest.raises(StatisticsError):
        short_form(panel(), ["a"])
    with_missing = panel()
    with_missing[:50, 0] = np.nan
    found = short_form(with_missing, [str(i) for i in range(9)])
    assert min(found.items) >= 50
    assert found.n == 550
