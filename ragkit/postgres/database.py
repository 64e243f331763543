"""Connections: one pool, two kinds of work, and the one door through which psycopg's errors become ours."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from ragkit.errors import DatabaseError, InvalidInput

Connection = psycopg.Connection[Any]
CONNECT_TIMEOUT_S = 5.0
MIN_SERVER = 150000
MIN_PGVECTOR = (0, 8)


class Database:
    """A pool of connections to one database. Shared by threads; whoever builds it closes it."""

    def __init__(self, conninfo: str, *, pool_size: int, statement_timeout_ms: int, read_only: bool = False) -> None:
        """Open the pool and see that a server answers.

        Raises: DatabaseError `database_unreachable`, `database_too_old`, `pgvector_missing`.
        """
        self._conninfo = conninfo
        self.read_only = read_only
        self._timeout_ms = statement_timeout_ms
        _check_conninfo(conninfo)
        with translated(conninfo), psycopg.connect(conninfo, connect_timeout=int(CONNECT_TIMEOUT_S)) as probe:
            _check_server(probe)
        self._pool = ConnectionPool(
            conninfo,
            min_size=1,
            max_size=pool_size,
            timeout=CONNECT_TIMEOUT_S,
            configure=self._configure,
            check=ConnectionPool.check_connection,
            open=True,
        )

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """One snapshot of the database: REPEATABLE READ, READ ONLY."""
        with translated(self._conninfo), self._pool.connection() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection

    @contextmanager
    def writing(self, *, durable: bool = True) -> Generator[Connection]:
        """One transaction, committed at the end. One that is not durable may be lost with the server's machine, whole
        and in order, and is not waited for: for what a job can make again.

        Raises: DatabaseError `read_only` where writes are refused.
        """
        if self.read_only:
            raise DatabaseError("read_only")
        with translated(self._conninfo), self._pool.connection() as connection:
            if not durable:
                connection.execute("SET LOCAL synchronous_commit = off")
            yield connection

    @contextmanager
    def alone(self) -> Generator[Connection]:
        """A connection of its own, outside the pool, in autocommit: for locks that outlive a transaction."""
        with translated(self._conninfo), psycopg.connect(self._conninfo, autocommit=True) as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    def _configure(self, connection: Connection) -> None:
        # A prepared statement goes generic after five executions and then walks an index meant for others: 9 → 63 ms.
        connection.execute("SET plan_cache_mode = force_custom_plan")
        connection.execute("SET jit = off")
        connection.execute("SELECT set_config('statement_timeout', %(ms)s, false)", {"ms": str(self._timeout_ms)})
        register_vector(connection)
        connection.commit()


@contextmanager
def translated(conninfo: str) -> Generator[None]:
    """psycopg's errors as ours; the message names host and database, never the password."""
    try:
        yield
    except PoolTimeout as busy:
        raise DatabaseError("database_busy", server=shown_server(conninfo), timeout_s=CONNECT_TIMEOUT_S) from busy
    except psycopg.errors.QueryCanceled as slow:
        raise DatabaseError("statement_timeout", server=shown_server(conninfo)) from slow
    except psycopg.errors.InsufficientPrivilege as refused:
        raise DatabaseError("database_refused", problem=refused.diag.message_primary or "") from refused
    except (psycopg.OperationalError, psycopg.InterfaceError) as gone:
        problem = str(gone).strip().splitlines()
        raise DatabaseError(
            "database_unreachable", server=shown_server(conninfo), problem=problem[-1] if problem else ""
        ) from gone
    except UnicodeEncodeError as odd:  # psycopg's, for text that is no UTF-8: an argument of raw bytes
        raise InvalidInput("text_invalid", text=odd.object) from odd
    except psycopg.Error as failed:
        primary = failed.diag.message_primary or type(failed).__name__
        raise DatabaseError("database_refused", problem=primary) from failed


def is_storable(text: str) -> bool:
    """Whether PostgreSQL takes it as text: UTF-8, and no NUL. No stored name or path equals one that is not."""
    try:
        return b"\0" not in text.encode("utf-8")
    except UnicodeEncodeError:
        return False


def shown_server(conninfo: str) -> str:
    """`host:port/database`, without user or password."""
    try:
        parts = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:
        return "?"
    return f"{parts.get('host', 'localhost')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"


def _check_conninfo(conninfo: str) -> None:
    try:
        conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as broken:
        raise DatabaseError("database_unreachable", server="?", problem="that is no address of PostgreSQL") from broken


def _check_server(connection: Connection) -> None:
    version = connection.info.server_version
    if version < MIN_SERVER:
        raise DatabaseError("database_too_old", found=version // 10000, least=MIN_SERVER // 10000)
    row = connection.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'").fetchone()
    if row is None or tuple(int(part) for part in str(row[0]).split(".")[:2]) < MIN_PGVECTOR:
        raise DatabaseError("pgvector_missing", found=None if row is None else row[0], least="0.8")
