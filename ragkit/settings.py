"""Settings of a process, read from the environment here and nowhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from ragkit.errors import InvalidInput
from ragkit.messages import LANGUAGES, Language

MAX_WHOLE = 2**31 - 1
"""What PostgreSQL takes as a time in milliseconds."""
MAX_DIGITS = 20
MAX_POOL = 1000
MAX_WORKERS = 256
ROOT_DATA_DIR = Path("/var/lib/ragkit")
"""Where root keeps its data: the embedded server runs as its own user and must reach it, so never a private home."""


def default_index_workers() -> int:
    """One a core, at most eight."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8)


EMBEDDERS = ("bundled", "openai", "gigachat", "sentence-transformers", "fastembed", "model2vec")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChoice:
    """Which embedder, and how to reach it."""

    name: str = "bundled"
    """bundled, openai, gigachat, sentence-transformers, fastembed, model2vec."""
    model: str | None = None
    """Its model; of a local one the folder."""
    url: str | None = None
    auth_url: str | None = None
    """Where GigaChat's token comes from."""
    key: str | None = None
    """API key, or GigaChat's credentials."""
    scope: str | None = None
    ca_bundle: str | None = None
    dims: int | None = None
    timeout_s: float = 30.0
    retries: int = 4
    requests_per_minute: int | None = None

    def __repr__(self) -> str:
        return f"EmbedderChoice(name={self.name!r}, model={self.model!r}, url={self.url!r})"  # never the key


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a process is told from outside."""

    data_dir: Path
    """Holds the embedded database, policies and runs."""
    database_url: str | None = None
    """An external PostgreSQL; None starts the embedded one."""
    keep_requests: int = 1000
    """Retrieval requests kept per session; 0 keeps none. Spec: MODULE §1."""
    pool_size: int = 8
    """Connections at most."""
    statement_timeout_ms: int = 30_000
    index_workers: int = field(default_factory=default_index_workers)
    """Processes that a large indexing job is fanned out over; 1: none but its own."""
    cache_mb: int = 2_000
    """Megabytes that each of the two caches may take; what was not used longest goes first."""
    embedder: EmbedderChoice = field(default_factory=EmbedderChoice)
    language: Language = "en"
    """Of messages on the command line."""
    read_only: bool = False
    """Refuse every write, and connect as the reader where the server is the embedded one."""

    @staticmethod
    def from_env(environ: Mapping[str, str] | None = None) -> Settings:
        """Settings from `RAGKIT_*` variables.

        Raises: InvalidInput naming the variable.
        """
        env = os.environ if environ is None else environ
        return Settings(
            data_dir=Path(env["RAGKIT_DATA_DIR"]).expanduser() if env.get("RAGKIT_DATA_DIR") else default_data_dir(),
            database_url=env.get("RAGKIT_DATABASE_URL") or None,
            keep_requests=_whole(env, "RAGKIT_KEEP_REQUESTS", 1000, least=0),
            pool_size=_whole(env, "RAGKIT_POOL_SIZE", 8, least=1, most=MAX_POOL),
            statement_timeout_ms=_whole(env, "RAGKIT_STATEMENT_TIMEOUT_MS", 30_000, least=1),
            index_workers=_whole(env, "RAGKIT_INDEX_WORKERS", default_index_workers(), least=1, most=MAX_WORKERS),
            cache_mb=_whole(env, "RAGKIT_CACHE_MB", 2_000, least=1),
            embedder=_embedder(env),
            language=_language(env),
            read_only=env.get("RAGKIT_READ_ONLY", "") not in ("", "0"),
        )

    def to_env(self) -> dict[str, str]:
        """The variables that give these settings again in a child process."""
        env = {
            "RAGKIT_DATA_DIR": str(self.data_dir),
            "RAGKIT_KEEP_REQUESTS": str(self.keep_requests),
            "RAGKIT_POOL_SIZE": str(self.pool_size),
            "RAGKIT_STATEMENT_TIMEOUT_MS": str(self.statement_timeout_ms),
            "RAGKIT_INDEX_WORKERS": str(self.index_workers),
            "RAGKIT_CACHE_MB": str(self.cache_mb),
            "RAGKIT_LANGUAGE": self.language,
            "RAGKIT_READ_ONLY": "1" if self.read_only else "",
        }
        chosen = {f"RAGKIT_{name}": str(value) for name, value in self._embedder_env().items() if value is not None}
        return env | chosen | ({"RAGKIT_DATABASE_URL": self.database_url} if self.database_url else {})

    def _embedder_env(self) -> dict[str, object]:
        choice = self.embedder
        return {
            "EMBEDDER": choice.name,
            "EMBEDDER_MODEL": choice.model,
            "EMBEDDER_URL": choice.url,
            "EMBEDDER_AUTH_URL": choice.auth_url,
            "EMBEDDER_KEY": choice.key,
            "EMBEDDER_SCOPE": choice.scope,
            "EMBEDDER_CA_BUNDLE": choice.ca_bundle,
            "EMBEDDER_DIMS": choice.dims,
            "EMBEDDER_TIMEOUT_S": round(choice.timeout_s),
            "EMBEDDER_RETRIES": choice.retries,
            "EMBEDDER_RPM": choice.requests_per_minute,
        }


def default_data_dir() -> Path:
    """`/var/lib/ragkit` for root, else the user's data folder of the platform."""
    if sys.platform != "win32" and os.geteuid() == 0:
        return ROOT_DATA_DIR
    return Path(platformdirs.user_data_dir("ragkit", appauthor=False))


def _whole(env: Mapping[str, str], name: str, default: int, *, least: int, most: int = MAX_WHOLE) -> int:
    text = env.get(name, "")
    if not text:
        return default
    fits = text.isdecimal() and len(text) <= MAX_DIGITS  # `int` itself refuses thousands of digits
    if not fits or not least <= int(text) <= most:
        raise InvalidInput("setting_invalid", name=name, found=text, allowed=f"a whole number from {least} to {most}")
    return int(text)


def _embedder(env: Mapping[str, str]) -> EmbedderChoice:
    return EmbedderChoice(
        name=env.get("RAGKIT_EMBEDDER") or "bundled",
        model=env.get("RAGKIT_EMBEDDER_MODEL") or None,
        url=env.get("RAGKIT_EMBEDDER_URL") or None,
        auth_url=env.get("RAGKIT_EMBEDDER_AUTH_URL") or None,
        key=env.get("RAGKIT_EMBEDDER_KEY") or None,
        scope=env.get("RAGKIT_EMBEDDER_SCOPE") or None,
        ca_bundle=env.get("RAGKIT_EMBEDDER_CA_BUNDLE") or None,
        dims=_whole(env, "RAGKIT_EMBEDDER_DIMS", 0, least=0) or None,
        timeout_s=_whole(env, "RAGKIT_EMBEDDER_TIMEOUT_S", 30, least=1),
        retries=_whole(env, "RAGKIT_EMBEDDER_RETRIES", 4, least=0),
        requests_per_minute=_whole(env, "RAGKIT_EMBEDDER_RPM", 0, least=0) or None,
    )


def _language(env: Mapping[str, str]) -> Language:
    found = env.get("RAGKIT_LANGUAGE", "") or "en"
    for language in LANGUAGES:
        if found == language:
            return language
    raise InvalidInput("setting_invalid", name="RAGKIT_LANGUAGE", found=found, allowed=", ".join(LANGUAGES))
