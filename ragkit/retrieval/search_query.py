"""A routed query as retrieval reads it: vector, words, names and paths. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragkit.document import Vectors
from ragkit.postgres.rows import SearchWords
from ragkit.postgres.terms import ALL_ROWS, TermHasher, idf
from ragkit.retrieval.trace import WordView
from ragkit.routing.contract import RouterContract
from ragkit.routing.route import RouteResult
from ragkit.text import Analyzer

LINE_SUFFIX = re.compile(r":\d+(?:[-:]\d+)?$")
FINDING_AT_LEAST = 3
"""So many of the rarest words find rows even where all words are common."""
MAX_WORDS = 256
"""Distinct words of a query that count, the first ones; a pasted log has thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWord:
    """One term of the query and where it comes from."""

    word: str
    term: str
    origin: str
    is_stop: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """Everything that is known of a query before a plan and a session meet it."""

    text: str
    """`query_plan.normalized`: what was embedded."""
    language: str
    vector: Vectors | None
    words: tuple[QueryWord, ...]
    names: tuple[str, ...]
    paths: tuple[str, ...]


def search_query(
    contract: RouterContract, route: RouteResult, analyzer: Analyzer, vector: Vectors | None
) -> SearchQuery:
    """The query's side of a search."""
    plan = contract.query_plan
    return SearchQuery(
        text=plan.normalized,
        language=query_language(contract, analyzer),
        vector=vector,
        words=_words(plan.normalized, (*plan.keyword_hints, *plan.expansions), analyzer),
        names=_names(contract, route),
        paths=_paths(contract),
    )


def query_language(contract: RouterContract, analyzer: Analyzer) -> str:
    """ru, en or mixed, by the words that are no names: an endpoint or symbol is in no language, alone it is mixed."""
    plan = contract.query_plan
    words = list(plan.raw)
    for anchor in plan.anchors:
        if anchor.type != "KEY_TERM" or "endpoint" in (anchor.subtype or ""):
            words[anchor.span.start : anchor.span.end] = " " * (anchor.span.end - anchor.span.start)
    left = "".join(words)
    return analyzer.language(left) if any(char.isalpha() for char in left) else "mixed"


def weigh_words(
    query: SearchQuery,
    rows: Mapping[int, int],
    hasher: TermHasher,
    *,
    plan: str,
    expansions: float,
    common_share: float,
) -> tuple[SearchWords, float, tuple[WordView, ...]]:
    """Words against the layers of one plan: weights and what may find; the IDF mass; and the view for people.

    `rows`: hashed word → rows that hold it, and under `ALL_ROWS` how many there are. The mass is that of the query's
    own words, absent ones included: a row that holds all of them has a share of about 1.
    """
    total = rows.get(ALL_ROWS, 0)
    weighed = [(word, hasher.word(word.term), rows.get(hasher.word(word.term), 0)) for word in query.words]
    only_stops = all(word.is_stop for word, _, _ in weighed)
    counted = [item for item in weighed if only_stops or not item[0].is_stop]
    weights = {
        term: idf(found, total) * (1.0 if word.origin == "query" else expansions) for word, term, found in counted
    }
    mass = sum(weights[term] for word, term, _ in counted if word.origin == "query")
    present = sorted((found, term) for _, term, found in counted if found)
    finding = {
        term for place, (found, term) in enumerate(present) if place < FINDING_AT_LEAST or found <= common_share * total
    }
    views = tuple(
        WordView(
            plan=plan,
            word=word.word,
            term=word.term,
            origin=word.origin,
            rows=found,
            weight=round(weights.get(term, 0.0), 6),
            use=_use(term, found, weights, finding),
        )
        for word, term, found in weighed
    )
    words = SearchWords(
        idf={term: weight for term, weight in weights.items() if weight > 0},
        finding=tuple(sorted(finding)),
        names=tuple(sorted({hasher.name(name) for name in query.names})),
        paths=tuple(sorted({hasher.path_suffix(path) for path in query.paths})),
    )
    return words, mass, views


def matched_forms(text: str, query: SearchQuery, analyzer: Analyzer) -> tuple[str, ...]:
    """Lower-case forms in a text that share a term with the query's words, sorted."""
    wanted = {word.term for word in query.words if not word.is_stop}
    return tuple(sorted({token.text.lower() for token in analyzer.tokens(text) if not wanted.isdisjoint(token.terms)}))


def _use(term: int, found: int, weights: Mapping[int, float], finding: set[int]) -> str:
    if term not in weights:
        return "stop"
    if not found:
        return "absent"
    return "finds" if term in finding else "scores"


def _words(text: str, added: Iterable[str], analyzer: Analyzer) -> tuple[QueryWord, ...]:
    found: dict[str, QueryWord] = {}
    for origin, source in (("query", text), *(("expansion", item) for item in added)):
        for token in analyzer.tokens(source):
            for term in token.terms:
                if term not in found and len(found) < MAX_WORDS:
                    stop = analyzer.is_stop_word(term)
                    found[term] = QueryWord(word=token.text, term=term, origin=origin, is_stop=stop)
    return tuple(found.values())


def _names(contract: RouterContract, route: RouteResult) -> tuple[str, ...]:
    """Symbols as written and by their last part; endpoints as headings write them; titles, entities, sections."""
    symbols = [a.value.removesuffix("()") for a in contract.query_plan.anchors if a.type == "SYMBOL"]
    sections = [a.value for a in contract.query_plan.anchors if a.type == "DOC_REF"]
    endpoints = [a.value for a in contract.query_plan.anchors if "endpoint" in (a.subtype or "")]
    last = [symbol.rpartition(".")[2] for symbol in symbols]
    domains = {route.anchors.process_domain, route.anchors.process_subdomain}  # words that filter, and name no row
    titles = [alias for alias in route.anchors.matched_aliases if alias.lower() not in domains]
    named = (*symbols, *last, *endpoints, *sections, *route.anchors.entity_names, *titles)
    return tuple(dict.fromkeys(name for name in named if name))


def _paths(contract: RouterContract) -> tuple[str, ...]:
    """Files that the query names, as suffixes of whole segments; a folder alone names no file."""
    cleaned = (
        posixpath.normpath(LINE_SUFFIX.sub("", anchor.value).replace("\\", "/")).lstrip("./")
        for anchor in contract.query_plan.anchors
        if anchor.type == "FILE_PATH"
    )
    return tuple(dict.fromkeys(path for path in cleaned if path))
