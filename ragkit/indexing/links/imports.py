"""Which file an import of a language other than Python means. Pure, over paths alone.

JavaScript, TypeScript and C say where the file lies, seen from the importing one; Java's packages and Rust's modules
are folders; Go names folders, which are no file. What could be two files is none.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

_SCRIPT_ENDS = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".json")
_SCRIPT_INDEX = ("/index.ts", "/index.tsx", "/index.js", "/index.jsx", "/index.mjs")


@dataclass(frozen=True, slots=True)
class ImportedFiles:
    """Paths of all files of a session, by name."""

    paths: frozenset[str]
    by_name: Mapping[str, tuple[str, ...]]
    """Last segment → paths, sorted."""

    def resolve(self, language: str, path: str, ref: str) -> str | None:
        """The path of the file that `ref` means in the file at `path`."""
        candidates = _CANDIDATES.get(language)
        if candidates is None:
            return None
        for candidate in candidates(path, ref):
            found = self._one(candidate)
            if found is not None and found != path:
                return found
        return None

    def _one(self, candidate: str) -> str | None:
        """A path as it is, or, after `*/`, the only one that ends so."""
        if not candidate.startswith("*/"):
            return candidate if candidate in self.paths else None
        end = candidate[1:]
        named = self.by_name.get(end.rpartition("/")[2], ())
        found = [path for path in named if f"/{path}".endswith(end)]
        return found[0] if len(found) == 1 else None


def imported_files(paths: Iterable[str]) -> ImportedFiles:
    """Of the paths of a session."""
    by_name: dict[str, list[str]] = {}
    ordered = sorted(paths)
    for path in ordered:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    return ImportedFiles(frozenset(ordered), {name: tuple(found) for name, found in by_name.items()})


def _beside(path: str, ref: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), ref))


def _script(path: str, ref: str) -> Iterator[str]:
    if not ref.startswith("."):
        return
    target = _beside(path, ref)
    yield from (target + end for end in _SCRIPT_ENDS)
    stem, extension = posixpath.splitext(target)
    if extension in (".js", ".jsx", ".mjs"):  # TypeScript writes the name of what it compiles to
        yield from (stem + end for end in (".ts", ".tsx", ".mts"))
    yield from (target + end for end in _SCRIPT_INDEX)


def _include(path: str, ref: str) -> Iterator[str]:
    yield _beside(path, ref)
    yield f"*/{posixpath.normpath(ref)}"


def _java(path: str, ref: str) -> Iterator[str]:
    parts = ref.split(".")
    yield f"*/{'/'.join(parts)}.java"
    if len(parts) > 2:  # a static import, or a class inside one
        yield f"*/{'/'.join(parts[:-1])}.java"


def _rust(path: str, ref: str) -> Iterator[str]:
    head, *rest = ref.split(".")
    folder = posixpath.dirname(path)
    inside = folder if posixpath.basename(path) in ("mod.rs", "lib.rs", "main.rs") else posixpath.splitext(path)[0]
    if head == "crate":
        before, found, _ = f"/{folder}/".rpartition("/src/")
        root = f"{before}{found}".strip("/") if found else folder
    elif head == "super":
        root = posixpath.dirname(inside)
    elif head == "self":
        root = inside
    else:
        root, rest = inside, [head, *rest]
    for end in range(len(rest), max(0, len(rest) - 2), -1):
        target = posixpath.join(root, *rest[:end])
        yield from (f"{target}.rs", f"{target}/mod.rs")


_CANDIDATES: Mapping[str, Callable[[str, str], Iterator[str]]] = {
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
    "c": _include,
    "cpp": _include,
    "java": _java,
    "rust": _rust,
}
"""Language → paths that an import may mean, the likeliest first; `*/` stands for any folders."""
