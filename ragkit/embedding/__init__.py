"""Text → vectors, behind one protocol; providers are imported late, by name.

Who calls what: the service asks `bundled()` once and passes the embedder on; indexing and retrieval see the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragkit.document import Vectors


class Embedder(Protocol):
    """Anything that turns texts into vectors. Shared by threads."""

    @property
    def fingerprint(self) -> str:
        """Names model, weights and preparation; vectors of different fingerprints never meet."""
        ...

    @property
    def dims(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """`(n, dims)` float32 of unit length, in the order of the texts; blank text gives a zero vector.

        Raises: EmbeddingError.
        """
        ...


def bundled(*, threads: int = 1) -> Embedder:
    """The embedder that comes with ragkit and needs neither network nor key.

    One thread: two of them wait for each other as soon as anything else runs (27 texts a second against 116).
    """
    from ragkit.embedding.use import UseEmbedder

    return UseEmbedder(threads=threads)
