"""`RouteResult`, the input of the policy resolver: which anchor feeds which field. Spec: POLICY §3; system.md §2.

The table in system.md §2 is this module, one function a field or two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.routing.anchors import Reading
from ragkit.routing.catalog import CatalogEntry, CatalogKind, CatalogMatch, CatalogMatcher
from ragkit.routing.contract import Anchor, Intent
from ragkit.routing.conversation import is_topic
from ragkit.routing.paths import PathFinder
from ragkit.routing.route import RouteAnchors, RouteIntent, RouteResult, Subintent
from ragkit.text import Analyzer

MAX_NAMES = 24
"""Of each list: a plan with hundreds of patterns helps nobody."""

ROUTE_INTENT: dict[Intent, RouteIntent] = {
    "CODE_QA": "CODE_QA",
    "DOCS_QA": "DOCS_QA",
    "GENERATE_DOCS_FROM_CODE": "GENERATE_DOCS_FROM_CODE",
    "PROJECT_MISC": "GENERAL_QA",
}

_ALIAS_KINDS: frozenset[CatalogKind] = frozenset({"title", "alias", "domain", "subdomain"})
_HINT_KINDS: frozenset[CatalogKind] = frozenset({"title", "module_id"})
_REFERENCE_KINDS: frozenset[CatalogKind] = frozenset({"title", "module_id", "heading", "alias"})
_METHOD = re.compile(r"^[A-Z]+\s+")


def route_result(
    intent: Intent,
    subintent: Subintent,
    reading: Reading,
    anchors: tuple[Anchor, ...],
    matches: tuple[CatalogMatch, ...],
    catalog: CatalogMatcher | None,
    *,
    paths: PathFinder,
    analyzer: Analyzer,
) -> RouteResult:
    """The route of a query. `anchors`: its own and the carried ones; `matches`: catalog names in it."""
    return RouteResult(
        intent=ROUTE_INTENT[intent],
        subintent=subintent,
        target_terms=_once(_left_over(reading, anchors, matches, analyzer)),
        anchors=RouteAnchors(
            entity_names=_once(_entities(matches, catalog)),
            file_names=_once(anchor.value for anchor in anchors if anchor.type == "FILE_PATH"),
            endpoint_paths=_once(_endpoint_paths(anchors)),
            target_doc_hints=_once(_hints(anchors, matches, catalog, paths)),
            matched_aliases=_once(entry.name for entry in _entries(matches) if entry.kind in _ALIAS_KINDS),
            process_domain=_declared(matches, "domain"),
            process_subdomain=_declared(matches, "subdomain"),
        ),
    )


def _entries(matches: tuple[CatalogMatch, ...]) -> Iterator[CatalogEntry]:
    for match in matches:
        yield from match.entries


def _entities(matches: tuple[CatalogMatch, ...], catalog: CatalogMatcher | None) -> Iterator[str]:
    """Entity names, and the names of entities that an alias stands for."""
    for entry in _entries(matches):
        if entry.kind == "entity":
            yield entry.name
        elif entry.kind == "alias" and catalog is not None:
            name = catalog.entity_name(entry.target)
            if name is not None:
                yield name


def _endpoint_paths(anchors: tuple[Anchor, ...]) -> Iterator[str]:
    for anchor in anchors:
        if anchor.type == "KEY_TERM" and is_topic(anchor):
            yield _METHOD.sub("", anchor.value)


def _hints(
    anchors: tuple[Anchor, ...], matches: tuple[CatalogMatch, ...], catalog: CatalogMatcher | None, paths: PathFinder
) -> Iterator[str]:
    """Paths of documents: of paths named, of documents named in words, of titles and module ids, in this order."""
    for anchor in anchors:
        if anchor.type == "FILE_PATH":
            yield from _document_paths(anchor.value, catalog, paths)
    if catalog is not None:
        for anchor in anchors:
            if anchor.type == "DOC_REF":
                named = catalog.named(anchor.value)
                yield from (entry.source_path for entry in named if entry.kind in _REFERENCE_KINDS)
                if (anchor.subtype or "").endswith("document"):
                    yield from catalog.paths_of(f"{anchor.value}.md")
    yield from (entry.source_path for entry in _entries(matches) if entry.kind in _HINT_KINDS)


def _document_paths(path: str, catalog: CatalogMatcher | None, paths: PathFinder) -> Iterator[str]:
    known = catalog.paths_of(path) if catalog is not None else ()
    if catalog is not None and known:
        yield from (found for found in known if catalog.is_document(found) or paths.is_document(found))
    elif paths.is_document(path):
        yield path.replace("\\", "/").removeprefix("./").lstrip("/")


def _declared(matches: tuple[CatalogMatch, ...], kind: CatalogKind) -> str | None:
    """The first value of that kind that front matter declares; one guessed from a folder would hide the right page."""
    for entry in _entries(matches):
        if entry.kind == kind and entry.declared:
            return entry.target.lower()
    return None


def _left_over(
    reading: Reading, anchors: tuple[Anchor, ...], matches: tuple[CatalogMatch, ...], analyzer: Analyzer
) -> Iterator[str]:
    """Content words outside anchors and catalog names, folded, by place."""
    covered = [(anchor.span.start, anchor.span.end) for anchor in anchors if is_topic(anchor)]
    covered.extend((match.start, match.end) for match in matches)
    covered.sort()
    at = 0
    reached = 0
    for token in reading.tokens:
        while at < len(covered) and covered[at][0] < token.end:
            reached = max(reached, covered[at][1])
            at += 1
        if token.start >= reached and len(token.text) > 1 and not analyzer.is_stop_word(token.terms[0]):
            yield token.text.casefold()


def _once(words: Iterator[str] | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))[:MAX_NAMES]
