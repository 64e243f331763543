"""The two caches by content, shared by sessions: what they hold, and keeping them within bounds. Spec: system.md §5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from ragkit.postgres import statements
from ragkit.postgres.database import Connection, Database

KEPT_SHARE = 0.8
"""Of the bound, after a cache outgrew it: trimming anew after each job would cost more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSize:
    """How much a cache holds."""

    entries: int
    bytes: int
    """Of the values, which is nearly all."""


class ContentCaches:
    """Extractions by (blob, path, pipeline) and vectors by (text, embedder)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sizes(self) -> dict[str, CacheSize]:
        """`extractions` and `vectors`."""
        with self._database.reading() as connection:
            return {
                "extractions": _size(connection, statements.EXTRACTION_CACHE_SIZE),
                "vectors": _size(connection, statements.VECTOR_CACHE_SIZE),
            }

    def trim(self, at_most_bytes: int) -> dict[str, int]:
        """Delete what was not used longest from each cache that is larger; entries deleted. 0 bytes empties both."""
        deleted: dict[str, int] = {}
        trims: tuple[tuple[str, LiteralString], ...] = (
            ("extractions", statements.TRIM_EXTRACTIONS),
            ("vectors", statements.TRIM_VECTORS),
        )
        sizes = self.sizes()
        for name, statement in trims:
            size = sizes[name]
            surplus = size.bytes - round(at_most_bytes * KEPT_SHARE) if size.bytes > at_most_bytes else 0
            count = -(-surplus * size.entries // size.bytes) if surplus > 0 else 0
            deleted[name] = self._delete(statement, count) if count else 0
        return deleted

    def _delete(self, statement: LiteralString, count: int) -> int:
        with self._database.writing() as connection:
            return connection.execute(statement, {"count": count}).rowcount


def _size(connection: Connection, statement: LiteralString) -> CacheSize:
    entries, size = connection.execute(statement).fetchone() or (0, 0)
    return CacheSize(entries=int(entries), bytes=int(size))
