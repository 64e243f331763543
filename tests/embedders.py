"""Embedders for tests: one that counts, one that is silent, one that needs no model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from ragkit.document import Vectors
from ragkit.embedding import Embedder
from ragkit.errors import EmbeddingError

DIMS = 32


class CountingEmbedder:
    """Passes on to another embedder and remembers the texts."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.texts: list[str] = []

    @property
    def fingerprint(self) -> str:
        """That of the inner one."""
        return self._inner.fingerprint

    @property
    def dims(self) -> int:
        """That of the inner one."""
        return self._inner.dims

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        self.texts.extend(texts)
        return self._inner.embed(texts)


class SilentEmbedder:
    """Cannot answer; claims to be the embedder of the given fingerprint."""

    def __init__(self, like: Embedder) -> None:
        self.fingerprint = like.fingerprint
        self.dims = like.dims

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises always."""
        raise EmbeddingError("embedder_weights_missing", embedder=self.fingerprint)


class WordEmbedder:
    """A bag of hashed words, for tests where meaning does not matter and 2 s of loading a model would."""

    def __init__(self, name: str = "words:1") -> None:
        self.fingerprint = name
        self.dims = DIMS

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        vectors = np.zeros((len(texts), DIMS), dtype=np.float32)
        for place, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
                vectors[place, digest[0] % DIMS] += 1
            length = float(np.linalg.norm(vectors[place]))
            vectors[place] /= length or 1.0
        return vectors
