"""Every entry of the reference file that this package answers for, by name."""

import math

import numpy as np
import pytest

from examgen import statistics as st


def design(given, number):
    test = {"cc": "corrected"}.get(given.get("method", "exact"), given.get("method", "exact"))
    return st.Design(number(given["p_b"]), number(given["p_c"]), given.get("alpha", 0.05), test)


def test_p_values(reference_values):
    for entry in reference_values("mcnemar_exact_p"):
        assert st.mcnemar_p(**entry["inputs"]) == pytest.approx(entry["expected"], abs=entry["tolerance"])
    for entry in reference_values("mcnemar_midp_p"):
        assert st.mcnemar_p(**entry["inputs"], test="midp") == pytest.approx(entry["expected"], abs=1e-9)


def test_floors_and_ceilings(reference_values):
    for entry in reference_values("min_one_directional_discordant"):
        text = entry["inputs"]
        alpha = 0.05 / 3 if "/3" in text else 0.05 / 9 if "/9" in text else 0.05
        assert st.discordance_floor(alpha) == entry["expected"]
    (entry,) = reference_values("min_one_directional_discordant_midp")
    assert st.discordance_floor(0.05, "midp") == entry["expected"]
    for entry in reference_values("p_perfect"):
        found = st.probability_perfect(entry["inputs"]["acc"], entry["inputs"]["n"])
        assert found == pytest.approx(entry["expected"], abs=entry["tolerance"])
    for entry in reference_values("n_ceiling"):
        assert st.ceiling_n(entry["inputs"]["acc"], entry["inputs"]["threshold"]) == entry["expected"]


def test_powers(reference_values, number):
    for entry in reference_values("exact_power"):
        found = st.power_exact(entry["inputs"]["n"], design(entry["inputs"], number)).value
        assert found == pytest.approx(entry["expected"], abs=entry["tolerance"])


def test_required_n(reference_values, number):
    for entry in reference_values("required_n"):
        need = st.required_n(design(entry["inputs"], number), power=entry["inputs"].get("power", 0.8))
        expected = entry["expected"]
        if isinstance(expected, dict):
            assert {name: getattr(need, name) for name in expected} == expected
        else:
            assert need.first == expected
    for entry in reference_values("required_n_bonferroni"):
        given = entry["inputs"]
        alpha = st.planning_alpha(0.05, given["m"])
        assert st.required_n(st.Design(given["p_b"], given["p_c"], alpha)).first == entry["expected"]


def test_power_curves(reference_values, number):
    for name in ("power_curve_monotone", "power_curve_decreases"):
        for entry in reference_values(name):
            curve = st.power_curve(design(entry["inputs"], number), list(range(1501)))["power"].to_numpy()
            falls = int((np.diff(curve) < -1e-12).sum())
            assert (falls == 0) if entry["expected"] is True else (falls == entry["expected"])


def test_minimum_detectable_gain_and_repeats(reference_values, number):
    for entry in reference_values("mde_given_p_c"):
        found = st.minimum_detectable_gain(entry["inputs"]["n"], worse=number(entry["inputs"]["p_c"]))
        assert found.value == pytest.approx(entry["expected"], abs=entry["tolerance"])
    for entry in reference_values("miller_sample_size"):
        assert st.mean_difference_n(entry["inputs"]["delta"]) == math.ceil(entry["expected"])


def test_paired_intervals_and_interaction(reference_values):
    for entry in reference_values("paired_ci_bentur"):
        found = {
            "bonett_price": st.bonett_price(1, 7, 21),
            "tango": st.tango(1, 7, 21),
            "newcombe": st.newcombe(1, 1, 7, 12),
        }
        for name, estimate in found.items():
            assert [estimate.low, estimate.high] == pytest.approx(entry["expected"][name], abs=1e-6)
    for entry in reference_values("tango_ci"):
        estimate = st.tango(*(entry["inputs"][name] for name in "bcn"))
        assert [estimate.low, estimate.high] == pytest.approx(entry["expected"], abs=entry["tolerance"])
    for entry in reference_values("interaction_z_test"):
        found = st.interaction_test([tuple(entry["inputs"][tier]) for tier in "AB"])
        assert found.statistic == pytest.approx(entry["expected"]["z"], abs=entry["tolerance"])
        assert found.p == pytest.approx(entry["expected"]["p"], abs=entry["tolerance"])


def test_families_and_clusters(reference_values):
    for entry in reference_values("holm"):
        assert st.holm(entry["inputs"]) == pytest.approx(entry["expected"], abs=entry["tolerance"])
    for entry in reference_values("clustered_se"):
        found = st.clustered_se(entry["inputs"]["x"], entry["inputs"]["g"])
        assert found == pytest.approx(entry["expected"], abs=entry["tolerance"])
    for entry in reference_values("design_effect"):
        assert st.design_effect([8] * 21, entry["inputs"]["icc"]) == pytest.approx(entry["expected"])
    for entry in reference_values("cluster_signflip_min_p"):
        k = entry["inputs"]["clusters"]
        assert st.sign_flip_p(np.ones(k), np.arange(k)) == pytest.approx(entry["expected"])


def test_order_and_ranks(reference_values):
    for entry in reference_values("cochran_q"):
        found = st.cochran_q(np.array(entry["inputs"], float))
        assert found.statistic == pytest.approx(entry["expected"]["Q"], abs=entry["tolerance"])
        assert found.p == pytest.approx(entry["expected"]["p"], abs=entry["tolerance"])
    for entry in reference_values("spearman_one_adjacent_swap"):
        before = np.arange(entry["inputs"]["n"], dtype=float)
        after = before.copy()
        after[[3, 4]] = after[[4, 3]]
        found = st.rank_correlation(before, after)
        assert found.value == pytest.approx(entry["expected"], abs=entry["tolerance"])


def test_totals_of_figure_3(reference_values, figure_3, table_4):
    counts = figure_3.drop(columns=["topic", "n"])
    for entry in reference_values("msexam_totals_from_fig3"):
        assert counts.sum().tolist() == entry["expected"]
    strata, sizes = table_4[["easy", "medium", "hard", "synthesis"]], [646, 646, 883, 883]
    for entry in reference_values("msexam_strata_totals"):
        totals = [sum(round(a * n / 100) for a, n in zip(row, sizes, strict=True)) for row in strata.to_numpy()]
        assert totals == entry["expected"]
    shares = (strata.to_numpy() * np.array(sizes) / 100).round().sum(axis=0) / (12 * np.array(sizes))
    assert (100 * shares).round(2).tolist() == [81.31, 78.79, 77.67, 79.29]
    assert figure_3["n"].sum() == 3058
    assert (3058 * 12, 3058 * 13) == (36_696, 39_754)


def test_variance_of_the_hierarchical_bootstrap(reference_values):
    for entry in reference_values("hier_boot_var_equal_batches"):
        scores = np.concatenate([np.r_[np.ones(k), np.zeros(50 - k)] for k in (30, 35, 40, 45)])
        drawn = st.hierarchical_bootstrap(scores[:, None], np.repeat(np.arange(4), 50), replicates=20_000)
        assert drawn.values.var() == pytest.approx(entry["expected"], rel=0.04)
