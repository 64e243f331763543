"""Which files there are below a folder, and their text: the rim where indexing meets the disk.

What is on disk is indexed: in a git work tree the tracked and the untracked-not-ignored files, elsewhere every file
that no ignore file names. Each other file is left out with a reason that is counted. Spec: system.md §5.

Doors: `list_files` then `read_file` for a snapshot, `changed_files` for changes since a revision, `head_commit` for the
revision's name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ragkit.document import SourceFile
from ragkit.errors import SourceError
from ragkit.indexing import git
from ragkit.indexing.decoding import Undecoded, blob_sha, decode
from ragkit.indexing.exclusions import LEFT_OUT_REASONS, MAX_BYTES, LeftOutReason, reason_by_path, reason_by_text
from ragkit.indexing.ignore import IgnoreRules
from ragkit.indexing.kinds import kind_of

_GIT_IGNORE = ".gitignore"
_RAGKIT_IGNORE = ".ragkitignore"
_SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
    }
)
_MAX_IGNORE_BYTES = 1_000_000
_MAX_DEPTH = 100
"""Of folders: a deeper tree is a mistake, and its paths outgrow what the system opens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file that is worth reading."""

    path: str
    """Relative to the root, `/` between parts."""
    size: int
    """Bytes."""
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A file that is not indexed, and why."""

    path: str
    reason: LeftOutReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What stands below a root."""

    files: tuple[FileEntry, ...]
    """Sorted by path; may be empty."""
    left_out: Mapping[str, tuple[str, ...]]
    """Reason → paths, both sorted; only reasons that occur. Ignored files do not count: someone asked for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What to write and what to delete so that an index of a revision becomes one of the folder as it is."""

    upserted: tuple[FileEntry, ...]
    """Files whose bytes differ from the revision's, and files it does not have; sorted by path."""
    deleted: tuple[str, ...]
    """Paths that the revision has and the folder has no longer, or leaves out; sorted."""
    left_out: Mapping[str, tuple[str, ...]]
    """As in `Listing`, of the folder as it is."""


def list_files(root: Path) -> Listing:
    """The files below a root that are worth reading, and the others by reason.

    Symbolic links are never followed. Raises: SourceError (`source_missing`, `source_not_folder`).
    """
    folder = checked_folder(root)
    files: list[FileEntry] = []
    left_out: dict[LeftOutReason, list[str]] = {reason: [] for reason in LEFT_OUT_REASONS}
    real_folders = {"": True}
    for path in sorted(_paths(folder)):
        found = _look_at(folder, path, real_folders)
        if isinstance(found, FileEntry):
            files.append(found)
        elif found is not None:
            left_out[found.reason].append(found.path)
    return Listing(
        files=tuple(files),
        left_out=MappingProxyType({reason: tuple(paths) for reason, paths in sorted(left_out.items()) if paths}),
    )


def read_file(root: Path, entry: FileEntry) -> SourceFile | LeftOut:
    """The decoded text of a listed file, or why it has none: one that vanished or cannot be opened is `unreadable`."""
    content = _content(root / entry.path)
    if content is None:
        return LeftOut(path=entry.path, reason="unreadable")
    if len(content) > MAX_BYTES:
        return LeftOut(path=entry.path, reason="too_large")
    kind = kind_of(entry.path)
    text = decode(content, python=kind is not None and kind.language == "python")
    if isinstance(text, Undecoded):
        return LeftOut(path=entry.path, reason=text.reason)
    reason = reason_by_text(entry.path, text)
    if reason is not None:
        return LeftOut(path=entry.path, reason=reason)
    return SourceFile(
        path=entry.path, text=text, blob_sha=blob_sha(content), size=len(content), mtime_ns=entry.mtime_ns
    )


def changed_files(root: Path, revision: str) -> Changes:
    """What differs between a revision and the folder as it is, untracked files included.

    Told by the bytes on disk, so a file that a filter rewrites at checkout counts as changed.
    Raises: SourceError (`source_missing`, `source_not_folder`, `source_not_git`, `revision_unknown`).
    """
    folder = checked_folder(root)
    if not git.is_work_tree(folder):
        raise SourceError("source_not_git", path=str(root))
    commit = git.commit_of(folder, revision)
    if commit is None:
        raise SourceError("revision_unknown", revision=revision, path=str(root))
    before = git.tree_blobs(folder, commit)
    now = list_files(root)
    present = {entry.path for entry in now.files}
    return Changes(
        upserted=tuple(entry for entry in now.files if before.get(entry.path) != _blob_on_disk(folder, entry)),
        deleted=tuple(sorted(path for path in before if path not in present and reason_by_path(path) is None)),
        left_out=now.left_out,
    )


def head_commit(root: Path) -> str | None:
    """The commit that is checked out; None outside a git work tree and before the first commit."""
    return git.commit_of(root, "HEAD") if root.is_dir() and git.is_work_tree(root) else None


def checked_folder(root: Path) -> Path:
    """The folder, its links resolved.

    Raises: SourceError (`source_missing`, `source_not_folder`).
    """
    try:
        folder = root.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise SourceError("source_missing", path=str(root)) from error
    if not folder.is_dir():
        raise SourceError("source_not_folder", path=str(root))
    return folder


def _paths(folder: Path) -> Iterator[str]:
    if git.is_work_tree(folder):
        rules = IgnoreRules(lambda below: _rules(folder / below, (_RAGKIT_IGNORE,)))
        for path in _git_paths(folder, ""):
            if not rules.ignores_file(path):
                yield path
    else:
        rules = IgnoreRules(lambda below: _rules(folder / below, (_GIT_IGNORE, _RAGKIT_IGNORE)))
        yield from _walk(folder, rules)


def _git_paths(folder: Path, prefix: str, depth: int = 0) -> Iterator[str]:
    """Paths of a work tree and of the submodules and repositories inside it that are checked out."""
    for path in git.listed_paths(folder):
        if not path.endswith("/"):
            yield prefix + path
        elif depth < _MAX_DEPTH and _is_real_folder(folder / path) and (folder / path / ".git").exists():
            yield from _git_paths(folder / path, prefix + path, depth + 1)


def _walk(folder: Path, rules: IgnoreRules) -> Iterator[str]:
    """Paths of a plain folder, in no stated order; a folder that cannot be listed comes as a path of its own."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = list(os.scandir(folder / below))
        except OSError:
            yield below
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if not entry.is_dir(follow_symlinks=False):
                if not rules.ignores_file(path):
                    yield path
            elif _is_entered(entry, path) and not rules.ignores_folder(path):
                waiting.append(path)


def _is_entered(entry: os.DirEntry[str], path: str) -> bool:
    return (
        entry.name not in _SKIPPED_FOLDERS
        and path.count("/") < _MAX_DEPTH
        and not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
    )


def _look_at(folder: Path, path: str, real_folders: dict[str, bool]) -> FileEntry | LeftOut | None:
    """The entry of a path, why it is left out, or None when no file is there (tracked by git, deleted on disk or a
    folder by now).
    """
    if not _is_encodable(path):
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return LeftOut(path=shown, reason="undecodable")
    if not _is_below_real_folders(folder, path.rpartition("/")[0], real_folders):
        return LeftOut(path=path, reason="symlink")
    try:
        status = os.lstat(os.path.join(folder, path))
    except FileNotFoundError:
        return None
    except OSError:
        return LeftOut(path=path, reason="unreadable")
    if stat.S_ISDIR(status.st_mode) and os.access(os.path.join(folder, path), os.R_OK | os.X_OK):
        return None
    reason = _reason_by_status(path, status)
    if reason is not None:
        return LeftOut(path=path, reason=reason)
    return FileEntry(path=path, size=status.st_size, mtime_ns=status.st_mtime_ns)


def _is_below_real_folders(folder: Path, below: str, known: dict[str, bool]) -> bool:
    """Whether no folder on the way is a link: git goes on naming tracked files below a folder that became one."""
    if below not in known:
        above = below.rpartition("/")[0]
        known[below] = _is_below_real_folders(folder, above, known) and not os.path.islink(folder / below)
    return known[below]


def _reason_by_status(path: str, status: os.stat_result) -> LeftOutReason | None:
    if stat.S_ISLNK(status.st_mode):
        return "symlink"
    if stat.S_ISDIR(status.st_mode):
        return "unreadable"
    if not stat.S_ISREG(status.st_mode):
        return "unsupported"
    reason = reason_by_path(path)
    if reason is not None:
        return reason
    if status.st_size > MAX_BYTES:
        return "too_large"
    return "empty" if status.st_size == 0 else None


def _content(path: Path) -> bytes | None:
    """At most one byte more than `MAX_BYTES`; None when the path cannot be opened, or is a link or a pipe by now."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return stream.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        return None


def _blob_on_disk(folder: Path, entry: FileEntry) -> str | None:
    content = _content(folder / entry.path)
    return None if content is None else blob_sha(content)


def _rules(folder: Path, names: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for name in names:
        content = _content(folder / name)
        if content is not None and len(content) <= _MAX_IGNORE_BYTES:
            lines.extend(content.decode("utf-8", "replace").splitlines())
    return lines


def _is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_encodable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
