"""What git knows of a folder. Reading only, through the `git` program; without it every folder is a plain one.

The folder may come from a stranger, and a repository's own configuration can name programs to run. So no command here
looks at the content of the work tree (filters), shows a diff (external drivers) or uses a file-system monitor; which
files changed is told by hashing them, which costs 0.2 s for 10,000 files.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

logger = logging.getLogger(__name__)

_SAFE = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.hooksPath=",
    "-c",
    "safe.directory=*",
)
_TIMEOUT_S = 120
_STAGED = re.compile(rb"(\d{6}) [0-9a-f]{40,64} \d\t")
_SUBMODULE = b"160000"


def is_work_tree(folder: Path) -> bool:
    """Whether a folder lies in a git work tree that does not ignore it."""
    if _run(folder, "rev-parse", "--is-inside-work-tree") != b"true\n":
        return False
    is_root = _run(folder, "rev-parse", "--show-prefix") == b"\n"
    return is_root or _run(folder, "check-ignore", "--quiet", ".") is None


def listed_paths(folder: Path) -> list[str]:
    """Tracked and untracked-not-ignored paths below a folder, relative to it, sorted, no duplicates.

    A path may be gone from disk. One that ends with a slash is a submodule or a repository of its own. Undecodable
    bytes of a name come as surrogates.
    """
    output = _run(folder, "ls-files", "--cached", "--others", "--exclude-standard", "--stage", "-z") or b""
    return sorted({_listed(record) for record in output.split(b"\0") if record})


def _listed(record: bytes) -> str:
    """The path of a record; tracked ones have mode, blob and stage before it."""
    staged = _STAGED.match(record)
    if staged is None:
        return os.fsdecode(record)
    path = os.fsdecode(record[staged.end() :])
    return f"{path}/" if staged[1] == _SUBMODULE else path


def commit_of(folder: Path, revision: str) -> str | None:
    """The full id of the commit that a revision names; None when it names none."""
    output = _run(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return None if output is None else output.decode("ascii").strip()


def tree_blobs(folder: Path, commit: str) -> Mapping[str, str]:
    """Path relative to the folder → blob id, for every file below the folder in a commit; links and submodules too."""
    output = _run(folder, "ls-tree", "-r", "-z", commit) or b""
    blobs: dict[str, str] = {}
    for record in output.split(b"\0"):
        head, tab, path = record.partition(b"\t")
        if tab:
            blobs[os.fsdecode(path)] = head.split(b" ")[2].decode("ascii")
    return blobs


def _run(folder: Path, *arguments: str) -> bytes | None:
    """What a git command prints; None when it fails or there is no git."""
    # GIT_DIR and its kind, set while a hook runs, would point git at another repository than the folder's.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        logger.info("git %s did not run: %s", arguments[0], type(error).__name__)
        return None
    if done.returncode != 0:
        logger.debug("git %s exited with %s", arguments[0], done.returncode)
        return None
    return done.stdout
