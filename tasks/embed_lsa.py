"""Latent semantic analysis of the corpus's own words: an embedder that needs no model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from examgen.errors import InputError
from examgen.ids import digest


class LatentSemantics:
    """TF-IDF of words and word pairs, reduced by a truncated singular value decomposition with a fixed start.

    It learns from the corpus, so its id depends on every passage: a changed corpus is embedded anew, in seconds.
    """

    def __init__(self, fit_texts: Sequence[str], dimensions: int) -> None:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = sorted(set(fit_texts))
        self._words = TfidfVectorizer(
            sublinear_tf=True, ngram_range=(1, 2), min_df=2 if len(texts) > 20 else 1, max_features=200_000,
            dtype=np.float64, token_pattern=r"(?u)\b\w[\w-]*\b",
        )
        try:
            matrix = self._words.fit_transform(texts)
        except ValueError as error:
            raise InputError("embedding.kind lsa: the corpus has no words to learn from; use minilm") from error
        self.dimensions = max(1, min(dimensions, min(matrix.shape) - 1))
        self._reduction = TruncatedSVD(self.dimensions, algorithm="randomized", n_iter=5, random_state=0)
        self._reduction.fit(matrix)
        self.id = f"lsa:{self.dimensions}:{digest('lsa', *texts, length=12)}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of shape (n, dimensions), length 1; a text without known words is all zeros."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        vectors = self._reduction.transform(self._words.transform(texts))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths == 0, 1.0, lengths), dtype=np.float32)
