import numpy as np
import pandas as pd
import pytest

from examgen.statistics import (
    StatisticsError,
    accuracy_by,
    accuracy_intervals,
    accuracy_three_ways,
    cluster_bootstrap,
    hierarchical_bootstrap,
    item_bootstrap,
    rank_correlation,
    rank_intervals,
)


def bank(seed=0, topics=8, endpoints=4, n=160, missing=0.0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, topics, n)
    rates = np.clip(rng.normal(0.7, 0.1, topics)[codes][:, None] + np.linspace(0.15, -0.15, endpoints), 0.05, 0.95)
    scores = (rng.random((n, endpoints)) < rates).astype(float)
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores, codes


def naive_hierarchical(scores, codes, replicates, seed):
    """Batches with replacement, then items within each drawn batch, one at a time."""
    rng, groups = np.random.default_rng(seed), [np.flatnonzero(codes == g) for g in np.unique(codes)]
    out = []
    for _ in range(replicates):
        rows = []
        for g in rng.integers(0, len(groups), len(groups)):
            rows.append(rng.choice(groups[g], groups[g].size))
        out.append(np.nanmean(scores[np.concatenate(rows)], axis=0))
    return np.array(out)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_hierarchical_equals_a_naive_loop(missing):
    scores, codes = bank(missing=missing)
    fast = hierarchical_bootstrap(scores, codes, replicates=6000, seed=1).values
    slow = naive_hierarchical(scores, codes, 3000, 2)
    assert fast.mean(axis=0) == pytest.approx(slow.mean(axis=0), abs=0.006)
    assert np.cov(fast.T).ravel() == pytest.approx(np.cov(slow.T).ravel(), rel=0.15, abs=2.5e-4)
    for q in (0.025, 0.975):
        assert np.quantile(fast, q, axis=0) == pytest.approx(np.quantile(slow, q, axis=0), abs=0.012)


def test_table_4_of_the_paper(figure_3, table_4):
    counts, n = figure_3.drop(columns=["topic", "n"]), figure_3["n"].to_numpy()
    blocks = [
        np.column_stack([np.r_[np.ones(k), np.zeros(size - k)] for k in row])
        for row, size in zip(counts.to_numpy(), n, strict=True)
    ]
    drawn = hierarchical_bootstrap(np.vstack(blocks), np.repeat(np.arange(16), n), seed=1)
    widths = []
    for column, row in enumerate(table_4.itertuples()):
        found = drawn.interval(column)
        assert 100 * found.value == pytest.approx(row.average, abs=0.06)
        assert 100 * found.low == pytest.approx(row.ci_low, abs=0.35)
        assert 100 * found.high == pytest.approx(row.ci_high, abs=0.35)
        widths.append(100 * (found.high - found.low))
    assert np.mean(widths) == pytest.approx(8.69, abs=0.2)
    ranks = rank_intervals(drawn, list(counts.columns))
    assert ranks["rank"].tolist() == list(range(1, 13))


def test_closed_form_variance():
    rates = np.array([0.6, 0.7, 0.8, 0.9])
    scores = np.concatenate([np.r_[np.ones(round(50 * p)), np.zeros(50 - round(50 * p))] for p in rates])
    values = hierarchical_bootstrap(scores, np.repeat(np.arange(4), 50), replicates=20_000).values
    assert values.var() == pytest.approx((rates.var() + (rates * (1 - rates)).mean() / 50) / 4, rel=0.04)
    only = cluster_bootstrap(scores, np.repeat(np.arange(4), 50), replicates=20_000).values
    assert only.var() == pytest.approx(rates.var() / 4, rel=0.04)
    alone = item_bootstrap(scores, replicates=20_000).values
    assert alone.var() == pytest.approx(0.75 * 0.25 / 200, rel=0.04)


def test_draws_are_joint_and_repeatable():
    scores, codes = bank()
    twice = np.column_stack([scores[:, 0], scores[:, 0]])
    drawn = hierarchical_bootstrap(twice, codes, replicates=200)
    assert (drawn.values[:, 0] == drawn.values[:, 1]).all()
    none = drawn.difference(0, 1)
    assert (none.value, none.low, none.high) == (0.0, None, None)
    assert "every draw gives the same value" in none.note
    again = hierarchical_bootstrap(scores, codes, replicates=200)
    assert np.array_equal(again.values[:, 0], drawn.values[:, 0])
    assert not np.array_equal(hierarchical_bootstrap(scores, codes, replicates=200, seed=1).values, again.values)


def test_edges():
    one = hierarchical_bootstrap(np.ones((5, 2)), ["a"] * 5, replicates=50)
    assert (one.interval(0).value, one.interval(0).low) == (1.0, None)
    assert "one batch" in one.interval(0).note
    empty = hierarchical_bootstrap(np.full((4, 1), np.nan), [1, 1, 2, 2], replicates=50)
    assert empty.interval(0).value is None
    none = item_bootstrap(np.zeros((0, 2)), replicates=10)
    assert none.interval(1).value is None
    sparse = hierarchical_bootstrap(np.array([1.0, np.nan, np.nan]), [0, 1, 1], replicates=60)
    assert sparse.interval(0).value == 1.0
    frame = rank_intervals(hierarchical_bootstrap(np.array([[1, np.nan], [0, np.nan]]), [0, 1]), ["a", "b"])
    assert frame["rank"].tolist() == [1, pd.NA]
    with pytest.raises(StatisticsError):
        hierarchical_bootstrap(np.ones((3, 1)), [1, 2], replicates=10)
    with pytest.raises(StatisticsError):
        item_bootstrap(np.ones(3), replicates=0)


def test_coverage_with_16_batches():
    """Few-cluster truth: the t interval and the two-level bootstrap keep about 95 %, items alone do not."""
    rng, codes, hits = np.random.default_rng(12), np.repeat(np.arange(16), 25), []
    for trial in range(250):
        rates = 1 / (1 + np.exp(-(1.2 + 0.6 * rng.standard_normal(16))))
        scores = (rng.random(400) < rates[codes]).astype(float)
        truth = 0.7529247  # E logistic(1.2 + .6 z), by quadrature
        row = []
        for method in ("clustered t", "hierarchical bootstrap", "item bootstrap"):
            (found,) = accuracy_intervals(scores, codes, method=method, replicates=300, seed=trial)
            row.append(found.low <= truth <= found.high)
        hits.append(row)
    clustered, hierarchical, items = np.mean(hits, axis=0)
    assert 0.90 <= clustered <= 0.985
    assert 0.90 <= hierarchical <= 0.99
    assert items < 0.90


def test_accuracy_by_group_and_minimum():
    scores, codes = bank(missing=0.1)
    names = list("abcd")
    frame = accuracy_by(scores, names, codes % 2, clusters=codes, minimum=5)
    assert len(frame) == 8
    assert frame["value"].iloc[0] == pytest.approx(np.nanmean(scores[codes % 2 == 0, 0]))
    assert frame["method"].str.contains("clustered").all()
    few = accuracy_by(scores, names, codes, minimum=1000)
    assert few["value"].isna().all()
    single = accuracy_by(scores, names, codes, clusters=codes)
    assert single["method"].str.contains("Wilson").all()


def test_unresolved_three_ways():
    found = accuracy_three_ways([1, 1, 0, np.nan], ["a", "a", "b", "b"])
    assert (found.excluded.value, found.as_wrong.value, found.as_right.value) == (
        pytest.approx(2 / 3), 0.5, 0.75,
    )  # fmt: skip
    assert found.unresolved == 1
    nothing = accuracy_three_ways([np.nan, np.nan])
    assert nothing.excluded.value is None
    assert (nothing.as_wrong.value, nothing.as_right.value) == (0.0, 1.0)
    with pytest.raises(StatisticsError):
        accuracy_intervals(np.ones((3, 1)))


def test_ranks_split_ties():
    scores, codes = bank()
    drawn = hierarchical_bootstrap(np.column_stack([scores[:, 0], scores[:, 0], scores[:, 3]]), codes, replicates=300)
    frame = rank_intervals(drawn, ["a", "a again", "worst"])
    assert frame["rank"].tolist() == [1, 1, 3]
    assert frame["low"].tolist()[:2] == [1, 1]
    assert frame["high"].tolist()[0] >= 2
    assert frame["first"].sum() == pytest.approx(1.0)
    assert frame["first"].iloc[0] == frame["first"].iloc[1]


def test_rank_correlation():
    before = np.arange(11.0)
    after = before.copy()
    after[[2, 3]] = after[[3, 2]]
    found = rank_correlation(before, after)
    assert found.value == pytest.approx(0.990909, abs=1e-6)
    assert "Spearman" in found.method
    assert rank_correlation(before, after, coefficient="kendall").value == pytest.approx(1 - 2 / 55)
    assert rank_correlation(before, np.ones(11)).value is None
    assert rank_correlation(before, before).low is None
    assert rank_correlation([1, 2, np.nan], [2, 1, 3]).value == pytest.approx(-1.0)
