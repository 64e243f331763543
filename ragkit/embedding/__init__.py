"""Text → vectors, behind one protocol; providers are imported late, by name.

Who calls what: the service asks `chosen(choice)` once and passes the embedder on; indexing and retrieval see the
protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ragkit.document import Vectors
from ragkit.errors import InvalidInput
from ragkit.settings import EMBEDDERS, EmbedderChoice


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


def chosen(choice: EmbedderChoice) -> Embedder:
    """The embedder of a choice; nothing is loaded or asked yet.

    Raises: InvalidInput `setting_invalid`, `setting_missing`; EmbeddingError `embedder_folder_missing`.
    """
    if choice.name == "bundled":
        return bundled()
    if choice.name == "openai":
        from ragkit.embedding.openai import OpenAIEmbedder

        return OpenAIEmbedder(
            base_url=_needed("RAGKIT_EMBEDDER_URL", choice.url, choice),
            model=_needed("RAGKIT_EMBEDDER_MODEL", choice.model, choice),
            api_key=choice.key,
            dims=choice.dims,
            timeout_s=choice.timeout_s,
            retries=choice.retries,
            requests_per_minute=choice.requests_per_minute,
        )
    if choice.name == "gigachat":
        from ragkit.embedding.gigachat import MODEL, GigaChatEmbedder

        return GigaChatEmbedder(
            credentials=_needed("RAGKIT_EMBEDDER_KEY", choice.key, choice),
            scope=choice.scope,
            model=choice.model or MODEL,
            base_url=choice.url,
            auth_url=choice.auth_url,
            ca_bundle_file=choice.ca_bundle,
            dims=choice.dims,
            timeout_s=choice.timeout_s,
            retries=choice.retries,
            requests_per_minute=choice.requests_per_minute,
        )
    if choice.name in EMBEDDERS:
        from ragkit.embedding.local import LocalEmbedder

        folder = Path(_needed("RAGKIT_EMBEDDER_MODEL", choice.model, choice)).expanduser()
        return LocalEmbedder(library=choice.name, folder=folder)
    raise InvalidInput("setting_invalid", name="RAGKIT_EMBEDDER", found=choice.name, allowed=", ".join(EMBEDDERS))


def _needed(variable: str, value: str | None, choice: EmbedderChoice) -> str:
    if not value:
        raise InvalidInput("setting_missing", name=variable, embedder=choice.name)
    return value


def bundled(*, threads: int = 1) -> Embedder:
    """The embedder that comes with ragkit and needs neither network nor key.

    One thread: two of them wait for each other as soon as anything else runs (27 texts a second against 116).
    """
    from ragkit.embedding.use import UseEmbedder

    return UseEmbedder(threads=threads)
