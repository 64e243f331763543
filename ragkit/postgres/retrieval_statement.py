"""The search statement, composed from a closed table of fragments; values are always bound. Spec: POLICY §11."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import LiteralString

from pgvector import HalfVector
from psycopg import sql

from ragkit.policy.resolver import escape_like
from ragkit.postgres import statements
from ragkit.postgres.rows import RetrievalRequest, RowFilters
from ragkit.postgres.terms import idf_vector

SEED_ROWS_PER_FILE = 30
SEED_FILES = 5
"""Files that one missing hint may find by a part of its path."""


NO_LIMIT = 2**31 - 1
NOTHING = sql.SQL("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A composed statement and its values."""

    text: sql.Composed
    params: Mapping[str, object]


class RetrievalStatementBuilder:
    """Builds the statements of a retrieval; holds nothing."""

    def build_retrieve(self, request: RetrievalRequest) -> Statement:
        """Dense, lexical and named leg under the plan's hard filters: one round trip."""
        words = request.words
        return _compose(
            request,
            dense=statements.DENSE_LEG if request.vector is not None else None,
            lexical=statements.LEXICAL_LEG if words.finding else None,
            named=statements.NAMED_LEG if words.names or words.paths else None,
            filters=hard_filters(request.filters),
        )

    def build_exact_files(self, request: RetrievalRequest, paths: Iterable[str]) -> Statement:
        """Rows of the files with exactly these paths; ignores `path_prefixes`."""
        hints = list(paths)
        return self._seed(request, statements.EXACT_FILES, {"hints": hints})

    def build_path_substrings(self, request: RetrievalRequest, parts: Iterable[str]) -> Statement:
        """Rows of the files whose path holds one of these parts, without case; ignores `path_prefixes`."""
        hints = [f"%{escape_like(part.lower())}%" for part in parts]
        return self._seed(request, statements.PATH_SUBSTRINGS, {"hints": hints, "files_at_most": SEED_FILES})

    def build_neighbours(self, request: RetrievalRequest, nodes: Iterable[int], *, per_layer: int) -> Statement:
        """Rows that point to one of these nodes (hashed, the nearest first), under the plan's hard filters."""
        fewer = replace(request, layers={layer: min(per_layer, depth) for layer, depth in request.layers.items()})
        composed = _compose(
            fewer, dense=None, lexical=None, named=statements.GRAPH_LEG, filters=hard_filters(request.filters)
        )
        return Statement(text=composed.text, params={**composed.params, "nodes": list(nodes)})

    def build_probe(self, request: RetrievalRequest, files: Iterable[int]) -> Statement:
        """Every row of these files in the plan's layers, with its true place in each leg and which filters it passes.

        The legs are those of `build_retrieve` without their limits, so that a place here is the place there.
        """
        boundless = replace(request, layers=dict.fromkeys(request.layers, NO_LIMIT))
        words, names = request.words, hard_filters(request.filters)
        predicates = [_judged(name) for name in names]
        composed = _compose(
            boundless,
            dense=statements.DENSE_LEG if request.vector is not None else None,
            lexical=statements.LEXICAL_LEG if words.finding else None,
            named=statements.NAMED_LEG if words.names or words.paths else None,
            filters=names,
            pool=statements.PROBED,
            further=sql.SQL(statements.PASSES).format(predicates=sql.SQL(", ").join(predicates)),
        )
        return Statement(text=composed.text, params={**composed.params, "files": list(files)})

    def build_filtered_rows(self, request: RetrievalRequest) -> Statement:
        """How many rows each hard filter leaves: alone, and after those before it."""
        predicates = [_judged(name) for name in hard_filters(request.filters)]
        count = sql.SQL(statements.COUNT_WHERE)
        both = sql.SQL(" AND ")
        text = sql.SQL(statements.FILTERED_ROWS).format(
            alone=sql.SQL(", ").join([count.format(predicate=predicate) for predicate in predicates]),
            cumulative=sql.SQL(", ").join(
                [count.format(predicate=both.join(predicates[: n + 1])) for n in range(len(predicates))]
            ),
        )
        return Statement(text=text, params=_params(request))

    def build_predicates(self, request: RetrievalRequest) -> dict[str, Statement]:
        """Fragment of each filter that is a predicate → the predicate with its values; hard ones first."""
        filters = request.filters
        soft = {
            "prefer_path_prefixes": bool(filters.prefer_path_prefixes),
            "prefer_like_patterns": bool(filters.prefer_like_patterns),
            "prefer_non_tests": filters.prefer_non_tests,
        }
        params = _params(request)
        texts = [(name, sql.SQL(statements.HARD_FILTERS[name])) for name in hard_filters(filters)]
        texts += [(name, sql.SQL(statements.SOFT_FILTERS[name])) for name, present in soft.items() if present]
        return {name: Statement(text=sql.Composed([text]), params=params) for name, text in texts}

    @staticmethod
    def _seed(request: RetrievalRequest, leg: LiteralString, extra: Mapping[str, object]) -> Statement:
        filters = [name for name in hard_filters(request.filters) if name != "path_prefixes"]
        composed = _compose(request, dense=None, lexical=None, named=leg, filters=filters)
        return Statement(text=composed.text, params={**composed.params, **extra, "rows_per_file": SEED_ROWS_PER_FILE})


def _compose(
    request: RetrievalRequest,
    *,
    dense: LiteralString | None,
    lexical: LiteralString | None,
    named: LiteralString | None,
    filters: Iterable[str],
    pool: LiteralString = statements.POOL,
    further: sql.Composable = NOTHING,
) -> Statement:
    predicates = sql.SQL("").join(sql.SQL(" AND ") + sql.SQL(statements.HARD_FILTERS[name]) for name in filters)
    legs = [
        sql.SQL(dense or statements.NO_DENSE).format(filters=predicates),
        sql.SQL(lexical or statements.NO_LEXICAL).format(filters=predicates),
        sql.SQL(named or statements.NO_NAMED).format(filters=predicates),
    ]
    cosine = statements.COSINE if request.vector is not None else statements.NO_COSINE
    text = (
        sql.SQL("WITH ")
        + sql.SQL(", ").join([sql.SQL(statements.ASKED), *legs])
        + sql.SQL(pool)
        + sql.SQL(statements.CANDIDATES).format(cosine=sql.SQL(cosine), further=further)
    )
    return Statement(text=text, params=_params(request))


def _judged(name: str) -> sql.Composed:
    """A predicate that says no, too, of a row that lacks the column."""
    return sql.SQL("coalesce({}, false)").format(sql.SQL(statements.HARD_FILTERS[name]))


def hard_filters(filters: RowFilters) -> list[str]:
    """Names of the fragments that the filters need, in the order of the table."""
    needed = {
        "path_prefixes": filters.path_prefixes is not None,
        "exclude_path_prefixes": bool(filters.exclude_path_prefixes),
        "exclude_like_patterns": bool(filters.exclude_like_patterns),
        "metadata_domain": filters.metadata_domain is not None,
        "metadata_subdomain": filters.metadata_subdomain is not None,
        "language": bool(filters.language),
        "tests_excluded": filters.test_policy == "EXCLUDE",
        "tests_only": filters.test_policy == "ONLY",
    }
    return [name for name in statements.HARD_FILTERS if needed[name]]


def _params(request: RetrievalRequest) -> dict[str, object]:
    filters, words = request.filters, request.words
    return {
        "session": request.rag_session_id,
        "revision": request.revision,
        "layers": [layer.value for layer in request.layers],
        "depths": list(request.layers.values()),
        "vector": None if request.vector is None else HalfVector(request.vector),
        "idf": idf_vector(words.idf),
        "finding": list(words.finding),
        "names": list(words.names),
        "paths": list(words.paths),
        "nodes": [],
        "path_prefixes": _starting(filters.path_prefixes),
        "exclude_path_prefixes": _starting(filters.exclude_path_prefixes),
        "exclude_like_patterns": list(filters.exclude_like_patterns or ()),
        "metadata_domain": filters.metadata_domain,
        "metadata_subdomain": filters.metadata_subdomain,
        "language": list(filters.language or ()),
        "prefer_path_prefixes": _starting(filters.prefer_path_prefixes),
        "prefer_like_patterns": list(filters.prefer_like_patterns),
    }


def _starting(prefixes: Iterable[str] | None) -> list[str]:
    return [f"{escape_like(prefix.lower())}%" for prefix in prefixes or ()]
