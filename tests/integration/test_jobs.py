"""Jobs tell the truth, wait, stop, go on, and are fanned out over processes. Spec: system.md §5; MODULE §4."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from ragkit.errors import EmbeddingError, JobError, UnknownName
from ragkit.service import RagService
from ragkit.service.job_record import Progress, seconds_left
from tests.conftest import OpenService
from tests.embedders import WordEmbedder
from tests.integration.test_indexing import Faulty, contents, fail, many
from tests.servers import wait_until

Tree = Callable[[dict[str, str | None]], Path]


class SlowEmbedder(WordEmbedder):
    """Takes its time; the workers' processes make one each."""

    def embed(self, texts):  # type: ignore[no-untyped-def]
        """See `Embedder.embed`."""
        time.sleep(0.2)
        return super().embed(texts)


class DyingEmbedder(WordEmbedder):
    """Kills the process that it works in."""

    def embed(self, texts):  # type: ignore[no-untyped-def]
        """See `Embedder.embed`."""
        os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts)


def children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def test_two_processes_write_what_one_writes(
    new_database: Callable[[], str], open_service: OpenService, tree: Tree
) -> None:
    after = {n: (n + 1) % 30 for n in range(30)}
    code = {f"src/m{n}.py": f"from src import m{m}\n\ndef f{n}():\n    return m{m}.f{m}()\n" for n, m in after.items()}
    root = tree({**many(60), **code})
    one, two = new_database(), new_database()
    alone = open_service(one).index_snapshot("s", root)
    shared = open_service(two, index_workers=2).index_snapshot("s", root)
    assert contents(one) == contents(two)
    assert (alone.rows_written, alone.files) == (shared.rows_written, shared.files)


def test_a_killed_worker_costs_the_job_and_no_more(database_url: str, open_service: OpenService, tree: Tree) -> None:
    root = tree(many(70))
    engine = open_service(database_url, embedder=DyingEmbedder(), index_workers=2)
    with pytest.raises(JobError) as caught:
        engine.index_snapshot("s", root)
    assert caught.value.code == "worker_died"
    (job,) = engine.indexing.jobs("s")
    assert (job.status, (job.error or {})["code"]) == ("failed", "worker_died")
    assert engine.layers("s") == {}
    job = open_service(database_url).index_snapshot("s", root)
    assert (job.status, job.files["indexed"]) == ("done", 70)


RUN = """
import sys
from pathlib import Path
from ragkit import service
from ragkit.settings import Settings
from tests.integration.test_jobs import SlowEmbedder

if __name__ == "__main__":
    settings = Settings(data_dir=Path(sys.argv[1]), database_url=sys.argv[2], pool_size=2, index_workers=2)
    service.open(settings, embedder=SlowEmbedder()).index_snapshot("s", Path(sys.argv[3]))
"""


def test_no_worker_outlives_a_killed_job_and_the_next_one_goes_on(
    database_url: str, open_service: OpenService, tree: Tree, tmp_path: Path
) -> None:
    root = tree(many(200))
    script = tmp_path / "run.py"
    script.write_text(RUN, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    killed = subprocess.Popen([sys.executable, str(script), str(tmp_path), database_url, str(root)], env=env)
    staged = "SELECT count(*) FROM rag_file"

    def written() -> int:
        with psycopg.connect(database_url) as connection:
            return int((connection.execute(staged).fetchone() or (0,))[0])

    wait_until(lambda: written() >= 16)
    workers = children(killed.pid)
    killed.kill()
    killed.wait()
    engine = open_service(database_url)
    (job,) = engine.indexing.jobs("s")
    assert (job.status, (job.error or {})["code"]) == ("failed", "job_killed")  # before any other job looked
    done = engine.index_snapshot("s", root)
    assert (done.status, done.files["indexed"], done.files["seen"]) == ("done", 200, 200)
    pages = sum(engine.layers("s").values())
    assert done.rows_written < pages  # what was staged is taken over
    wait_until(lambda: not any(worker.is_running() and worker.status() != "zombie" for worker in workers))


def test_a_running_job_is_cancelled_and_the_next_one_goes_on(
    database_url: str, open_service: OpenService, tree: Tree
) -> None:
    root = tree(many(100))
    engine, other = open_service(database_url, embedder=SlowEmbedder()), open_service(database_url)
    caught: list[JobError] = []

    def run() -> None:
        try:
            engine.index_snapshot("s", root)
        except JobError as stopped:
            caught.append(stopped)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: bool(other.list_sessions()) and [j.stage for j in other.indexing.jobs("s")] == ["writing"])
    (running,) = other.indexing.jobs("s")
    assert running.status == "running"
    assert running.progress["files_total"] == 100
    other.indexing.cancel(running.index_job_id[:8])
    thread.join(30)
    assert [error.code for error in caught] == ["job_cancelled"]
    (job,) = other.indexing.jobs("s")
    assert (job.status, other.layers("s")) == ("cancelled", {})
    with pytest.raises(JobError) as ended:
        other.indexing.cancel(job.index_job_id)
    assert ended.value.code == "job_ended"
    assert other.index_snapshot("s", root).files["indexed"] == 100


def test_a_queued_job_is_carried_out_once(database_url: str, open_service: OpenService, tree: Tree) -> None:
    engine = open_service(database_url)
    root = tree(many(3))
    queued = engine.indexing.enqueue_snapshot("s", root)
    assert queued.status == "queued"
    (job,) = engine.indexing.jobs("s")
    assert (job.status, job.root) == ("queued", str(root))  # nobody holds it, and that is no death
    assert engine.indexing.run(queued.index_job_id).status == "done"
    with pytest.raises(JobError) as caught:
        engine.indexing.run(queued.index_job_id)
    assert caught.value.code == "job_taken"


def test_a_queued_job_that_was_cancelled_never_starts(database_url: str, open_service: OpenService, tree: Tree) -> None:
    engine = open_service(database_url)
    queued = engine.indexing.enqueue_snapshot("s", tree(many(3)))
    assert engine.indexing.cancel(queued.index_job_id).status == "cancelled"
    with pytest.raises(JobError):
        engine.indexing.run(queued.index_job_id)
    assert engine.layers("s") == {}


def test_jobs_of_one_session_are_not_told_to_another(engine_of_two: RagService) -> None:
    assert [len(engine_of_two.indexing.jobs(name)) for name in ("a", "b")] == [2, 1]
    with pytest.raises(UnknownName):
        engine_of_two.indexing.job("nothing")


@pytest.fixture
def engine_of_two(database_url: str, open_service: OpenService, tree: Tree) -> RagService:
    engine = open_service(database_url)
    root = tree(many(2))
    for name in ("a", "a", "b"):
        engine.index_snapshot(name, root)
    return engine


def test_progress_counts_files_and_tells_the_time_left(
    database_url: str, open_service: OpenService, tree: Tree
) -> None:
    seen: list[Progress] = []
    open_service(database_url).index_snapshot("s", tree(many(40)), report=seen.append)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages == ["listing", "waiting", "reading", "linking", "writing", "swapping", "done"]
    writing = [progress for progress in seen if progress.stage == "writing"]
    assert [progress.files_done for progress in writing] == [0, 16, 32, 40]
    assert all(progress.left_s is not None for progress in writing[1:])
    assert seconds_left("reading", 0, 10, 5.0) is None
    assert seconds_left("reading", 5, 10, 5.0) == pytest.approx(35.0)  # an eighth is done
    assert seconds_left("writing", 10, 10, 5.0) == pytest.approx(0.0)


def test_a_file_that_an_extractor_cannot_bear_costs_itself_alone(
    database_url: str, open_service: OpenService, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragkit.service import file_batch

    inner = file_batch.extract

    def fails(source, **pipelines):  # type: ignore[no-untyped-def]
        if source.path == "docs/001.md":
            raise KeyError("planted")
        return inner(source, **pipelines)

    monkeypatch.setattr(file_batch, "extract", fails)
    engine = open_service(database_url)
    job = engine.index_snapshot("s", tree(many(3)))
    assert (job.status, job.files["indexed"], job.files["left_out"]) == ("done", 2, {"failed": 1})
    assert job.files["left_out_paths"] == {"failed": ["docs/001.md"]}


def test_a_failed_job_names_the_file_of_its_batch(database_url: str, open_service: OpenService, tree: Tree) -> None:
    engine = open_service(database_url, embedder=Faulty(1, fail))
    with pytest.raises(EmbeddingError):
        engine.index_snapshot("s", tree(many(40)))
    (job,) = engine.indexing.jobs("s")
    assert job.error == {
        "code": "embedder_weights_missing",
        "params": {"embedder": "faulty", "path": "docs/016.md"},
    }
