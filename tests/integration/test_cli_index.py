"""What `ragkit index` refuses before it harms a session, and what an interrupted job leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.service import RagService
from tests.conftest import OpenService
from tests.integration.test_cli import Run, bare, ragkit, script, wrong
from tests.integration.test_indexing import many
from tests.servers import wait_until

__all__ = ["bare", "ragkit"]  # fixtures
Tree = Callable[[dict[str, str | None]], Path]


def folder(path: Path, names: list[str]) -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"# {name}\n\nText of {name}.\n", encoding="utf-8")
    return path


FIRST = ["README.md", "docs/a.md", "docs/b.md", "docs/c.md"]


def revision(run: Run, session: str) -> int:
    return next(row["revision"] for row in run("sessions", "--json").json if row["session"] == session)


def test_another_project_does_not_replace_a_session_by_accident(ragkit: Run, tmp_path: Path) -> None:
    """The session name of one project, the folder of another: the README alone is in both."""
    first, other = folder(tmp_path / "one", FIRST), folder(tmp_path / "two", ["README.md", "src/x.md"])
    assert ragkit("index", str(first), "--session", "s").status == 0
    wrong(ragkit("index", str(other), "--session", "s"), 2, str(first), str(other), "1 of its 4 files", "--replace")
    subprocess.run(["git", "init", "-q"], cwd=other, check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "x"], cwd=other, check=True)
    wrong(ragkit("index", str(other), "--session", "s", "--changes", "HEAD"), 2, "--replace")
    wrong(ragkit("index", str(other), "--session", "s", "--deleted", "README.md"), 2, "--replace")
    assert revision(ragkit, "s") == 1
    assert len(ragkit("jobs", "s", "--json").json) == 1
    assert ragkit("index", str(other), "--session", "s", "--replace").status == 0
    assert ragkit("show", "s", "docs/a.md").status == 2
    wrong(ragkit("index", str(other), "--session", "s", "--replace", "--deleted", "x"), 2, "--replace", "--deleted")


def test_a_project_that_moved_is_the_same(ragkit: Run, tmp_path: Path) -> None:
    first = folder(tmp_path / "one", FIRST)
    assert ragkit("index", str(first), "--session", "s").status == 0
    moved = tmp_path / "elsewhere"
    shutil.move(first, moved)
    (moved / "docs/a.md").unlink()
    (moved / "docs/b.md").unlink()  # half of the paths is enough
    assert ragkit("index", str(moved), "--session", "s").status == 0
    (tmp_path / "link").symlink_to(moved)
    (moved / "docs/c.md").unlink()
    assert ragkit("index", str(tmp_path / "link"), "--session", "s", "--json").json["files"]["deleted"] == 1


def test_a_queued_job_is_refused_too(ragkit: Run, demo_url: str, open_service: OpenService, tmp_path: Path) -> None:
    from ragkit.errors import WrongUse

    engine: RagService = open_service(demo_url)
    with pytest.raises(WrongUse) as told:
        engine.indexing.enqueue_snapshot("demo", folder(tmp_path / "one", FIRST))
    assert told.value.code == "root_differs"
    assert engine.indexing.enqueue_snapshot("demo", tmp_path / "one", replace=True).status == "queued"


@pytest.mark.parametrize("path", ["never/there.md", "", "docs", "README.md/"])
def test_an_unknown_path_is_not_deleted(ragkit: Run, tmp_path: Path, path: str) -> None:
    first = folder(tmp_path / "one", FIRST)
    assert ragkit("index", str(first), "--session", "s").status == 0
    wrong(ragkit("index", str(first), "--session", "s", "--deleted", "README.md", "--deleted", path), 2, f"'{path}'")
    assert revision(ragkit, "s") == 1


def test_nothing_is_deleted_in_the_name_of_a_folder_that_is_not_there(ragkit: Run, tmp_path: Path) -> None:
    first = folder(tmp_path / "one", FIRST)
    assert ragkit("index", str(first), "--session", "s").status == 0
    wrong(ragkit("index", str(tmp_path / "no"), "--session", "s", "--deleted", "README.md"), 2, str(tmp_path / "no"))
    assert revision(ragkit, "s") == 1


def test_an_empty_revision_is_no_snapshot(ragkit: Run, tmp_path: Path) -> None:
    first = folder(tmp_path / "one", FIRST)
    subprocess.run(["git", "init", "-q"], cwd=first, check=True)
    assert ragkit("index", str(first), "--session", "s").status == 0
    wrong(ragkit("index", str(first), "--session", "s", "--changes", ""), 2, "revision ''")
    assert len(ragkit("jobs", "s", "--json").json) == 1


def test_a_folder_with_nothing_to_index_leaves_no_session(ragkit: Run, tmp_path: Path) -> None:
    """Its file is listed, and only reading it shows that it is no text."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.md").write_bytes(b"\x00\x01" * 50)
    wrong(ragkit("index", str(tmp_path / "one"), "--session", "ghost"), 2, "Nothing was changed")
    assert [row["session"] for row in ragkit("sessions", "--json").json] == ["demo"]


def test_an_interrupted_job_says_so(demo_url: str, tmp_path: Path, tree: Tree, ragkit: Run) -> None:
    """Ctrl+C in a terminal reaches every process of the group, the workers too."""
    root = tree(many(400))
    running = subprocess.Popen(
        [script(), "index", str(root), "--session", "s"],
        env={**os.environ, "RAGKIT_DATABASE_URL": demo_url, "RAGKIT_DATA_DIR": str(tmp_path / "data")},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a runner in the background ignores it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    def is_writing() -> bool:
        found = ragkit("jobs", "s", "--json")
        return found.status == 0 and any(job["rows_written"] for job in json.loads(found.out))

    wait_until(is_writing)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"Stopped by Ctrl+C or a signal.\n")
    (job,) = ragkit("jobs", "s", "--json").json
    assert (job["status"], job["error"]["code"]) == ("cancelled", "job_interrupted")
