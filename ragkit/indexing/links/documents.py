"""Documents and entities of a session, and what a name or a link means among them. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from ragkit.indexing.links.entities import MergedEntity, folded
from ragkit.indexing.links.part import LinkPart, RelationAsk

_PAGE_ENDS = ("", ".md", ".mdx", ".rst", ".txt", "/index.md", "/README.md", "/_index.md", "/index.mdx", "/index.rst")
"""What a site's address leaves out of a file's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentNames:
    """Names of all documentation files of a session."""

    paths: frozenset[str]
    """Of all files, code included."""
    pages: Mapping[str, str | None]
    """End of a documentation path without its extension, two parts at least → path; None where several end so."""
    names: Mapping[str, Sequence[str]]
    """Folded name → public ids of the best kind of thing of that name: module id, entity, alias, title."""
    entities: Mapping[str, MergedEntity]

    def named(self, name: str) -> str | None:
        """The public id of what a name means, where it is one thing."""
        found = self.names.get(folded(name), ())
        return found[0] if len(found) == 1 else None

    def linked(self, ask: RelationAsk, path: str) -> tuple[str | None, str]:
        """Target and resolution of an edge of the file at `path`."""
        if ask.resolution == "entity" and ask.dst is not None:
            return self.entities[ask.dst].public_id if ask.dst in self.entities else ask.dst, "entity"
        if ask.resolution == "path" or ask.resolution == "unresolved: a page or folder, no file":
            found = self._page(ask, path)
            return (found, "path") if found else (None, "unresolved: no such file here")
        if ask.resolution.startswith("unresolved: a name"):
            found = self.named(ask.ref)
            if found is not None:
                return found, "entity" if found in self.entities else "document"
            several = len(self.names.get(folded(ask.ref), ()))
            return None, f"unresolved: {several} things of this name" if several else ask.resolution
        return ask.dst, ask.resolution

    def source(self, ask: RelationAsk, path: str) -> str:
        """The source of an edge, under its public id where it is a name that one thing has."""
        if ask.src == path:
            return path
        if ask.src in self.entities:
            return self.entities[ask.src].public_id
        return self.named(ask.src) or ask.src

    def _page(self, ask: RelationAsk, path: str) -> str | None:
        if ask.dst is not None and ask.dst in self.paths:
            return ask.dst
        link = unquote(ask.ref.partition("#")[0].partition("?")[0])
        joined = link.lstrip("/") if link.startswith("/") else posixpath.join(posixpath.dirname(path), link)
        plain = posixpath.normpath(joined) if joined else ""
        for end in _PAGE_ENDS:
            if plain + end in self.paths:
                return plain + end
        stem = _stem(plain)
        return self.pages.get(stem) if link.startswith("/") and "/" in stem else None


def document_names(
    parts: Iterable[LinkPart], entities: Mapping[str, MergedEntity], paths: frozenset[str]
) -> DocumentNames:
    """Of the parts of a session."""
    kinds: dict[str, tuple[int, dict[str, None]]] = {}

    def add(kind: int, name: str, public_id: str) -> None:
        best, ids = kinds.get(folded(name), (kind, {}))
        if kind < best:
            ids = {}
        if kind <= best:
            kinds[folded(name)] = (kind, {**ids, public_id: None})

    pages: dict[str, str | None] = {}
    for part in sorted(parts, key=lambda part: part.path):
        if part.docs is None:
            continue
        for end in _ends(_stem(part.path)):
            pages[end] = None if pages.get(end, part.path) != part.path else part.path
        for public_id, module_id, names in part.docs.documents:
            if module_id is not None:
                add(0, module_id, public_id)
            for name in names:
                add(3, name, public_id)
    for entity in {one.public_id: one for one in entities.values()}.values():
        add(1, entity.name, entity.public_id)
        for alias in entity.aliases:
            add(2, alias, entity.public_id)
    return DocumentNames(
        paths=paths,
        pages=pages,
        names={name: tuple(ids) for name, (_, ids) in kinds.items()},
        entities=entities,
    )


def _stem(path: str) -> str:
    return path[: -len(extension)] if (extension := posixpath.splitext(path)[1]) else path


def _ends(stem: str) -> Iterable[str]:
    parts = stem.split("/")
    return ("/".join(parts[start:]) for start in range(len(parts) - 1))
