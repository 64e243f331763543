"""The link part of one file, read from its extraction. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ragkit.document import Extraction, RagDocument
from ragkit.indexing.docs.words import RELATIONS
from ragkit.indexing.links.part import (
    CodePart,
    DocsPart,
    DocumentName,
    EntityName,
    ImportsPart,
    LinkPart,
    RelationAsk,
    SymbolName,
)
from ragkit.indexing.links.symbols import symbol_name
from ragkit.layers import Family, Layer

FILE_KNOWS = ("local", "builtin")
"""Resolutions of C2 that need no other file."""
REFERRING_FACTS = frozenset({"endpoint", "error_code", "attribute", "term", "definition", "state", "event", "table"})
"""Predicates of D2 whose name may be that of an entity, a document or an operation."""


def link_part(path: str, extraction: Extraction) -> LinkPart:
    """What other files may need of a file, and what it asks of them."""
    if extraction.family is Family.DOCS:
        return LinkPart(path=path, docs=_docs_part(extraction.rows))
    if any(row.attributes.get("lang") == "python" for row in extraction.rows):
        return LinkPart(path=path, code=_code_part(path, extraction))
    return LinkPart(path=path, imports=_imports_part(extraction.rows))


def handler_ref(row: RagDocument) -> str | None:
    """The dotted name of an entry point's handler where the file itself does not define it."""
    return cast("str | None", _payload(row).get("handler_ref"))


def router(row: RagDocument) -> str | None:
    """The router of a C3 row whose prefix other files may add to."""
    return cast("str | None", _payload(row).get("router")) if row.layer is Layer.C3_ENTRYPOINTS else None


def fact_name(row: RagDocument) -> str | None:
    """What a D2 row points to or is about, as a name that other files may define."""
    predicate = cast("str", row.attributes["predicate"])
    if predicate in RELATIONS or predicate == "links":
        return cast("str", row.attributes["object"])
    return row.title if predicate in REFERRING_FACTS else None


def relation_ask(row: RagDocument) -> RelationAsk:
    """Of a D5 row."""
    held = row.attributes
    return RelationAsk(
        edge_type=cast("str", held["edge_type"]),
        src=cast("str", held["src_id"]),
        ref=cast("str", held["dst_ref"]),
        dst=cast("str | None", held["dst_id"]),
        resolution=cast("str", held["resolution"]),
    )


def _code_part(path: str, extraction: Extraction) -> CodePart:
    symbols: dict[str, SymbolName] = {}
    imports: dict[str, str] = {}
    stars: list[str] = []
    bases: dict[str, list[str]] = {}
    imported: dict[str, None] = {}
    asks: dict[tuple[str, bool], None] = {}
    routers: dict[str, None] = {}
    for row in extraction.rows:
        if row.layer is Layer.C1_SYMBOL_CATALOG:
            symbols.setdefault(cast("str", row.attributes["qname"]), symbol_name(row))
        elif row.layer is Layer.C2_DEPENDENCY_GRAPH:
            _read_edge(row, path, imports, stars, bases, imported)
            if row.attributes["resolution"] not in FILE_KNOWS:
                asks[edge_ask(row)] = None
        elif row.layer is Layer.C3_ENTRYPOINTS:
            ref, named = handler_ref(row), router(row)
            if ref is not None:
                asks[(ref, True)] = None
            if named is not None:
                routers[named] = None
    return CodePart(
        symbols=symbols,
        imports=imports,
        stars=tuple(stars),
        bases={qname: tuple(refs) for qname, refs in bases.items()},
        imported=tuple(imported),
        mounts=extraction.mounts,
        asks=tuple(asks),
        routers=tuple(routers),
    )


def edge_ask(row: RagDocument) -> tuple[str, bool]:
    """Reference of a C2 row, and whether a name of the file itself may be meant."""
    ref = cast("str", row.attributes["dst_ref"])
    return ref, row.attributes["resolution"] == "unresolved" and "?" not in ref


def _read_edge(
    row: RagDocument,
    path: str,
    imports: dict[str, str],
    stars: list[str],
    bases: dict[str, list[str]],
    imported: dict[str, None],
) -> None:
    kind, ref = row.attributes["edge_type"], cast("str", row.attributes["dst_ref"])
    source = cast("str | None", row.attributes["src_symbol_id"])
    if kind == "imports":
        imported[ref] = None
        alias = _payload(row).get("alias")
        if source is None and alias == "*":
            stars.append(ref.removesuffix(".*"))
        elif source is None and isinstance(alias, str):
            is_name = row.attributes["callsite_kind"] == "from_import"
            imports[alias] = ref if is_name else _bound_module(ref, alias)
    elif kind == "inherits" and source is not None and row.attributes["callsite_kind"] == "base":
        bases.setdefault(source.removeprefix(f"{path}::"), []).append(ref)


def _bound_module(ref: str, alias: str) -> str:
    """What `import a.b.c` binds: `a`; with `as x` the whole."""
    return alias if ref.partition(".")[0] == alias else ref


def _imports_part(rows: Sequence[RagDocument]) -> ImportsPart | None:
    edges = [row for row in rows if row.layer is Layer.C2_DEPENDENCY_GRAPH and row.attributes["edge_type"] == "imports"]
    if not edges:
        return None
    refs = dict.fromkeys(cast("str", row.attributes["dst_ref"]) for row in edges)
    return ImportsPart(language=cast("str", edges[0].attributes["lang"]), refs=tuple(refs))


def _docs_part(rows: Sequence[RagDocument]) -> DocsPart:
    facts: dict[str, None] = {}
    documents: list[DocumentName] = []
    entities: list[EntityName] = []
    relations: dict[RelationAsk, None] = {}
    for row in rows:
        if row.layer is Layer.D1_DOCUMENT_CATALOG:
            module_id = cast("str | None", row.attributes["module_id"])
            names = tuple(name for name in row.names if name != module_id)
            documents.append(DocumentName(row.public_id, module_id, names))
        elif row.layer is Layer.D2_FACT_INDEX:
            name = fact_name(row)
            if name is not None:
                facts[name] = None
        elif row.layer is Layer.D3_ENTITY_CATALOG:
            entities.append(_entity(row))
        elif row.layer is Layer.D5_RELATION_GRAPH:
            relations[relation_ask(row)] = None
    return DocsPart(
        documents=tuple(documents), entities=tuple(entities), facts=tuple(facts), relations=tuple(relations)
    )


def _entity(row: RagDocument) -> EntityName:
    return EntityName(
        public_id=row.public_id,
        name=row.names[0],
        aliases=row.names[1:],
        confidence=cast("float", row.attributes["confidence"]),
        is_defined=bool(row.attributes["definition"]),
        line=row.line_start,
    )


def _payload(row: RagDocument) -> Mapping[str, object]:
    return cast("Mapping[str, object]", row.attributes["lang_payload"])
