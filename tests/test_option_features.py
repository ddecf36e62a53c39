"""Features of options against plain computations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from examgen.option_features import (
    STRUCTURE,
    WORD,
    Options,
    stem_cosines,
    structure_features,
    uniquely_longest,
)
from tests.panels import make_bank

TEXTS = (("The right one, long and (maybe) 12 mm.", "short", "Always MRI; never CT", "short"), ("a b", "c d e"))
OPTIONS = Options.of(TEXTS)


def column(name: str) -> np.ndarray:
    return structure_features(OPTIONS)[:, STRUCTURE.index(name)]


def test_centred_features_sum_to_zero_within_an_item() -> None:
    found = structure_features(OPTIONS)[:, : STRUCTURE.index("uniquely longest")]
    np.testing.assert_allclose(np.add.reduceat(found, OPTIONS.start, axis=0), 0, atol=1e-12)


def test_counts_are_those_of_the_text() -> None:
    assert column("commas")[0] == pytest.approx(0.75)
    assert column("digits")[0] - column("digits")[1] == 2
    assert column("absolutes")[2] - column("absolutes")[1] == 2
    assert column("upper-case tokens")[2] - column("upper-case tokens")[1] == 2
    assert column("initial article")[0] - column("initial article")[1] == 1


def test_a_tie_is_not_unique() -> None:
    assert column("uniquely longest").tolist() == [1, 0, 0, 0, 0, 1]
    assert column("uniquely shortest").tolist() == [0, 0, 0, 0, 1, 0]
    assert column("rank of length")[:4].tolist() == pytest.approx([1, 1 / 6, 2 / 3, 1 / 6])


def test_overlap_is_the_mean_jaccard() -> None:
    raw = np.array([0.0, 1 / 3, 0.0, 1 / 3])
    np.testing.assert_allclose(column("word overlap with the other options")[:4], raw - raw.mean(), atol=1e-12)


def test_uniquely_longest_share() -> None:
    assert uniquely_longest(OPTIONS, np.array([0, 0])) == 0.5
    assert uniquely_longest(OPTIONS, np.array([0, 1]), "words") == 1.0


def test_cosines_of_each_fold_equal_a_refit() -> None:
    bank = make_bank(4, 5)
    options = Options.of([item.options for item in bank])
    stems = [f"{item.stem} {' '.join(item.options[0].split()[:2])}" for item in bank]
    fold = np.arange(len(bank)) % 4
    whole, apart = stem_cosines(options, stems, fold, 4)
    for left_out, found in [(-1, whole), *((f, apart[:, f]) for f in range(4))]:
        texts = [t for t, i in zip(options.texts, options.item, strict=True) if fold[i] != left_out]
        texts += [s for s, f in zip(stems, fold, strict=True) if f != left_out]
        fitted = TfidfVectorizer(tokenizer=WORD.findall, token_pattern=None).fit(texts)
        one, two = fitted.transform(options.texts), fitted.transform([stems[i] for i in options.item])
        np.testing.assert_allclose(found, np.asarray(one.multiply(two).sum(axis=1)).ravel(), atol=1e-12)
