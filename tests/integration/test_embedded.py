"""The server in the data folder: closed to others, shared by processes, gone with the last."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ragkit.errors import EnvironmentFault
from ragkit.postgres import embedded
from tests.servers import stop_server, wait_until

ROOT = Path(__file__).parents[2]
START = """
import json, sys
from pathlib import Path
from ragkit.postgres import embedded
server = embedded.start(Path(sys.argv[1]))
print(json.dumps([server.pid, server.owner_conninfo, server.reader_conninfo]), flush=True)
sys.stdin.read()
"""
"""Starts or joins the server, tells how to reach it, and stays until its standard input is closed."""


class Client:
    """Another process that uses the server of a folder."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **environment},
            text=True,
        )

    def answer(self) -> tuple[int, str, str]:
        assert self.process.stdout is not None
        pid, owner, reader = json.loads(self.process.stdout.readline())
        return pid, owner, reader

    def leave(self) -> None:
        self.process.communicate(timeout=30)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def data_dir(new_data_dir: Callable[[], Path]) -> Iterator[Path]:
    """One folder for the module: its server is made once, which takes a second."""
    folder = new_data_dir()
    yield folder
    stop_server(folder)


def handles(data_dir: Path) -> list[int]:
    return list(json.loads((data_dir / "postgres" / ".handle_pids.json").read_text() or "[]"))


def server_pid(data_dir: Path) -> int | None:
    file = data_dir / "postgres" / "postmaster.pid"
    return int(file.read_text().splitlines()[0]) if file.exists() else None


def test_processes_that_start_at_once_share_one_server(data_dir: Path) -> None:
    """The folder is new: one of them makes it, and the other joins. Started under LC_ALL=C, as in a bare container."""
    clients = [Client(data_dir, LC_ALL="C", LANG="C") for _ in range(2)]
    answers = [client.answer() for client in clients]
    assert answers[0] == answers[1]
    with psycopg.connect(answers[0][1]) as connection:
        assert connection.execute("SELECT current_database(), lower('Заказы')").fetchone() == ("ragkit", "заказы")
    clients[0].leave()
    assert psutil.pid_exists(answers[0][0])  # the other still uses it
    clients[1].leave()
    wait_until(lambda: server_pid(data_dir) is None)


def test_passwords_are_asked_for(data_dir: Path) -> None:
    client = Client(data_dir)
    _, owner, reader = client.answer()
    for conninfo in (owner, reader):
        psycopg.connect(conninfo).close()
    for user in ("postgres", embedded.OWNER, embedded.READER):
        for database in ("postgres", embedded.DATABASE):
            bare = {**conninfo_to_dict(owner), "user": user, "dbname": database}
            bare.pop("password")
            with pytest.raises(psycopg.OperationalError, match="no password"):
                psycopg.connect(make_conninfo(**bare))
            with pytest.raises(psycopg.OperationalError, match="authentication failed"):
                psycopg.connect(make_conninfo(**{**bare, "password": "wrong"}))
    client.leave()


def test_no_port_is_open(data_dir: Path) -> None:
    client = Client(data_dir)
    pid, owner, _ = client.answer()
    if sys.platform != "win32":
        assert [c for c in psutil.Process(pid).net_connections() if c.family.name != "AF_UNIX"] == []
    with psycopg.connect(owner) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert connection.execute("SHOW jit").fetchone() == ("off",)
    client.leave()


def test_passwords_are_private(data_dir: Path) -> None:
    file = data_dir / "server-passwords.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    passwords = json.loads(file.read_text())
    assert set(passwords) == {"postgres", embedded.OWNER, embedded.READER}
    assert len(set(passwords.values())) == 3
    assert min(map(len, passwords.values())) >= 32


def test_a_killed_client_does_not_keep_the_server_up(data_dir: Path) -> None:
    killed = Client(data_dir)
    killed.answer()
    killed.kill()
    assert killed.process.pid in handles(data_dir)  # it could not sign off
    client = Client(data_dir)
    client.answer()
    assert handles(data_dir) == [client.process.pid]
    client.leave()
    wait_until(lambda: server_pid(data_dir) is None)


def test_a_half_made_folder_is_closed_at_the_next_start(data_dir: Path) -> None:
    """Killed after initdb and before the passwords were written: the server must not stay open to everyone."""
    (data_dir / "server-passwords.json").unlink()
    (data_dir / "postgres" / "pg_hba.conf").write_text("local all all trust\n")
    client = Client(data_dir)
    _, owner, _ = client.answer()
    bare = conninfo_to_dict(owner)
    del bare["password"]
    with pytest.raises(psycopg.OperationalError, match="no password"):
        psycopg.connect(make_conninfo(**bare))
    psycopg.connect(owner).close()
    client.leave()


def test_data_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Below a file, so that root cannot write there either."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFault) as caught:
        embedded.start(tmp_path / "file" / "data")
    assert caught.value.code == "data_dir_unwritable"
