"""What one file gives to the link step: names that it offers, references that it asks about. Plain data, small."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, cast

from ragkit.document import Mount


class SymbolName(NamedTuple):
    """A symbol as other files see it."""

    kind: str
    typed: str | None = None
    """Name of the class that a function returns or a variable is annotated with."""
    alias: str | None = None
    """Dotted name that a variable is bound to, or to a call of."""
    made: str | None = None
    """Name of the class that calling it gives, where it is a `Callable[…]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePart:
    """Of a Python file."""

    symbols: Mapping[str, SymbolName] = field(default_factory=dict[str, SymbolName])
    """Qualified name → the first symbol of that name."""
    imports: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name → what a module-level import binds it to."""
    stars: tuple[str, ...] = ()
    """Modules whose names the file takes over."""
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Qualified name of a class → references of its bases, in order."""
    imported: tuple[str, ...] = ()
    """References of all imports."""
    mounts: tuple[Mount, ...] = ()
    asks: tuple[tuple[str, bool], ...] = ()
    """References of edges and handlers, and whether a name of the file itself may be meant."""
    routers: tuple[str, ...] = ()
    """Routers of the file whose prefixes other files may add; empty text: the routes of the module."""


class DocumentName(NamedTuple):
    """A document, or an operation of an OpenAPI file, as other files see it."""

    public_id: str
    module_id: str | None
    names: tuple[str, ...]
    """Title, then aliases."""


class EntityName(NamedTuple):
    """An entity as one file describes it."""

    public_id: str
    name: str
    aliases: tuple[str, ...]
    confidence: float
    is_defined: bool
    line: int


class RelationAsk(NamedTuple):
    """An edge of documentation whose ends other files may know."""

    edge_type: str
    src: str
    ref: str
    dst: str | None
    resolution: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsPart:
    """Of a documentation file."""

    documents: tuple[DocumentName, ...] = ()
    entities: tuple[EntityName, ...] = ()
    facts: tuple[str, ...] = ()
    """Names that its facts are about or point to."""
    relations: tuple[RelationAsk, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportsPart:
    """Of a source file of a language other than Python."""

    language: str
    refs: tuple[str, ...] = ()
    """What it imports, as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPart:
    """Of one file; a pure function of its extraction. One of `code`, `docs` and `imports` at most is there."""

    path: str
    code: CodePart | None = None
    docs: DocsPart | None = None
    imports: ImportsPart | None = None


def part_to_bytes(part: LinkPart) -> bytes:
    """UTF-8 JSON without empty fields, the same bytes for equal parts."""
    halves = (("code", part.code), ("docs", part.docs), ("imports", part.imports))
    body = {name: _filled(asdict(half)) for name, half in halves if half}
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def part_from_bytes(path: str, content: bytes) -> LinkPart:
    """What `part_to_bytes` wrote; empty bytes are a part that offers and asks nothing."""
    body = cast("dict[str, dict[str, Any]]", json.loads(content.decode("utf-8", "surrogatepass"))) if content else {}
    code, docs, imports = body.get("code"), body.get("docs"), body.get("imports")
    return LinkPart(
        path=path,
        code=None if code is None else _code(code),
        docs=None if docs is None else _docs(docs),
        imports=None
        if imports is None
        else ImportsPart(language=imports["language"], refs=tuple(imports.get("refs", ()))),
    )


def _filled(body: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in body.items() if value}


def _code(body: Mapping[str, Any]) -> CodePart:
    return CodePart(
        symbols={qname: SymbolName(*symbol) for qname, symbol in body.get("symbols", {}).items()},
        imports=body.get("imports", {}),
        stars=tuple(body.get("stars", ())),
        bases={qname: tuple(refs) for qname, refs in body.get("bases", {}).items()},
        imported=tuple(body.get("imported", ())),
        mounts=tuple(Mount(*mount) for mount in body.get("mounts", ())),
        asks=tuple((ref, bool(is_local)) for ref, is_local in body.get("asks", ())),
        routers=tuple(body.get("routers", ())),
    )


def _docs(body: Mapping[str, Any]) -> DocsPart:
    return DocsPart(
        documents=tuple(DocumentName(i, module, tuple(names)) for i, module, names in body.get("documents", ())),
        entities=tuple(
            EntityName(public_id, name, tuple(aliases), confidence, is_defined, line)
            for public_id, name, aliases, confidence, is_defined, line in body.get("entities", ())
        ),
        facts=tuple(body.get("facts", ())),
        relations=tuple(RelationAsk(*relation) for relation in body.get("relations", ())),
    )
