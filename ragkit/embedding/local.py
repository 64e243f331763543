"""A model in a folder of this machine, through the library that it was made for; nothing is downloaded.

The libraries are extras: they are large, and who has no such folder needs none of them.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ragkit.document import Vectors
from ragkit.errors import EmbeddingError

Encode = Callable[[Sequence[str]], Any]
HASHED_BYTES = 1 << 20
"""Of the beginning and the end of a file of weights: enough to tell two models apart."""


class LocalEmbedder:
    """Embeds by a model in a folder; loads it at the first text."""

    def __init__(self, *, library: str, folder: Path) -> None:
        """`library`: a key of `LIBRARIES`.

        Raises: EmbeddingError `embedder_folder_missing`.
        """
        if not folder.is_dir():
            raise EmbeddingError("embedder_folder_missing", embedder=library, folder=str(folder))
        self._library = library
        self._folder = folder
        self._lock = threading.Lock()
        self._encode: Encode | None = None
        self._dims: int | None = None
        self._fingerprint = f"{library}:{folder.name}:{_weights_digest(folder)}:1"

    def __reduce__(self) -> tuple[object, ...]:
        """Another process loads the model itself."""
        return (_rebuild, (self._library, self._folder))

    @property
    def fingerprint(self) -> str:
        """Library, folder's name, and the model's files."""
        return self._fingerprint

    @property
    def dims(self) -> int:
        """Length of a vector; loads the model."""
        if self._dims is None:
            self.embed(["."])
        return self._dims or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        cleaned = [text.encode("utf-8", "ignore").decode("utf-8").replace("\0", " ").strip() for text in texts]
        asked = [place for place, text in enumerate(cleaned) if text]
        with self._lock:
            encode = self._loaded()
            try:
                made = np.asarray(encode([cleaned[place] for place in asked] or ["."]), dtype=np.float32)
            except Exception as failed:  # a model's own code, of any kind
                raise EmbeddingError(
                    "embedder_model_failed", folder=str(self._folder), problem=type(failed).__name__
                ) from failed
        self._dims = int(made.shape[1])
        vectors = np.zeros((len(texts), self._dims), dtype=np.float32)
        if asked:
            norms = np.linalg.norm(made, axis=1, keepdims=True)
            vectors[asked] = made / np.where(norms > 0, norms, 1.0)
        return vectors

    def _loaded(self) -> Encode:
        if self._encode is None:
            try:
                self._encode = LIBRARIES[self._library](self._folder)
            except ImportError as missing:
                raise EmbeddingError(
                    "embedder_not_installed", embedder=self._library, package=self._library
                ) from missing
            except Exception as failed:  # a folder that holds no such model fails in many ways
                raise EmbeddingError(
                    "embedder_model_failed", folder=str(self._folder), problem=type(failed).__name__
                ) from failed
        return self._encode


def _sentence_transformers(folder: Path) -> Encode:
    library: Any = import_module("sentence_transformers")
    model = library.SentenceTransformer(str(folder), local_files_only=True)
    return lambda texts: model.encode(list(texts), show_progress_bar=False)


def _fastembed(folder: Path) -> Encode:
    library: Any = import_module("fastembed")
    model = library.TextEmbedding(model_name=folder.name, specific_model_path=str(folder), local_files_only=True)
    return lambda texts: list(model.embed(list(texts)))


def _model2vec(folder: Path) -> Encode:
    library: Any = import_module("model2vec")
    model = library.StaticModel.from_pretrained(str(folder))
    return lambda texts: model.encode(list(texts))


LIBRARIES: Mapping[str, Callable[[Path], Encode]] = {
    "sentence-transformers": _sentence_transformers,
    "fastembed": _fastembed,
    "model2vec": _model2vec,
}
"""Name of the library, which is that of its package → loads a folder."""


def _weights_digest(folder: Path) -> str:
    """Of names, sizes and the ends of all files: another model in the same folder is another fingerprint."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode("utf-8", "surrogateescape"))
        with path.open("rb") as stream:
            digest.update(stream.read(HASHED_BYTES))
            stream.seek(max(0, size - HASHED_BYTES))
            digest.update(stream.read(HASHED_BYTES))
    return digest.hexdigest()[:12]


def _rebuild(library: str, folder: Path) -> LocalEmbedder:
    return LocalEmbedder(library=library, folder=folder)
