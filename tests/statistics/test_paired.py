import numpy as np
import pandas as pd
import pytest

from examgen.statistics import (
    OBSERVED_POWER_LABEL,
    Discordance,
    StatisticsError,
    compare_pairs,
    compare_strata,
    holm,
    interaction_test,
    mcnemar_p,
    tango,
)


def table_of(b, c, n, both=None):
    both = n - b - c if both is None else both
    first = np.r_[np.ones(b), np.zeros(c), np.ones(both), np.zeros(n - b - c - both)]
    second = np.r_[np.zeros(b), np.ones(c), np.ones(both), np.zeros(n - b - c - both)]
    return np.column_stack([first, second])


def test_the_paper_s_contrasts():
    total = compare_pairs(table_of(16, 1, 168), ["full", "backbone"]).iloc[0]
    assert (total.first_only, total.second_only, total.n) == (16, 1, 168)
    assert total.p_exact == pytest.approx(0.000275, abs=1e-6)
    assert (total.gain_low, total.gain_high) == pytest.approx((0.048, 0.144), abs=5e-4)
    assert total.power_observed == pytest.approx(0.978, abs=5e-4)
    assert total.minimum_gain == pytest.approx(0.057, abs=5e-4)
    assert total.verdict == "resolved"
    orchestration = compare_pairs(table_of(8, 4, 168), ["plus", "backbone"]).iloc[0]
    assert orchestration.power_observed == pytest.approx(0.134, abs=5e-4)
    assert (orchestration.items_needed, orchestration.items_for) == (1045, "observed effect")
    assert orchestration.verdict == "unresolved"
    assert "relabelled P value" in OBSERVED_POWER_LABEL


def test_underpowered_is_named_and_equality_never():
    planned = Discordance(0.06, 0.03, "plan")
    row = compare_pairs(table_of(8, 4, 168), ["a", "b"], planned=planned).iloc[0]
    assert row.verdict == "underpowered"
    assert row.power_planned < 0.8
    assert row.items_for == "planned effect"
    few = compare_pairs(table_of(3, 0, 168), ["a", "b"]).iloc[0]
    assert few.verdict == "underpowered"
    assert "6 discordant" in few.note
    able = compare_pairs(table_of(8, 4, 168), ["a", "b"], planned={("a", "b"): Discordance(0.2, 0.03, "plan")})
    assert able.iloc[0].verdict == "unresolved"


def test_all_pairs_equal_a_loop():
    rng = np.random.default_rng(2)
    scores = (rng.random((120, 5)) < [0.9, 0.8, 0.8, 0.6, 0.3]).astype(float)
    scores[rng.random(scores.shape) < 0.05] = np.nan
    names = list("abcde")
    frame = compare_pairs(scores, names, clusters=np.repeat(np.arange(12), 10))
    assert len(frame) == 10
    ps = []
    for row in frame.itertuples():
        x, y = scores[:, names.index(row.first)], scores[:, names.index(row.second)]
        seen = ~np.isnan(x) & ~np.isnan(y)
        b, c = int(((x == 1) & (y == 0)).sum()), int(((x == 0) & (y == 1)).sum())
        assert (row.n, row.first_only, row.second_only) == (seen.sum(), b, c)
        assert row.p_exact == pytest.approx(mcnemar_p(b, c))
        assert row.gain_low == pytest.approx(tango(b, c, int(seen.sum())).low)
        ps.append(row.p_exact)
    assert frame["p_holm"].tolist() == pytest.approx(holm(ps))
    swapped = compare_pairs(scores, names, pairs=[("e", "a")]).iloc[0]
    assert swapped.gain == pytest.approx(-frame.iloc[3].gain)
    assert swapped.gain_low == pytest.approx(-frame.iloc[3].gain_high, abs=1e-9)


def test_edges_are_missing_never_nan():
    nothing = compare_pairs(np.array([[1.0, np.nan], [np.nan, 0.0]]), ["a", "b"], clusters=["x", "y"]).iloc[0]
    assert nothing.n == 0
    assert nothing.gain is pd.NA
    assert nothing.verdict == "underpowered"
    same = compare_pairs(np.ones((30, 2)), ["a", "b"], clusters=np.arange(30)).iloc[0]
    assert same.p_exact == 1.0
    assert same.gain_low < 0 < same.gain_high
    assert same.items_needed is pd.NA
    one = compare_pairs(np.ones((3, 1)), ["a"])
    assert len(one) == 0
    frame = compare_pairs(table_of(3, 2, 20), ["a", "b"])
    floats = frame.select_dtypes("Float64")
    assert not any(np.isnan(value) for value in floats.iloc[0] if value is not pd.NA)
    with pytest.raises(StatisticsError):
        compare_pairs(np.ones((3, 2)), ["a", "a"])
    with pytest.raises(StatisticsError):
        compare_pairs(np.ones((3, 2)), ["a", "b"], pairs=[("a", "z")])
    with pytest.raises(StatisticsError):
        compare_pairs(np.full((3, 2), 0.5), ["a", "b"])


def test_disagreement_of_item_and_cluster_test_is_noted(mmlu_redux):
    scores, names, frame = mmlu_redux
    scores, names = scores[:, 8:12], names[8:12]
    found = compare_pairs(scores, names, clusters=frame["subject"])
    assert found["cluster_p"].notna().all()
    assert set(found["verdict"]) <= {"resolved", "unresolved", "underpowered"}
    decided = compare_pairs(scores, names, clusters=frame["subject"], decide_by="clustered")
    assert (decided["verdict"] == "resolved").sum() <= (found["verdict"] == "resolved").sum()


def test_interaction_of_the_paper():
    found = interaction_test([(9, 0, 64), (7, 1, 104)], permutations=2000, seed=1)
    assert found.p == pytest.approx(0.10358369282716248, abs=1e-9)
    assert found.statistic == pytest.approx(1.6277227223043984, abs=1e-9)
    assert found.p_permutation == pytest.approx(0.118, abs=0.03)
    assert found.low < found.difference < found.high


def test_strata_from_scores_and_edges():
    scores = np.vstack([table_of(9, 0, 64), table_of(7, 1, 104)])
    strata = ["A"] * 64 + ["B"] * 104
    frame, found = compare_strata(scores[:, 0], scores[:, 1], strata)
    assert frame["first_right"].tolist() == [64, 103]
    assert found.p == pytest.approx(0.1036, abs=1e-4)
    alone, none = compare_strata(scores[:64, 0], scores[:64, 1], strata[:64])
    assert len(alone) == 1
    assert none is None
    flat = interaction_test([(0, 0, 10), (0, 0, 12)], permutations=99)
    assert flat.p is None
    assert flat.p_permutation == 1.0
    three = interaction_test([(9, 0, 64), (7, 1, 104), (4, 4, 80)])
    assert three.df == 2
    with pytest.raises(StatisticsError):
        interaction_test([(1, 0, 5)])


def test_size_of_the_interaction_test():
    rng, rejected = np.random.default_rng(4), []
    for _ in range(600):
        tables = [(*tuple(rng.multinomial(n, [0.12, 0.05, 0.83])[:2]), n) for n in (120, 160)]
        p = interaction_test(tables).p
        rejected.append(p is not None and p < 0.05)
    assert 0.03 <= np.mean(rejected) <= 0.08
