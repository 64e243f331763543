"""Processes killed for real: afterwards nothing is half there, and the next run goes on by itself.

Spec: system.md §5.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from ragkit.errors import DatabaseError
from ragkit.service import Ask
from tests.conftest import OpenService
from tests.integration.test_indexing import check_word_counts, contents, many
from tests.servers import wait_until

Tree = Callable[[dict[str, str | None]], Path]
ROOT = Path(__file__).parents[2]

INDEX = """
import sys
from pathlib import Path
from ragkit import service
from ragkit.settings import Settings
from tests.embedders import WordEmbedder

if __name__ == "__main__":
    data, url, root, workers = sys.argv[1:]
    settings = Settings(data_dir=Path(data), database_url=url, pool_size=3, index_workers=int(workers))
    engine = service.open(settings, embedder=WordEmbedder())
    print("ready", flush=True)
    engine.index_snapshot("s", Path(root))
"""

ORPHANS = """
SELECT count(*) FROM (
    SELECT rag_session_id, file_id FROM rag_document UNION ALL SELECT rag_session_id, file_id FROM rag_posting
    UNION ALL SELECT rag_session_id, file_id FROM rag_vector UNION ALL SELECT rag_session_id, file_id FROM rag_catalog
) AS rows LEFT JOIN rag_file f USING (rag_session_id, file_id) WHERE f.file_id IS NULL"""


def start(tmp_path: Path, url: str, root: Path, workers: int) -> subprocess.Popen[bytes]:
    script = tmp_path / "index.py"
    script.write_text(INDEX, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, str(script), str(tmp_path), url, str(root), str(workers)], env=env, stdout=subprocess.PIPE
    )


def one(url: str, query: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()  # pyright: ignore
    return int(row[0]) if row else 0


def kill_and_go_on(
    moments: list[float],
    workers: int,
    new_database: Callable[[], str],
    open_service: OpenService,
    tree: Tree,
    tmp_path: Path,
) -> None:
    """Kill an indexer at each of the moments (seconds after its engine stands), then let one finish."""
    url = new_database()
    root = tree(many(300))
    killed = 0
    for moment in moments:
        with start(tmp_path, url, root, workers) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(moment)
            killed += process.poll() is None
            process.kill()
        assert one(url, ORPHANS) == 0
        shown = one(url, "SELECT coalesce(max(revision), 0) FROM rag_session")
        assert shown in (0, 1)
        assert one(url, "SELECT count(*) FROM rag_file f JOIN rag_session s USING (rag_session_id)"
                        " WHERE f.revision <= s.revision") == 300 * shown  # fmt: skip
    engine = open_service(url)
    statuses = [job.status for job in engine.indexing.jobs("s")] if engine.list_sessions() else []
    assert set(statuses) <= {"failed", "done"}  # no killed job is called running
    engine.index_snapshot("s", root)
    fresh = new_database()
    open_service(fresh).index_snapshot("s", root)
    assert contents(url) == contents(fresh)
    check_word_counts(url)
    assert killed >= 1


def test_an_indexer_killed_twice(
    new_database: Callable[[], str], open_service: OpenService, tree: Tree, tmp_path: Path
) -> None:
    kill_and_go_on([0.05, 0.4], 1, new_database, open_service, tree, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_an_indexer_killed_at_ten_random_moments(
    workers: int, new_database: Callable[[], str], open_service: OpenService, tree: Tree, tmp_path: Path
) -> None:
    chance = random.Random(workers)
    moments = sorted(chance.uniform(0, 1.5) for _ in range(10))  # early ones first: a finished job leaves none to kill
    kill_and_go_on(moments, workers, new_database, open_service, tree, tmp_path)


def test_connections_cut_in_mid_write_lose_nothing(
    database_url: str, new_database: Callable[[], str], open_service: OpenService, tree: Tree
) -> None:
    """As a restart of the server would: every other connection to the database is ended while rows are staged."""
    root = tree(many(120))
    engine = open_service(database_url)
    cut: list[int] = []

    def cut_once(progress: object) -> None:
        if getattr(progress, "stage", "") == "writing" and getattr(progress, "files_done", 0) >= 32 and not cut:
            with psycopg.connect(database_url, autocommit=True) as connection:
                rows = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                ).fetchall()
            cut.append(len(rows))

    codes: list[str] = []
    try:
        engine.index_snapshot("s", root, report=cut_once)
    except DatabaseError as gone:
        codes.append(gone.code)
    assert codes in ([], ["database_unreachable"])  # or the pool mended the cut by itself
    assert cut
    assert one(database_url, ORPHANS) == 0
    assert engine.index_snapshot("s", root).status == "done"
    assert engine.answer(Ask(query="word7", session="s")).rows
    fresh = new_database()
    open_service(fresh).index_snapshot("s", root)
    assert contents(database_url) == contents(fresh)
    wait_until(lambda: all(job.status != "running" for job in engine.indexing.jobs("s")))
