"""Migrations are numbered without gaps, and their columns are read from their text."""

from __future__ import annotations

from ragkit.postgres.database import shown_server
from ragkit.postgres.schema import columns_of, migrations


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert list(migrations()) == list(range(1, len(migrations()) + 1))


def test_columns_of_a_migration() -> None:
    text = """CREATE TABLE rag_x (
    a text NOT NULL,                -- says, what
    b_c bigint,
    PRIMARY KEY (a, b_c),
    FOREIGN KEY (a) REFERENCES rag_y (a)
);
CREATE INDEX i ON rag_x (a);"""
    assert columns_of(text) == {("rag_x", "a"), ("rag_x", "b_c")}


def test_server_is_shown_without_password() -> None:
    assert shown_server("postgresql://me:secret@db.example:6543/rag") == "db.example:6543/rag"
    assert shown_server("host=/run/x dbname=y password=secret") == "/run/x:5432/y"
    assert "secret" not in shown_server("password=secret nonsense")
