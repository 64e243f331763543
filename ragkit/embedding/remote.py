"""What embedders behind a network share: batches, a pace, and a check of every answer.

A server's answer is not trusted: as many vectors as texts, all of one known length, finite numbers; they are brought to
unit length here. Retries belong to the client libraries, which know their protocol.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragkit.document import Vectors
from ragkit.errors import EmbeddingError

MAX_CHARS = 8_000
"""Of a text; passages are far shorter, and a longer one is refused by some servers."""
MAX_BATCH_CHARS = 100_000
MAX_DIMS = 16_000
"""pgvector stores no longer vectors."""

Ask = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""One request: texts, none of them blank → a vector each, in their order."""


class RemoteVectors:
    """Embeds through one server. Shared by threads."""

    def __init__(
        self, server: str, ask: Ask, *, batch: int, dims: int | None, requests_per_minute: int | None = None
    ) -> None:
        """`server` stands in messages; `dims` None: what the first answer has."""
        self._server = server
        self._ask = ask
        self._batch = batch
        self._dims = dims
        self._interval_s = 60 / requests_per_minute if requests_per_minute else 0.0
        self._next_at = 0.0
        self._lock = threading.Lock()

    @property
    def dims(self) -> int:
        """Length of a vector; costs one request where nobody said it and nothing was embedded yet."""
        if self._dims is None:
            self.embed(["."])
        return self._dims or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        cleaned = [_clean(text) for text in texts]
        asked = [place for place, text in enumerate(cleaned) if text]
        found: list[Vectors] = []
        for places in self._batches(asked, cleaned):
            self._wait()
            found.append(self._checked(self._ask([cleaned[place] for place in places]), len(places)))
        vectors = np.zeros((len(texts), self._dims or 0), dtype=np.float32)
        if asked:
            vectors[asked] = np.concatenate(found)
        return vectors

    def _batches(self, places: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
        batch: list[int] = []
        size = 0
        for place in places:
            if batch and (len(batch) == self._batch or size + len(texts[place]) > MAX_BATCH_CHARS):
                yield batch
                batch, size = [], 0
            batch.append(place)
            size += len(texts[place])
        if batch:
            yield batch

    def _wait(self) -> None:
        """Keep the pace that the server allows."""
        if not self._interval_s:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next_at)
            self._next_at = at + self._interval_s
        time.sleep(max(0.0, at - now))

    def _checked(self, answer: Sequence[Sequence[float]], count: int) -> Vectors:
        if len(answer) != count:
            raise EmbeddingError("embedder_short", server=self._server, asked=count, found=len(answer))
        lengths = sorted({len(vector) for vector in answer})
        expected = self._dims or lengths[0]
        if lengths != [expected] or not 0 < expected <= MAX_DIMS:
            raise EmbeddingError("embedder_wrong_dims", server=self._server, expected=expected, found=lengths)
        vectors = np.asarray(answer, dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not norms.all():
            raise EmbeddingError("embedder_no_numbers", server=self._server)
        self._dims = expected
        return vectors / norms


class RemoteEmbedder:
    """What every embedder behind a network is, but for one request."""

    def __init__(self, given: Mapping[str, Any], *, server: str, batch: int) -> None:
        """`given`: the keyword arguments that make an equal embedder again."""
        self._given = dict(given)
        self._server = server
        self._vectors = RemoteVectors(
            server, self._ask, batch=batch, dims=given["dims"], requests_per_minute=given["requests_per_minute"]
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Another process makes its own client, with a token of its own."""
        return (_rebuild, (type(self), self._given))

    @property
    def dims(self) -> int:
        """See `RemoteVectors.dims`."""
        return self._vectors.dims

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        return self._vectors.embed(texts)

    def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise NotImplementedError


def _rebuild(kind: Callable[..., RemoteEmbedder], given: Mapping[str, Any]) -> RemoteEmbedder:
    return kind(**given)


def _clean(text: str) -> str:
    return text[:MAX_CHARS].encode("utf-8", "ignore").decode("utf-8").replace("\0", " ").strip()
