"""The schema on a real server: made once, checked always, and every key led by the session."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest

from ragkit.errors import DatabaseError
from ragkit.postgres import schema, statements
from ragkit.postgres.database import Database
from ragkit.postgres.schema import RagSchemaRepository

NOT_OF_A_SESSION = {"rag_schema_version", "rag_extraction_cache", "rag_vector_cache"}
"""Source: system.md §5: the content cache, keyed by content, and the schema's version."""

KEYS_EXEMPT = {"rag_session_name"}
"""Sessions are found by name before their id is known."""

STATEMENTS_EXEMPT = {
    "SESSION_BY_NAME": "no session is known yet",
    "SESSIONS": "the listing of sessions",
    "STATUS": "the database as a whole",
    "JOBS_BY_STATUS": "the database as a whole: counts alone",
    "SESSION_OF_JOB": "a job is named by its own id; no session is known yet",
    "SETTLE_POSTINGS": "upkeep of an index",
    "ANALYZE_TABLES": "upkeep of statistics",
}


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url, pool_size=2, statement_timeout_ms=30_000)
    yield opened
    opened.close()


def test_made_twice_is_made_once(database: Database) -> None:
    repository = RagSchemaRepository(database)
    latest = max(schema.migrations())
    assert repository.ensure_tables() == repository.ensure_tables() == repository.check() == latest
    with database.reading() as connection:
        applied = connection.execute("SELECT version FROM rag_schema_version ORDER BY version").fetchall()
    assert applied == [(version,) for version in schema.migrations()]


def test_newer_database_is_refused(database: Database) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO rag_schema_version (version, name) VALUES (9999, 'later.sql')")
    for ask in (RagSchemaRepository(database).ensure_tables, RagSchemaRepository(database).check):
        with pytest.raises(DatabaseError) as caught:
            ask()
        assert caught.value.code == "schema_newer"
        assert caught.value.params == {"found": 9999, "known": max(schema.migrations())}


@pytest.mark.parametrize(
    ("damage", "missing"),
    [
        ("DROP INDEX rag_vector_layer", ["rag_vector_layer"]),
        ("ALTER TABLE rag_posting DROP COLUMN weights", ["rag_posting.weights"]),
        ("ALTER TABLE rag_session RENAME COLUMN root TO roof", ["rag_session.root"]),
    ],
)
def test_damaged_database_is_refused(database: Database, damage: str, missing: list[str]) -> None:
    with database.writing() as connection:
        connection.execute(damage)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DatabaseError) as caught:
        RagSchemaRepository(database).ensure_tables()
    assert (caught.value.code, caught.value.params) == ("schema_damaged", {"missing": missing})


def test_failed_migration_leaves_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    known = schema.migrations()
    next_version = max(known) + 1
    broken = {**known, next_version: ("9999_broken.sql", "CREATE TABLE rag_half (a text);\nSELECT 1/0;")}
    monkeypatch.setattr(schema, "migrations", lambda: broken)
    with pytest.raises(DatabaseError):
        RagSchemaRepository(database).ensure_tables()
    with database.reading() as connection:
        assert connection.execute("SELECT to_regclass('rag_half')").fetchone() == (None,)
    monkeypatch.undo()
    assert RagSchemaRepository(database).check() == max(known)


def test_reader_of_an_older_database_is_told(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = {**schema.migrations(), 9998: ("9998_next.sql", "SELECT 1")}
    monkeypatch.setattr(schema, "migrations", lambda: newer)
    with pytest.raises(DatabaseError) as caught:
        RagSchemaRepository(database).check()
    assert caught.value.code == "schema_older"


def test_reader_of_an_empty_database_is_told(database: Database) -> None:
    with database.writing() as connection:
        connection.execute("DROP TABLE rag_schema_version")
    with pytest.raises(DatabaseError) as caught:
        RagSchemaRepository(database).check()
    assert caught.value.code == "schema_missing"


def test_every_key_of_a_session_table_starts_with_the_session(database_url: str) -> None:
    """Source: architecture.md: so that the schema can be distributed by it."""
    with psycopg.connect(database_url) as connection:
        keys = connection.execute(
            """
            SELECT t.relname, k.relname, a.attname
            FROM pg_index i
            JOIN pg_class t ON t.oid = i.indrelid
            JOIN pg_class k ON k.oid = i.indexrelid
            LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
            WHERE t.relname LIKE 'rag\\_%' AND i.indisunique"""
        ).fetchall()
        references = connection.execute(
            """
            SELECT t.relname, c.conname, a.attname, b.attname
            FROM pg_constraint c
            JOIN pg_class t ON t.oid = c.conrelid
            JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
            JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]
            WHERE c.contype = 'f' AND t.relname LIKE 'rag\\_%'"""
        ).fetchall()
    tables = {table for table, _, _ in keys}
    assert len(tables) >= 9
    assert tables >= NOT_OF_A_SESSION
    wrong = [
        (table, key, first)
        for table, key, first in keys
        if table not in NOT_OF_A_SESSION and key not in KEYS_EXEMPT and first != "rag_session_id"
    ]
    assert wrong == []
    assert references
    assert [r for r in references if (r[2], r[3]) != ("rag_session_id", "rag_session_id")] == []


def test_every_table_of_a_session_has_the_session(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        without = connection.execute(
            """
            SELECT relname FROM pg_class t
            WHERE relkind = 'r' AND relname LIKE 'rag\\_%' AND NOT EXISTS (
                SELECT 1 FROM pg_attribute WHERE attrelid = t.oid AND attname = 'rag_session_id' AND attnotnull)"""
        ).fetchall()
    assert {name for (name,) in without} == NOT_OF_A_SESSION


def session_statements() -> dict[str, str]:
    """Name → text of every statement, and of every fragment that reads a table, on tables of a session."""
    texts = {name: value for name, value in vars(statements).items() if isinstance(value, str) and name.isupper()}
    tables = r"\brag_(?!schema_version|extraction_cache|vector_cache|file_id_seq|session_id|posting_terms)\w+"
    return {
        name: text for name, text in texts.items() if re.search(rf"(FROM|JOIN|INTO|UPDATE|COPY|ANALYZE) {tables}", text)
    }


@pytest.mark.parametrize("name", sorted(session_statements().keys() - STATEMENTS_EXEMPT.keys()))
def test_every_statement_binds_each_table_to_the_session(name: str) -> None:
    """Each table named in it is held by an equality, by a join on the session, or gets the session as a value."""
    text = session_statements()[name]
    table = r"rag_(?:session|file|document|posting|vector|term|catalog|index_job|request)\b"
    named = len(re.findall(rf"(?:FROM|JOIN|INTO|UPDATE|COPY) {table}", text))
    held = (
        len(re.findall(r"rag_session_id = %\(session\)s", text))
        + text.count("USING (rag_session_id, ")
        + len(
            re.findall(
                rf"INSERT INTO {table} \(rag_session_id, .*?\)\s+(?:VALUES|SELECT) ?\(?%\(session\)s", text, re.S
            )
        )
        + len(re.findall(rf"COPY {table} \(rag_session_id, ", text))
    )
    assert named > 0
    assert held == named


def test_exempt_statements_are_still_there() -> None:
    assert STATEMENTS_EXEMPT.keys() <= vars(statements).keys()


def test_lower_knows_russian(database_url: str) -> None:
    """Under `LC_ALL=C` a database made carelessly leaves «Заказы» as it is."""
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT lower('Заказы ÄÖ')").fetchone() == ("заказы äö",)
