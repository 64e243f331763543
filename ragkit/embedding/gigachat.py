"""GigaChat's embeddings through its own client. Spec: MODULE §3 (`GigaChatEmbedder`).

The client fetches and renews its token, verifies the server by the given certificates, and tries 429, 5xx and
connection faults again with growing pauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragkit.embedding.remote import RemoteEmbedder
from ragkit.errors import EmbeddingError

BATCH = 32
MODEL = "Embeddings"


class GigaChatEmbedder(RemoteEmbedder):
    """Embeds through GigaChat."""

    def __init__(
        self,
        *,
        credentials: str,
        scope: str | None = None,
        model: str = MODEL,
        base_url: str | None = None,
        auth_url: str | None = None,
        ca_bundle_file: str | None = None,
        dims: int | None = None,
        timeout_s: float = 30.0,
        retries: int = 4,
        requests_per_minute: int | None = None,
    ) -> None:
        given = {
            "credentials": credentials,
            "scope": scope,
            "model": model,
            "base_url": base_url,
            "auth_url": auth_url,
            "ca_bundle_file": ca_bundle_file,
            "dims": dims,
            "timeout_s": timeout_s,
            "retries": retries,
            "requests_per_minute": requests_per_minute,
        }
        super().__init__(given, server=base_url or "GigaChat", batch=BATCH)
        self._model = model
        self._client: Any = None

    @property
    def fingerprint(self) -> str:
        """The model."""
        return f"gigachat:{self._model}:1"

    def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            import gigachat
            import httpx
            from gigachat import exceptions
        except ImportError as missing:
            raise EmbeddingError("embedder_not_installed", embedder="gigachat", package="gigachat") from missing
        given = self._given
        try:
            if self._client is None:
                self._client = gigachat.GigaChat(
                    credentials=given["credentials"],
                    scope=given["scope"],
                    base_url=given["base_url"],
                    auth_url=given["auth_url"],
                    ca_bundle_file=given["ca_bundle_file"],
                    timeout=given["timeout_s"],
                    max_retries=given["retries"],
                )
            answer = self._client.embeddings(list(texts), model=self._model)
            return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        except (exceptions.AuthenticationError, exceptions.ForbiddenError) as refused:
            raise EmbeddingError("embedder_refused", server=self._server, status=refused.status_code) from refused
        except exceptions.RateLimitError as busy:
            raise EmbeddingError("embedder_busy", server=self._server) from busy
        except exceptions.ResponseError as failed:
            raise EmbeddingError("embedder_failed", server=self._server, status=failed.status_code) from failed
        except (httpx.HTTPError, OSError) as gone:
            raise EmbeddingError("embedder_unreachable", server=self._server, problem=type(gone).__name__) from gone
        except (exceptions.GigaChatException, ValueError, TypeError, AttributeError) as odd:
            raise EmbeddingError("embedder_odd_answer", server=self._server, problem=type(odd).__name__) from odd
