"""Any server that speaks OpenAI's embeddings: OpenAI itself, vLLM, Ollama, LM Studio, text-embeddings-inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragkit.embedding.remote import RemoteEmbedder
from ragkit.errors import EmbeddingError

BATCH = 64


class OpenAIEmbedder(RemoteEmbedder):
    """Asks `POST {base_url}/embeddings`; 429, 5xx and time-outs are tried again with growing pauses."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        dims: int | None = None,
        timeout_s: float = 30.0,
        retries: int = 4,
        requests_per_minute: int | None = None,
    ) -> None:
        given = {
            "base_url": base_url,
            "model": model,
            "api_key": api_key,
            "dims": dims,
            "timeout_s": timeout_s,
            "retries": retries,
            "requests_per_minute": requests_per_minute,
        }
        super().__init__(given, server=base_url, batch=BATCH)
        self._model = model
        self._client: Any = None

    @property
    def fingerprint(self) -> str:
        """The model; not the server, which may move."""
        return f"openai:{self._model}:1"

    def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        import openai

        if self._client is None:
            self._client = openai.OpenAI(
                base_url=self._server,
                api_key=self._given["api_key"] or "none",
                timeout=self._given["timeout_s"],
                max_retries=self._given["retries"],
            )
        try:
            answer = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
            return [item.embedding for item in sorted(answer.data or [], key=lambda item: item.index)]
        except (openai.AuthenticationError, openai.PermissionDeniedError) as refused:
            raise EmbeddingError("embedder_refused", server=self._server, status=refused.status_code) from refused
        except openai.RateLimitError as busy:
            raise EmbeddingError("embedder_busy", server=self._server) from busy
        except openai.APIConnectionError as gone:  # time-outs among them
            raise EmbeddingError("embedder_unreachable", server=self._server, problem=type(gone).__name__) from gone
        except openai.APIStatusError as failed:
            raise EmbeddingError("embedder_failed", server=self._server, status=failed.status_code) from failed
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as odd:
            raise EmbeddingError("embedder_odd_answer", server=self._server, problem=type(odd).__name__) from odd
