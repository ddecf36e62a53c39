"""Published and recomputed numbers kept beside the repository; tests that need them skip when absent."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

SHARED = Path(__file__).parents[2].parent / "shared"


@pytest.fixture(scope="session")
def reference_values() -> Callable[[str], list[dict[str, Any]]]:
    """All reference entries of a name; skips the test when the file is not there."""
    path = SHARED / "cases" / "reference_values.json"
    if not path.exists():
        pytest.skip("the reference values are not beside the repository")
    entries = json.loads(path.read_text("utf-8"))
    return lambda name: [entry for entry in entries if entry["name"] == name]


@pytest.fixture(scope="session")
def number() -> Callable[[float | str], float]:
    """A number that may be written as a fraction."""
    return lambda value: float(Fraction(value)) if isinstance(value, str) else float(value)


@pytest.fixture(scope="session")
def mmlu_redux() -> tuple[np.ndarray, list[str], pd.DataFrame]:
    """Scores (5700, 14), the models' names, and the raw table."""
    path = SHARED / "matrices" / "mmlu_redux_14models.csv"
    if not path.exists():
        pytest.skip("the MMLU-Redux matrix is not beside the repository")
    frame = pd.read_csv(path)
    names = list(frame.columns[6:])
    right = [frame[name].astype(str).str.strip().str.upper() == frame["gold"] for name in names]
    return np.column_stack([column.to_numpy(float) for column in right]), names, frame


@pytest.fixture(scope="session")
def figure_3() -> pd.DataFrame:
    """The paper's Figure 3 as correct counts: topic, n, and a column an endpoint."""
    path = SHARED / "cases" / "ms_exam_gen_figure3_correct_counts.csv"
    if not path.exists():
        pytest.skip("the counts of Figure 3 are not beside the repository")
    return pd.read_csv(path)


@pytest.fixture(scope="session")
def table_4() -> pd.DataFrame:
    """The paper's Table IV: endpoint, four strata, average, interval limits, in per cent."""
    path = SHARED / "cases" / "ms_exam_gen_table4.csv"
    if not path.exists():
        pytest.skip("Table IV is not beside the repository")
    return pd.read_csv(path)
