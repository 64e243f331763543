"""All files of a session together: the answers to what each of them asks. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ragkit.indexing.links.documents import DocumentNames, document_names
from ragkit.indexing.links.entities import MENTIONS_AT_MOST, MergedEntity, merged_entities
from ragkit.indexing.links.imports import ImportedFiles, imported_files
from ragkit.indexing.links.part import CodePart, DocsPart, ImportsPart, LinkPart
from ragkit.indexing.links.routes import Prefix, RoutePrefixes, route_prefixes
from ragkit.indexing.links.symbols import SymbolNames, symbol_names


class SymbolAnswer(NamedTuple):
    """What a reference means."""

    public_id: str | None
    """None: a whole module."""
    path: str
    kind: str


class RelationAnswer(NamedTuple):
    """What the ends of an edge of documentation are."""

    src: str
    dst: str | None
    resolution: str


class EntityAnswer(NamedTuple):
    """What becomes of one description of an entity."""

    public_id: str
    """Of the entity's row; another one than the description's: the description is taken into that."""
    aliases: tuple[str, ...]
    documents: tuple[str, ...]
    mentions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLinks:
    """Answers to what one file asks; what the session does not have is missing."""

    symbols: Mapping[str, SymbolAnswer] = field(default_factory=dict[str, SymbolAnswer])
    """Reference, under `?` where a name of the file itself may be meant, → symbol or module."""
    routes: Mapping[str, Sequence[Prefix]] = field(default_factory=dict[str, Sequence[Prefix]])
    """Router → prefixes."""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name → public id."""
    relations: Mapping[str, RelationAnswer] = field(default_factory=dict[str, RelationAnswer])
    """`relation_key` → ends; of edges that need other files."""
    entities: Mapping[str, EntityAnswer] = field(default_factory=dict[str, EntityAnswer])
    """Public id of a description → its entity."""

    @property
    def digest(self) -> str:
        """Equal for equal answers; empty where there is none."""
        body = {name: value for name in self.__slots__ if (value := getattr(self, name))}
        if not body:
            return ""
        text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


NO_LINKS = FileLinks()


def symbol_key(ref: str, is_local: bool) -> str:
    """Of a reference in `FileLinks.symbols`."""
    return f"?{ref}" if is_local else ref


def relation_key(src: str, ref: str, resolution: str) -> str:
    """Of an edge in `FileLinks.relations`."""
    return "\0".join((src, ref, resolution))


class SessionLinks:
    """Names of all files of a session at one revision to be."""

    def __init__(self, parts: Callable[[], Iterable[LinkPart]], paths: frozenset[str]) -> None:
        """`parts` gives the parts of all files, in any order, as often as it is called; `paths` are their paths."""
        self._files: ImportedFiles = imported_files(paths)
        self._symbols: SymbolNames = symbol_names(parts())
        self._routes: RoutePrefixes = route_prefixes(parts(), self._symbols)
        self._entities: Mapping[str, MergedEntity] = merged_entities(parts())
        self._documents: DocumentNames = document_names(parts(), self._entities, paths)
        self._mentions = self._mentioned(parts())

    def of(self, part: LinkPart) -> FileLinks:
        """The answers to one file."""
        if part.code is not None:
            return self._code(part.path, part.code)
        if part.imports is not None:
            return self._imports(part.path, part.imports)
        return self._docs(part.path, part.docs) if part.docs is not None else NO_LINKS

    def _code(self, path: str, part: CodePart) -> FileLinks:
        symbols: dict[str, SymbolAnswer] = {}
        for ref, is_local in part.asks:
            found = self._symbols.resolve(ref.removesuffix(".*"))
            if found is None and is_local:
                found = self._symbols.resolve_in(path, ref)
            if found is not None:
                symbols[symbol_key(ref, is_local)] = SymbolAnswer(found.public_id, found.path, found.kind)
        routes = {router: prefixes for router in part.routers if (prefixes := self._routes.of(path, router))}
        return FileLinks(symbols=symbols, routes=routes)

    def _imports(self, path: str, part: ImportsPart) -> FileLinks:
        found = {ref: self._files.resolve(part.language, path, ref) for ref in part.refs}
        return FileLinks(
            symbols={ref: SymbolAnswer(None, target, "module") for ref, target in found.items() if target is not None}
        )

    def _docs(self, path: str, part: DocsPart) -> FileLinks:
        relations: dict[str, RelationAnswer] = {}
        for ask in part.relations:
            answer = RelationAnswer(self._documents.source(ask, path), *self._documents.linked(ask, path))
            if answer != (ask.src, ask.dst, ask.resolution):
                relations[relation_key(ask.src, ask.ref, ask.resolution)] = answer
        own = {document.public_id for document in part.documents}
        named = {name: self._documents.named(name) for name in part.facts}
        return FileLinks(
            facts={name: found for name, found in named.items() if found is not None and found not in own},
            relations=relations,
            entities={entity.public_id: self._entity(entity.public_id) for entity in part.entities},
        )

    def _entity(self, public_id: str) -> EntityAnswer:
        entity = self._entities[public_id]
        if entity.public_id != public_id:
            return EntityAnswer(entity.public_id, (), (), ())
        return EntityAnswer(public_id, entity.aliases, entity.documents, self._mentions.get(public_id, ()))

    def _mentioned(self, parts: Iterable[LinkPart]) -> Mapping[str, tuple[str, ...]]:
        """Public id of an entity → paths of the documents whose facts or edges name it and that do not describe it."""
        found: dict[str, dict[str, None]] = {}
        for part in sorted(parts, key=lambda part: part.path):
            if part.docs is None:
                continue
            targets = [self._documents.named(name) for name in part.docs.facts]
            for ask in part.docs.relations:
                targets += [self._documents.source(ask, part.path), self._documents.linked(ask, part.path)[0]]
            for target in targets:
                entity = self._entities.get(target) if target is not None else None
                if entity is not None and part.path not in entity.documents:
                    found.setdefault(entity.public_id, {})[part.path] = None
        return {public_id: tuple(paths)[:MENTIONS_AT_MOST] for public_id, paths in found.items()}
