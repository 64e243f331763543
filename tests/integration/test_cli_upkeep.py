"""Commands that look after sessions, jobs and the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.embedding import Embedder
from ragkit.service import RagService
from tests.conftest import OpenService
from tests.integration.test_cli import Run, bare, ragkit
from tests.integration.test_indexing import many

__all__ = ["bare", "ragkit"]  # fixtures
Tree = Callable[[dict[str, str | None]], Path]


def test_jobs_are_listed_newest_first(ragkit: Run, tree: Tree) -> None:
    root = tree(many(2))
    for _ in range(2):
        assert ragkit("index", str(root), "--session", "s", "--json").status == 0
    found = ragkit("jobs", "s", "--json").json
    assert [job["status"] for job in found] == ["done", "done"]
    assert found[0]["created_at"] > found[1]["created_at"]
    assert (found[1]["files"]["indexed"], found[0]["files"]["unchanged"]) == (2, 2)
    assert "done" in ragkit("jobs", "s").out
    assert ragkit("jobs", "nothing").status == 2


def test_a_queued_job_is_cancelled_or_carried_out(
    ragkit: Run, demo_url: str, open_service: OpenService, embedder: Embedder, tree: Tree
) -> None:
    engine: RagService = open_service(demo_url, embedder=embedder)
    root = tree(many(2))
    first = engine.indexing.enqueue_snapshot("s", root).index_job_id
    second = engine.indexing.enqueue_snapshot("s", root).index_job_id
    assert ragkit("jobs", "--cancel", first[:12], "--json").json["status"] == "cancelled"
    done = ragkit("jobs", "--run", second, "--json").json
    assert (done["status"], done["session"], done["files"]["indexed"]) == ("done", "s", 2)
    for arguments in (("--cancel", second), ("--run", first)):
        again = ragkit("jobs", *arguments)
        assert (again.status, again.err.count("\n")) == (3, 1)
    assert ragkit("jobs", "--cancel", "").status == 2
    assert ragkit("jobs").status == 2


def test_sessions_are_renamed_and_deleted(ragkit: Run) -> None:
    assert [row["session"] for row in ragkit("sessions", "--rename", "demo", "shown", "--json").json] == ["shown"]
    assert ragkit("layers", "demo").status == 2
    assert ragkit("sessions", "--delete", "shown", "--json").json == []
    assert ragkit("sessions", "--delete", "shown").status == 2


def test_dump_and_restore_by_command(
    ragkit: Run, new_database: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "all.dump"
    assert ragkit("db", "dump", str(target), "--json").json["bytes"] == target.stat().st_size
    asked = ragkit("query", "demo", "Как поменять замок?", "--json").json
    monkeypatch.setenv("RAGKIT_DATABASE_URL", new_database())
    assert ragkit("db", "restore", str(target), "--json").json["sessions"] == 1
    again = ragkit("query", "demo", "Как поменять замок?", "--json").json
    assert {**again, "timings": 0} == {**asked, "timings": 0}
    refused = ragkit("db", "restore", str(target))
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    (tmp_path / "text").write_text("no dump", encoding="utf-8")
    assert ragkit("db", "restore", str(tmp_path / "text")).status == 2


def test_status_and_clean(ragkit: Run) -> None:
    found = ragkit("db", "status", "--json").json
    assert found["schema_version"] == found["schema_known"]
    assert found["caches"]["vectors"]["entries"] > 0
    assert "schema_version" in ragkit("db", "status").out
    assert ragkit("db", "clean", "--megabytes", "0", "--json").json["deleted"] == {
        name: size["entries"] for name, size in found["caches"].items()
    }
    assert ragkit("db", "migrate", "--json").json == {"schema_version": found["schema_known"]}


def test_what_is_left_out_is_named(ragkit: Run, tree: Tree) -> None:
    root = tree({**many(1), ".env": "SECRET=1\n", **{f"b{n}.bin": "x" for n in range(7)}})
    told = ragkit("index", str(root), "--session", "s").out
    assert ".env" in told
    assert "b0.bin" in told
    assert "b6.bin" not in told
    kept = json.loads(ragkit("jobs", "s", "--json").out)[0]["files"]["left_out_paths"]
    assert sum(map(len, kept.values())) == 8


def test_explicit_paths_are_changed_and_taken_out_together(ragkit: Run, tree: Tree) -> None:
    root = tree(many(4))
    assert ragkit("index", str(root), "--session", "s", "--json").status == 0
    tree({"docs/000.md": "# Page 0\n\nAnother text.\n", "docs/003.md": None, "docs/001.md": "# Page 1\n\nUnasked.\n"})
    done = ragkit(
        "index", str(root), "--session", "s", "--changed", "docs/000.md", "--deleted", "docs/003.md", "--json"
    )
    assert (done.json["files"]["indexed"], done.json["files"]["deleted"]) == (1, 1)
    assert "Another text." in ragkit("show", "s", "docs/000.md", "--json").out
    assert "Unasked" not in ragkit("show", "s", "docs/001.md", "--json").out
    assert ragkit("show", "s", "docs/003.md").status == 2
    refused = ragkit("index", str(root), "--session", "s", "--changed", "docs/none.md")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert ragkit("index", str(root), "--session", "s", "--changes", "HEAD", "--changed", "x").status == 2
