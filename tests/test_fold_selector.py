"""The selector against scikit-learn, fold by fold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from examgen.fold_selector import Design, fit, held_out_scores

RANDOM = np.random.default_rng(5)
ROWS, FOLDS = 400, 5
FEATURES = RANDOM.normal(size=(ROWS, 6)) * [1, 3, 0.1, 1, 1, 0] + 2
TARGET = (FEATURES[:, 0] + RANDOM.normal(size=ROWS) > 3).astype(float)
FOLD = RANDOM.integers(0, FOLDS, size=ROWS)
VARYING = RANDOM.normal(size=(ROWS, FOLDS, 2))


def reference(features: np.ndarray, target: np.ndarray) -> object:
    model = LogisticRegression(C=0.5, class_weight="balanced", tol=1e-10, max_iter=10_000)
    return make_pipeline(StandardScaler(), model).fit(features, target)


def test_fit_equals_scikit_learn() -> None:
    raw, intercept = fit(FEATURES, TARGET)
    expected = reference(FEATURES, TARGET).decision_function(FEATURES)
    np.testing.assert_allclose(FEATURES @ raw + intercept, expected, atol=1e-5)


@pytest.mark.parametrize("varying", [False, True])
def test_held_out_scores_equal_one_fit_a_fold(varying: bool) -> None:
    design = Design(FEATURES, FOLD, FOLDS, VARYING if varying else None, VARYING.mean(axis=1) if varying else None)
    found = held_out_scores(design, TARGET)
    for fold in range(FOLDS):
        here = np.hstack([FEATURES, VARYING[:, fold]]) if varying else FEATURES
        model = reference(here[fold != FOLD], TARGET[fold != FOLD])
        np.testing.assert_allclose(found[fold == FOLD], model.decision_function(here[fold == FOLD]), atol=2e-5)


def test_separable_data_converge() -> None:
    target = (FEATURES[:, 1] > 2).astype(float)
    found = held_out_scores(Design(FEATURES, FOLD, FOLDS), target)
    assert ((found > 0) == (target > 0)).mean() > 0.97


def test_features_that_vary_a_little_by_fold_need_no_fit_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    near = VARYING[:, :1] + 0.05 * VARYING
    design = Design(FEATURES, FOLD, FOLDS, near, near.mean(axis=1))
    expected = held_out_scores(design, TARGET)
    calls = []
    monkeypatch.setattr("examgen.fold_selector.fit", lambda *a: calls.append(1) or fit(*a))
    np.testing.assert_array_equal(held_out_scores(design, TARGET), expected)
    assert len(calls) == 1
