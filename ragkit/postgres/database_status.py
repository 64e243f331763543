"""What a database says of itself: versions, sizes, sessions, caches, jobs. Read by `ragkit db status` and the UI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ragkit.postgres import statements
from ragkit.postgres.caches import CacheSize, ContentCaches
from ragkit.postgres.database import Database
from ragkit.postgres.schema import migrations


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStatus:
    """A database at one moment."""

    postgresql: str
    pgvector: str
    schema_version: int
    schema_known: int
    """The newest that this ragkit knows."""
    bytes: int
    """Of the whole database on disk."""
    tables: Mapping[str, int]
    """Table → bytes on disk, indexes included, the largest first."""
    sessions: int
    connections: int
    """To this database, this one included."""
    jobs: Mapping[str, int]
    """Status → how many."""
    caches: Mapping[str, CacheSize]

    def to_json(self) -> dict[str, object]:
        """As `ragkit db status --json` prints it."""
        return asdict(self)


def database_status(database: Database) -> DatabaseStatus:
    """Of the database as it stands."""
    caches = ContentCaches(database).sizes()
    with database.reading() as connection:
        found = connection.execute(statements.STATUS).fetchone() or ("", "", 0, 0, 0, 0)
        tables = connection.execute(statements.TABLE_SIZES).fetchall()
        jobs = connection.execute(statements.JOBS_BY_STATUS).fetchall()
    version, vector, size, sessions, connections, schema = found
    return DatabaseStatus(
        postgresql=str(version),
        pgvector=str(vector),
        schema_version=int(schema),
        schema_known=max(migrations()),
        bytes=int(size),
        tables={str(name): int(held) for name, held in tables},
        sessions=int(sessions),
        connections=int(connections),
        jobs={str(status): int(held) for status, held in jobs},
        caches=caches,
    )
