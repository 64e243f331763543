"""Sessions, caches, dumps and the state of the database. Spec: MODULE §3, §4; system.md §5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from ragkit.embedding import Embedder
from ragkit.errors import DatabaseError, InvalidInput, JobError, UnknownName, WrongUse
from ragkit.postgres.database import Database
from ragkit.postgres.jobs import JobTable
from ragkit.postgres.schema import RagSchemaRepository, migrations
from ragkit.service import Ask, RagService
from tests.conftest import OpenService
from tests.embedders import CountingEmbedder, WordEmbedder
from tests.integration.test_indexing import contents, count, many
from tests.servers import TestServer

Tree = Callable[[dict[str, str | None]], Path]


@pytest.fixture
def engine(database_url: str, open_service: OpenService, tree: Tree) -> RagService:
    engine = open_service(database_url)
    engine.index_snapshot("s", tree(many(3)))
    return engine


def test_a_session_is_renamed_and_keeps_its_rows(engine: RagService, tree: Tree) -> None:
    rows = engine.layers("s")
    sid = engine.sessions.get("s").rag_session_id
    engine.index_snapshot("other", tree(many(3)))
    engine.sessions.rename("s", "new name")
    assert engine.layers("new name") == engine.layers(sid) == rows
    with pytest.raises(UnknownName):
        engine.layers("s")
    for name, code in (("other", "session_name_taken"), ("", "session_name")):
        with pytest.raises(InvalidInput) as caught:
            engine.sessions.rename("new name", name)
        assert caught.value.code == code


def test_a_deleted_session_leaves_no_row(engine: RagService, database_url: str) -> None:
    engine.answer(Ask(query="word1", session="s"))
    engine.sessions.delete("s")
    with psycopg.connect(database_url) as connection:
        tables = [
            str(row[0])
            for row in connection.execute(
                "SELECT table_name FROM information_schema.columns WHERE column_name = 'rag_session_id'"
            )
        ]
        left = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone() for name in tables}  # pyright: ignore
    assert len(tables) >= 9
    assert set(left.values()) == {(0,)}
    assert engine.list_sessions() == []


def test_a_session_that_is_written_is_not_deleted(engine: RagService, database_url: str) -> None:
    jobs = JobTable(Database(database_url, pool_size=1, statement_timeout_ms=1000))
    with jobs.held(engine.sessions.get("s").rag_session_id, "a job") as lock:
        assert lock.is_session_free()
        with pytest.raises(JobError) as caught:
            engine.sessions.delete("s")
    assert caught.value.code == "session_busy"
    assert engine.layers("s")


def test_caches_give_up_the_oldest(database_url: str, open_service: OpenService, tree: Tree) -> None:
    counting = CountingEmbedder(WordEmbedder())
    engine = open_service(database_url, embedder=counting)
    engine.index_snapshot("s", tree(many(20)))
    before = engine.database_status().caches
    assert before["extractions"].entries == 20
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE rag_extraction_cache SET used_at = now() - interval '9 days' WHERE path >= 'docs/010.md'"
        )
    engine.clean_caches(before["extractions"].bytes - 1)
    kept = before["extractions"].entries - -(-20 * 2 // 10)
    assert engine.database_status().caches["extractions"].entries in (kept, kept - 1)
    with psycopg.connect(database_url) as connection:
        oldest = connection.execute("SELECT count(*) FROM rag_extraction_cache WHERE path < 'docs/010.md'").fetchone()
    assert oldest == (10,)
    engine.clean_caches(0)
    assert {name: size.entries for name, size in engine.database_status().caches.items()} == {
        "extractions": 0,
        "vectors": 0,
    }
    embedded = len(counting.texts)
    engine.index_snapshot("s", tree({"docs/000.md": "# Page 0\n\nAnother text.\n"}))
    assert len(counting.texts) == embedded + 2  # what is shown needs no cache: the changed page's two rows alone


def test_a_job_keeps_the_caches_within_their_bound(database_url: str, open_service: OpenService, tree: Tree) -> None:
    engine = open_service(database_url, cache_mb=1)
    page = "# Page {n}\n\n" + "\n\n".join(f"Paragraph {k} says word{k}." * 9 for k in range(40))
    engine.index_snapshot("s", tree({f"docs/{n}.md": page.replace("{n}", str(n)) for n in range(60)}))
    size = engine.database_status().caches["extractions"]
    assert 0 < size.bytes <= 1_000_000


def test_what_is_read_from_a_cache_counts_as_used(engine: RagService, database_url: str, tree: Tree) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for table in ("rag_extraction_cache", "rag_vector_cache"):
            connection.execute(f"UPDATE {table} SET used_at = now() - interval '9 days'")  # pyright: ignore
    engine.index_snapshot("again", tree({}))
    for table in ("rag_extraction_cache", "rag_vector_cache"):
        assert count(database_url, f"SELECT count(*) FROM {table} WHERE used_at < now() - interval '1 day'") == 0


def test_a_restored_dump_gives_the_same_answers(
    demo: RagService, new_database: Callable[[], str], open_service: OpenService, embedder: Embedder, tmp_path: Path
) -> None:
    target = tmp_path / "all.dump"
    assert demo.dump(target) == target.stat().st_size > 100_000
    other = new_database()
    copy = open_service(other, embedder=embedder)
    assert copy.restore(target) == max(migrations())
    assert contents(other) == contents(demo._conninfo)
    asked = Ask(query="Как поменять замок на третьем Засове?", session="demo")

    def told(engine: RagService) -> dict[str, object]:
        return {name: value for name, value in engine.answer(asked).to_json().items() if name != "timings"}

    assert told(copy) == told(demo)
    with pytest.raises(WrongUse) as caught:
        copy.restore(target)
    assert caught.value.code == "restore_not_empty"
    assert copy.index_snapshot("demo2", Path(demo.list_sessions()[0].root or "")).texts_embedded == 0


def test_a_broken_dump_changes_nothing(
    engine: RagService, new_database: Callable[[], str], open_service: OpenService, tmp_path: Path
) -> None:
    whole, cut, other = tmp_path / "whole", tmp_path / "cut", open_service(new_database())
    engine.dump(whole)
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    for path in (cut, tmp_path / "missing", tmp_path):
        with pytest.raises((InvalidInput, DatabaseError)):
            other.restore(path)
    assert other.list_sessions() == []
    assert other.restore(whole) == max(migrations())
    assert [summary.session for summary in other.list_sessions()] == ["s"]
    with pytest.raises(DatabaseError) as caught:
        engine.dump(tmp_path / "no" / "such" / "folder")
    assert caught.value.code == "backup_failed"


def test_every_earlier_version_is_upgraded_with_its_rows(test_server: TestServer, embedder: Embedder) -> None:
    """A database as migration 1 left it, with a session in it."""
    name = test_server.create(stem="old")
    database = Database(test_server.conninfo(name), pool_size=2, statement_timeout_ms=30_000)
    try:
        for version in range(1, max(migrations())):
            with database.writing() as connection:
                connection.execute("DROP OWNED BY CURRENT_USER" if version > 1 else "SELECT 1")
            _make_version(database, version)
            assert RagSchemaRepository(database).ensure_tables() == max(migrations())
            with database.reading() as connection:
                assert connection.execute("SELECT name FROM rag_session").fetchall() == [("old",)]
                assert connection.execute("SELECT path, link_digest FROM rag_file").fetchall() == [("a.md", "")]
    finally:
        database.close()
        test_server.drop(name)


def _make_version(database: Database, version: int) -> None:
    with database.writing() as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            "CREATE TABLE rag_schema_version (version integer PRIMARY KEY, name text NOT NULL,"
            " applied_at timestamptz NOT NULL DEFAULT now())"
        )
        for number, (file, text) in migrations().items():
            if number <= version:
                connection.execute(text)  # pyright: ignore
                connection.execute("INSERT INTO rag_schema_version (version, name) VALUES (%s, %s)", (number, file))
        connection.execute(
            "INSERT INTO rag_session (rag_session_id, name, project_id, revision) VALUES ('s-1', 'old', 'p', 1)"
        )
        connection.execute(
            "INSERT INTO rag_file (rag_session_id, file_id, revision, path, blob_sha, size, mtime_ns, family, embedder,"
            " pipeline_version) VALUES ('s-1', 1, 1, 'a.md', 'b', 1, 1, 'DOCS', 'e', '1')"
        )


def test_status_counts_what_is_there(engine: RagService) -> None:
    status = engine.database_status()
    assert status.schema_version == status.schema_known == max(migrations())
    assert (status.sessions, status.jobs) == (1, {"done": 1})
    assert status.pgvector.startswith("0.")
    assert status.bytes > sum(status.tables.values()) > 0
    assert replace(status, sessions=2) != status
