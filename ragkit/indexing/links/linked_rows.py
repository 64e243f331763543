"""The answers of the link step written into the rows of a file. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from ragkit.document import Extraction, RagDocument
from ragkit.indexing.code.entry_mounts import join_route
from ragkit.indexing.links.offers import FILE_KNOWS, edge_ask, fact_name, handler_ref, link_part, relation_ask, router
from ragkit.indexing.links.routes import Prefix
from ragkit.indexing.links.session_links import FileLinks, SessionLinks, relation_key, symbol_key
from ragkit.layers import Layer

_DEFINITIONS = frozenset({"class", "function", "method", "property"})
_CALLED = frozenset({"class", "function", "method"})
LINKED_CONFIDENCE = 0.9
"""Of an edge whose target the session has, at least: what stood on a guess in its own file stands on names now."""


def linked_rows(rows: Sequence[RagDocument], links: FileLinks) -> tuple[RagDocument, ...]:
    """The rows in their order, with what the session knows of their references.

    C2: `dst_symbol_id` where the session has the target; an import of a whole module gets `dst_path` in `lang_payload`;
    a call of what turns out to be a class becomes `instantiates`, and the other way round; a read of what turns out to
    be no variable is left out. C3: the route with the prefixes that other files add, and the handler. D2: `object_ref`.
    D3: a description that another file gives better is left out there, its names and documents stand in the better one.
    D5: both ends. What the session does not have stays as the file says it.
    """
    linked = (_linked(row, links) for row in rows)
    return tuple(row for row in linked if row is not None)


def link_session(extractions: Mapping[str, Extraction]) -> dict[str, tuple[RagDocument, ...]]:
    """Path → linked rows, of files that are a whole session by themselves."""
    parts = [link_part(path, extraction) for path, extraction in extractions.items()]
    session = SessionLinks(lambda: parts, frozenset(extractions))
    return {part.path: linked_rows(extractions[part.path].rows, session.of(part)) for part in parts}


def _linked(row: RagDocument, links: FileLinks) -> RagDocument | None:
    match row.layer:
        case Layer.C2_DEPENDENCY_GRAPH:
            return _edge(row, links)
        case Layer.C3_ENTRYPOINTS:
            return _entry(row, links)
        case Layer.D2_FACT_INDEX:
            target = links.facts.get(fact_name(row) or "")
            return replace(row, attributes={**row.attributes, "object_ref": target}) if target else row
        case Layer.D3_ENTITY_CATALOG:
            return _entity(row, links)
        case Layer.D5_RELATION_GRAPH:
            return _relation(row, links)
        case _:
            return row


def _edge(row: RagDocument, links: FileLinks) -> RagDocument | None:
    attributes = row.attributes
    if attributes["resolution"] in FILE_KNOWS:
        return row
    found = links.symbols.get(symbol_key(*edge_ask(row)))
    if found is None:
        return row
    kind = cast("str", attributes["edge_type"])
    payload = dict(_payload(row))
    if found.public_id is None:
        if kind != "imports":
            return row
        return replace(row, attributes={**attributes, "lang_payload": {**payload, "dst_path": found.path}})
    if kind in ("reads_state", "writes_state") and found.kind in _DEFINITIONS:
        return None if kind == "reads_state" else row
    if kind in ("calls", "instantiates") and found.kind in _CALLED:
        kind = "instantiates" if found.kind == "class" else "calls"
    payload["confidence"] = max(LINKED_CONFIDENCE, cast("float", payload["confidence"]))
    linked = {"edge_type": kind, "dst_symbol_id": found.public_id, "resolution": "import", "lang_payload": payload}
    return replace(row, attributes={**attributes, **linked})


def _entry(row: RagDocument, links: FileLinks) -> RagDocument:
    ref, named = handler_ref(row), router(row)
    handler = links.symbols.get(symbol_key(ref, True)) if ref is not None else None
    if handler is not None and handler.public_id is not None:
        row = replace(row, attributes={**row.attributes, "handler_symbol_id": handler.public_id})
    prefixes = links.routes.get(named) if named is not None else None
    return _prefixed(row, prefixes) if prefixes else row


def _prefixed(row: RagDocument, prefixes: Sequence[Prefix]) -> RagDocument:
    payload = dict(_payload(row))
    payload.pop("prefixes_elsewhere", None)
    route = cast("str", row.attributes["route_or_command"])
    inner = route.removeprefix(cast("str", payload.get("router_prefix", "")))
    routes = [join_route(prefix.text, inner if prefix.replaces else route) for prefix in prefixes]
    if len(routes) > 1:
        payload["routes"] = routes
    methods = cast("Sequence[str]", row.attributes["http.methods"])
    label = f"{','.join(methods)} {routes[0]}".strip()
    return replace(
        row,
        title=label,
        context=row.context.replace(row.title, label, 1),
        names=tuple(name for route in routes for name in (*(f"{method} {route}" for method in methods), route)),
        attributes={**row.attributes, "route_or_command": routes[0], "lang_payload": payload},
    )


def _entity(row: RagDocument, links: FileLinks) -> RagDocument | None:
    found = links.entities.get(row.public_id)
    if found is None:
        return row
    if found.public_id != row.public_id:
        return None
    merged = {"aliases": list(found.aliases), "documents": list(found.documents), "mentions": list(found.mentions)}
    return replace(row, names=(row.names[0], *found.aliases), attributes={**row.attributes, **merged})


def _relation(row: RagDocument, links: FileLinks) -> RagDocument:
    ask = relation_ask(row)
    found = links.relations.get(relation_key(ask.src, ask.ref, ask.resolution))
    if found is None:
        return row
    ends = {"src_id": found.src, "dst_id": found.dst, "resolution": found.resolution}
    return replace(row, attributes={**row.attributes, **ends})


def _payload(row: RagDocument) -> Mapping[str, object]:
    return cast("Mapping[str, object]", row.attributes["lang_payload"])
