"""`.gitignore` and `.ragkitignore` rules of a folder tree, asked path by path.

As git decides: the deepest file that has an opinion wins, the last matching line in it counts, and nothing below an
ignored folder can come back. Matching is `pathspec`'s; this module only knows where the rules stand.
"""

from __future__ import annotations

from collections.abc import Callable

import pathspec


class IgnoreRules:
    """Remembers the rules of each folder and the verdict on it; not shared by threads."""

    def __init__(self, read_rules: Callable[[str], list[str]]) -> None:
        """`read_rules` gives the lines of the ignore files in a folder (`""` is the root), none if there are none."""
        self._read_rules = read_rules
        self._specs: dict[str, pathspec.GitIgnoreSpec | None] = {}
        self._folders: dict[str, bool] = {"": False}

    def ignores_file(self, path: str) -> bool:
        """Whether a file, given relative to the root, is ignored itself or lies in an ignored folder."""
        folder = path.rpartition("/")[0]
        return self.ignores_folder(folder) or self._matched(path, folder)

    def ignores_folder(self, folder: str) -> bool:
        """Whether a folder, given relative to the root without a slash at the end, is ignored."""
        known = self._folders.get(folder)
        if known is None:
            above = folder.rpartition("/")[0]
            known = self.ignores_folder(above) or self._matched(f"{folder}/", above)
            self._folders[folder] = known
        return known

    def _matched(self, path: str, folder: str) -> bool:
        while True:
            spec = self._spec(folder)
            if spec is not None:
                verdict = spec.check_file(path[len(folder) + 1 :] if folder else path).include
                if verdict is not None:
                    return verdict
            if not folder:
                return False
            folder = folder.rpartition("/")[0]

    def _spec(self, folder: str) -> pathspec.GitIgnoreSpec | None:
        if folder not in self._specs:
            lines = self._read_rules(folder)
            self._specs[folder] = _spec_of(lines) if lines else None
        return self._specs[folder]


def _spec_of(lines: list[str]) -> pathspec.GitIgnoreSpec:
    """Rules from the lines that are valid; git skips the others too."""
    try:
        return pathspec.GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return pathspec.GitIgnoreSpec.from_lines([line for line in lines if _is_valid(line)])


def _is_valid(line: str) -> bool:
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
