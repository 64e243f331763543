"""The schema: numbered forward migrations, run once each, under a lock, each in a transaction. Spec: MODULE §3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from typing import LiteralString, cast

from psycopg import sql

from ragkit.errors import DatabaseError
from ragkit.postgres.database import Connection, Database

MIGRATION_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")

# What one row means: a migration that was run here.
CREATE_VERSIONS: LiteralString = """
CREATE TABLE IF NOT EXISTS rag_schema_version (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)"""
LOCK: LiteralString = "SELECT pg_advisory_xact_lock(7264716, 1)"
APPLIED: LiteralString = "SELECT coalesce(max(version), 0) FROM rag_schema_version"
HAS_VERSIONS: LiteralString = "SELECT to_regclass('rag_schema_version') IS NOT NULL"
ADD_VERSION: LiteralString = "INSERT INTO rag_schema_version (version, name) VALUES (%(version)s, %(name)s)"
COLUMNS_THERE: LiteralString = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name LIKE 'rag\\_%%'"""
INDEXES_THERE: LiteralString = """
SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename LIKE 'rag\\_%%'"""

INDEXES: tuple[str, ...] = (
    "rag_session_name",
    "rag_file_path",
    "rag_posting_terms",
    "rag_vector_layer",
    "rag_request_asked",
    "rag_index_job_created",
    "rag_extraction_cache_used",
    "rag_vector_cache_used",
)
"""Beside the primary keys."""


class RagSchemaRepository:
    """Creates and upgrades the tables of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure_tables(self) -> int:
        """Run what is missing and check what stands; the schema's version.

        Raises: DatabaseError `schema_newer` for a database of a later ragkit, `schema_damaged` when something of an
        applied migration is gone.
        """
        known = migrations()
        with self._database.writing() as connection:
            connection.execute(LOCK)
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute(CREATE_VERSIONS)
            applied = _applied(connection)
            _refuse_newer(applied, known)
            for version, (name, text) in known.items():
                if version > applied:
                    connection.execute(sql.SQL(cast("LiteralString", text)))
                    connection.execute(ADD_VERSION, {"version": version, "name": name})
            self._ensure_columns(connection, known)
            self._ensure_indexes(connection)
        return max(known)

    def check(self) -> int:
        """The version that stands, without writing: what a reader calls.

        Raises: DatabaseError `schema_missing`, `schema_newer`, `schema_older`.
        """
        known = migrations()
        with self._database.reading() as connection:
            there = connection.execute(HAS_VERSIONS).fetchone()
            if there is None or not there[0]:
                raise DatabaseError("schema_missing")
            applied = _applied(connection)
        _refuse_newer(applied, known)
        if applied < max(known):
            raise DatabaseError("schema_older", found=applied, known=max(known))
        return applied

    def _ensure_columns(self, connection: Connection, known: Mapping[int, tuple[str, str]]) -> None:
        """Every column that the migrations create must stand."""
        there = {(str(row[0]), str(row[1])) for row in connection.execute(COLUMNS_THERE)}
        wanted = {pair for _, text in known.values() for pair in columns_of(text)}
        missing = sorted(f"{table}.{column}" for table, column in wanted - there)
        if missing:
            raise DatabaseError("schema_damaged", missing=missing)

    def _ensure_indexes(self, connection: Connection) -> None:
        there = {str(row[0]) for row in connection.execute(INDEXES_THERE)}
        missing = sorted(set(INDEXES) - there)
        if missing:
            raise DatabaseError("schema_damaged", missing=missing)


def migrations() -> dict[int, tuple[str, str]]:
    """Number → (file name, text), ascending."""
    folder = resources.files("ragkit.postgres").joinpath("migrations")
    found = {
        int(match[1]): (entry.name, entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if (match := MIGRATION_NAME.fullmatch(entry.name))
    }
    return dict(sorted(found.items()))


def columns_of(migration: str) -> set[tuple[str, str]]:
    """(table, column) of every CREATE TABLE and ADD COLUMN in a migration's text."""
    found: set[tuple[str, str]] = set()
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", migration, flags=re.DOTALL):
        for line in body.splitlines():
            match = re.match(r"    ([a-z_]+) +[a-z]", line)
            if match:
                found.add((table, match[1]))
    found.update(re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", migration))
    return found


def _applied(connection: Connection) -> int:
    row = connection.execute(APPLIED).fetchone()
    return int(row[0]) if row else 0


def _refuse_newer(applied: int, known: Mapping[int, object]) -> None:
    if applied > max(known):
        raise DatabaseError("schema_newer", found=applied, known=max(known))
