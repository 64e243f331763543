"""What the rows of a session can be called by: the entries that the router's matcher is made of. Spec: system.md §2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from ragkit.document import RagDocument
from ragkit.layers import Layer
from ragkit.routing.catalog import CatalogEntry, CatalogKind

_NAMED_KINDS = frozenset({"class", "function", "method", "property", "constant", "type_alias"})
"""Symbols that people name; fields and module variables (`data`, `app`, `logger`) would match ordinary words."""


def catalog_entries(rows: Iterable[RagDocument]) -> tuple[CatalogEntry, ...]:
    """Entries of the rows, without repeats, in the order of the rows; each row's path becomes a `file` entry once.

    The target is the public id of what is named, or the value of a domain; `declared` is True for a domain or subdomain
    that the front matter says, not for one that a folder suggests. Rows of layers other than D0, D1, D3 and C1 add
    their file alone.
    """
    entries: dict[CatalogEntry, None] = {}
    for row in rows:
        entries[_entry("file", row.path.rpartition("/")[2], row.path, row)] = None
        for entry in _entries(row):
            entries[entry] = None
    return tuple(entries)


def _entries(row: RagDocument) -> Iterator[CatalogEntry]:
    if row.layer is Layer.D1_DOCUMENT_CATALOG:
        yield from _document(row)
    elif row.layer is Layer.D0_DOC_CHUNKS and row.names and ":L" not in row.public_id.rpartition("#")[2]:
        yield _entry("heading", row.names[-1], row.public_id, row)
    elif row.layer is Layer.D3_ENTITY_CATALOG:
        yield _entry("entity", row.names[0], row.public_id, row)
        for alias in row.names[1:]:
            yield _entry("alias", alias, row.public_id, row)
    elif row.layer is Layer.C1_SYMBOL_CATALOG and row.attributes["kind"] in _NAMED_KINDS:
        for name in dict.fromkeys((row.names[0], cast("str", row.attributes["qname"]))):
            yield _entry("symbol", name, row.public_id, row)


def _document(row: RagDocument) -> Iterator[CatalogEntry]:
    yield _entry("title", row.title, row.public_id, row)
    module_id = cast("str | None", row.attributes["module_id"])
    if module_id is not None:
        yield _entry("module_id", module_id, row.public_id, row)
    for alias in row.names[1:]:
        if alias != module_id:
            yield _entry("alias", alias, row.public_id, row)
    declared = cast("Sequence[str]", row.attributes.get("declared", ()))
    if row.domain is not None:
        yield _entry("domain", row.domain, row.domain, row, declared="domain" in declared)
    if row.subdomain is not None:
        yield _entry("subdomain", row.subdomain, row.subdomain, row, declared="subdomain" in declared)


def _entry(kind: CatalogKind, name: str, target: str, row: RagDocument, *, declared: bool = False) -> CatalogEntry:
    return CatalogEntry(kind=kind, name=name, target=target, source_path=row.path, declared=declared)
