from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ragkit.document import SourceFile
from ragkit.errors import SourceError
from ragkit.indexing.exclusions import MAX_BYTES
from ragkit.indexing.files import FileEntry, LeftOut, Listing, changed_files, head_commit, list_files, read_file


def _git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _put(root: Path, path: str, text: str = "text\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def _paths(listing: Listing) -> list[str]:
    return [entry.path for entry in listing.files]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    _git(root, "init", "-q", "-b", "main")
    _put(root, "README.md", "# Readme\n")
    _put(root, "docs/guide.md", "# Guide\n")
    _put(root, "src/app.py", "x = 1\n")
    _put(root, ".gitignore", "*.log.md\nbuild/\n")
    _git(root, "add", ".")
    _git(root, "commit", "-q", "-m", "first")
    return root


def test_plain_folder_honours_ignore_files(tmp_path: Path) -> None:
    _put(tmp_path, ".gitignore", "*.txt\n!keep.txt\n/out/\n")
    _put(tmp_path, ".ragkitignore", "drafts/\n")
    for path in ["a.md", "b.txt", "keep.txt", "out/c.md", "in/out/c.md", "drafts/d.md", "in/e.txt", "in/f.txt"]:
        _put(tmp_path, path)
    _put(tmp_path, "in/.gitignore", "!e.txt\n")
    assert _paths(list_files(tmp_path)) == ["a.md", "in/e.txt", "in/out/c.md", "keep.txt"]


def test_plain_folder_skips_what_tools_put_there(tmp_path: Path) -> None:
    for path in ["node_modules/a.md", "x/__pycache__/a.md", "env/pyvenv.cfg", "env/lib/a.py", ".git2/a.md", "a.md"]:
        _put(tmp_path, path)
    assert _paths(list_files(tmp_path)) == [".git2/a.md", "a.md"]


def test_left_out_files_have_reasons(tmp_path: Path) -> None:
    _put(tmp_path, "a.md")
    _put(tmp_path, ".env", "A=1\n")
    _put(tmp_path, "empty.md", "")
    _put(tmp_path, "a.png", "x")
    _put(tmp_path, "a.xyz", "{}")
    _put(tmp_path, "poetry.lock", "x")
    _put(tmp_path, "big.md", "x" * (MAX_BYTES + 1))
    (tmp_path / "link.md").symlink_to("a.md")
    listing = list_files(tmp_path)
    assert _paths(listing) == ["a.md"]
    assert listing.left_out == {
        "binary": ("a.png",),
        "empty": ("empty.md",),
        "generated": ("poetry.lock",),
        "secret": (".env",),
        "symlink": ("link.md",),
        "too_large": ("big.md",),
        "unsupported": ("a.xyz",),
    }


def test_links_are_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    _put(outside, "secret.md")
    root = tmp_path / "root"
    _put(root, "a/a.md")
    (root / "loop").symlink_to(root)
    (root / "a/up").symlink_to("..")
    (root / "away").symlink_to(outside)
    (root / "dangling.md").symlink_to("nowhere.md")
    listing = list_files(root)
    assert _paths(listing) == ["a/a.md"]
    assert listing.left_out == {"symlink": ("a/up", "away", "dangling.md", "loop")}


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert list_files(tmp_path).left_out == {"unsupported": ("pipe.md",)}
    entry = FileEntry(path="pipe.md", size=1, mtime_ns=0)
    assert read_file(tmp_path, entry) == LeftOut(path="pipe.md", reason="unreadable")


def test_names_of_any_script(tmp_path: Path) -> None:
    for path in ["папка с пробелом/файл.md", "emoji 🎉.md", "quote'\".md", "new\nline.md"]:
        _put(tmp_path, path)
    assert _paths(list_files(tmp_path)) == ["emoji 🎉.md", "new\nline.md", "quote'\".md", "папка с пробелом/файл.md"]
    (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("x")
    assert list_files(tmp_path).left_out == {"undecodable": ("bad\ufffd.md",)}


def test_git_names_of_any_script(repository: Path) -> None:
    _put(repository, "папка/файл с пробелом.md")
    assert "папка/файл с пробелом.md" in _paths(list_files(repository))


def test_missing_root_and_file_as_root(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as missing:
        list_files(tmp_path / "none")
    assert (missing.value.code, missing.value.params) == ("source_missing", {"path": str(tmp_path / "none")})
    _put(tmp_path, "a.md")
    with pytest.raises(SourceError) as no_folder:
        list_files(tmp_path / "a.md")
    assert no_folder.value.code == "source_not_folder"


def test_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert list_files(tmp_path) == Listing(files=(), left_out={})


def test_git_tree_has_tracked_and_untracked_but_not_ignored(repository: Path) -> None:
    _put(repository, "new.md")
    _put(repository, "a.log.md")
    _put(repository, "build/x.md")
    (repository / "README.md").unlink()
    assert _paths(list_files(repository)) == ["docs/guide.md", "new.md", "src/app.py"]


def test_git_tree_below_its_root_and_ragkitignore(repository: Path) -> None:
    _put(repository, "docs/.ragkitignore", "old/\n")
    _put(repository, "docs/old/x.md")
    _put(repository, "docs/new/x.md")
    assert _paths(list_files(repository / "docs")) == ["guide.md", "new/x.md"]
    assert head_commit(repository / "docs") == _git(repository, "rev-parse", "HEAD")


def test_folder_that_a_repository_ignores_is_plain(repository: Path) -> None:
    _put(repository, "build/made/x.md")
    assert _paths(list_files(repository / "build")) == ["made/x.md"]
    assert head_commit(repository / "build") is None


def test_submodules_and_inner_repositories_are_read(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _git(other, "init", "-q", "-b", "main")
    _put(other, "inner.md")
    _git(other, "add", ".")
    _git(other, "commit", "-q", "-m", "first")
    _git(repository, "submodule", "--quiet", "add", str(other), "sub")
    _git(repository, "clone", "-q", str(other), "untracked")
    paths = _paths(list_files(repository))
    assert {"sub/inner.md", "untracked/inner.md"} <= set(paths)


def test_a_tracked_folder_that_became_a_link_is_not_followed(repository: Path, tmp_path: Path) -> None:
    _put(tmp_path, "outside/guide.md", "secret\n")
    (repository / "docs/guide.md").unlink()
    (repository / "docs").rmdir()
    (repository / "docs").symlink_to(tmp_path / "outside")
    listing = list_files(repository)
    assert _paths(listing) == ["README.md", "src/app.py"]
    assert listing.left_out["symlink"] == ("docs", "docs/guide.md")


def test_without_git_a_work_tree_is_a_plain_folder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(repository, "a.log.md")
    monkeypatch.setenv("PATH", "/nowhere")
    assert _paths(list_files(repository)) == ["README.md", "docs/guide.md", "src/app.py"]
    assert head_commit(repository) is None


def test_variables_of_another_repository_do_not_count(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert head_commit(repository) is not None


def test_file_system_monitor_of_a_repository_is_not_run(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    _git(repository, "config", "core.fsmonitor", str(trap))
    list_files(repository)
    changed_files(repository, "HEAD")
    assert not (tmp_path / "sprung").exists()


def test_read_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf# A\r\ntext\r\n")
    (entry,) = list_files(tmp_path).files
    file = read_file(tmp_path, entry)
    assert isinstance(file, SourceFile)
    assert (file.path, file.text, file.size) == ("a.md", "# A\ntext\n", 14)
    assert file.mtime_ns == (tmp_path / "a.md").stat().st_mtime_ns
    assert file.blob_sha == _git(tmp_path, "hash-object", "--no-filters", "a.md")


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"a\0b", "binary"), (b" \n", "empty"), (bytes(range(128, 256)) * 8, "undecodable")],
)
def test_read_file_leaves_out(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.md").write_bytes(content)
    (entry,) = list_files(tmp_path).files
    assert read_file(tmp_path, entry) == LeftOut(path="a.md", reason=reason)  # type: ignore[arg-type]


def test_read_file_that_vanished_or_became_a_link(tmp_path: Path) -> None:
    _put(tmp_path, "a.md")
    _put(tmp_path, "b.md")
    (entry, _) = list_files(tmp_path).files
    (tmp_path / "a.md").unlink()
    assert read_file(tmp_path, entry) == LeftOut(path="a.md", reason="unreadable")
    (tmp_path / "a.md").symlink_to("b.md")
    assert read_file(tmp_path, entry) == LeftOut(path="a.md", reason="unreadable")


def test_changed_files(repository: Path) -> None:
    _put(repository, "src/app.py", "x = 2\n")
    _put(repository, "docs/new.md")
    (repository / "docs/guide.md").unlink()
    changes = changed_files(repository, "HEAD")
    assert [entry.path for entry in changes.upserted] == ["docs/new.md", "src/app.py"]
    assert changes.deleted == ("docs/guide.md",)
    below = changed_files(repository / "docs", "main")
    assert [entry.path for entry in below.upserted] == ["new.md"]
    assert below.deleted == ("guide.md",)


def test_changed_files_spans_commits(repository: Path) -> None:
    first = _git(repository, "rev-parse", "HEAD")
    _put(repository, "src/app.py", "x = 2\n")
    _git(repository, "mv", "docs/guide.md", "docs/manual.md")
    _git(repository, "commit", "-q", "-a", "-m", "second")
    assert changed_files(repository, "HEAD").upserted == ()
    changes = changed_files(repository, first)
    assert [entry.path for entry in changes.upserted] == ["docs/manual.md", "src/app.py"]
    assert changes.deleted == ("docs/guide.md",)


@pytest.mark.parametrize("revision", ["nowhere", "--help", "", "HEAD:README.md"])
def test_changed_files_of_an_unknown_revision(repository: Path, revision: str) -> None:
    with pytest.raises(SourceError) as error:
        changed_files(repository, revision)
    assert error.value.code == "revision_unknown"


def test_changed_files_needs_git(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as error:
        changed_files(tmp_path, "HEAD")
    assert error.value.code == "source_not_git"


def test_same_folder_same_listing(repository: Path) -> None:
    assert list_files(repository) == list_files(repository)
