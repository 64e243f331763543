"""One plan against one session: the plan's filters become the repository's. Spec: POLICY §11."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragkit.layers import Layer
from ragkit.policy.plan import PlanFilters, RetrievalPlan
from ragkit.policy.policy import Ranking
from ragkit.postgres.database import Connection
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import Candidate, RetrievalRequest, RowFilters, SessionRow
from ragkit.postgres.terms import TermHasher
from ragkit.retrieval.search_query import SearchQuery, weigh_words
from ragkit.retrieval.trace import WordView

NEIGHBOURS_PER_LAYER = 8
"""Rows that a graph step takes from a layer, the nearest to the query's words: a popular symbol has hundreds."""
POOL_AT_MOST = 200
"""Candidates of one leg over all layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSearch:
    """A plan made ready for one session at one revision."""

    connection: Connection
    session: SessionRow
    plan: RetrievalPlan
    request: RetrievalRequest
    idf_mass: float
    rows_in_layers: int
    words: tuple[WordView, ...]


class RagSessionRetriever:
    """Asks the repository what a plan says. Shared by threads."""

    def __init__(self, repository: RagRepository) -> None:
        self._repository = repository

    def prepare(
        self,
        connection: Connection,
        session: SessionRow,
        plan: RetrievalPlan,
        query: SearchQuery,
        ranking: Ranking,
        depths: Mapping[Layer, int],
    ) -> PlanSearch:
        """Weigh the query's words by what the plan's layers hold: one round trip."""
        hasher = TermHasher(session.rag_session_id, session.analysis_version or 0)
        terms = [hasher.word(word.term) for word in query.words]
        rows = self._repository.term_rows(connection, session, terms, plan.layers)
        words, mass, views = weigh_words(
            query,
            rows,
            hasher,
            plan=plan.profile,
            expansions=ranking.lexical.expansions,
            common_share=ranking.common_share,
        )
        request = RetrievalRequest(
            rag_session_id=session.rag_session_id,
            revision=session.revision,
            layers=layer_depths(plan, ranking, depths),
            vector=query.vector,
            words=words,
            filters=self._map_filters(plan.filters),
        )
        return PlanSearch(
            connection=connection,
            session=session,
            plan=plan,
            request=request,
            idf_mass=mass,
            rows_in_layers=rows.get(0, 0),
            words=views,
        )

    def retrieve(self, search: PlanSearch) -> list[Candidate]:
        """The semantic step: one round trip; by words and names alone where there is no vector."""
        if search.request.vector is None:
            return self._repository.fallback_chunks(search.connection, search.request)
        return self._repository.retrieve(search.connection, search.request)

    def retrieve_exact_files(self, search: PlanSearch, paths: Sequence[str]) -> list[Candidate]:
        """Rows of exactly these files, those of the plan's layers where the file has any."""
        found = self._repository.retrieve_exact_files(search.connection, search.request, paths)
        return _of_plan_layers(found, search.plan.layers)

    def retrieve_chunks_by_path_substrings(self, search: PlanSearch, parts: Sequence[str]) -> list[Candidate]:
        """Rows of files whose path holds one of the parts."""
        found = self._repository.retrieve_chunks_by_path_substrings(search.connection, search.request, parts)
        return _of_plan_layers(found, search.plan.layers)

    def retrieve_neighbours(self, search: PlanSearch, nodes: Sequence[str]) -> list[Candidate]:
        """Rows that point to these rows (public ids, the nearest first): a step along the graph."""
        marks = node_marks(search.session, nodes)
        return self._repository.retrieve_neighbours(
            search.connection, search.request, marks, per_layer=NEIGHBOURS_PER_LAYER
        )

    @staticmethod
    def _map_filters(filters: PlanFilters) -> RowFilters:
        """Spec: POLICY §11. `target_doc_hints` and `path_scope` are no filters: they seed and prefer."""
        return RowFilters(
            path_prefixes=filters.path_prefixes,
            exclude_path_prefixes=filters.exclude_path_prefixes,
            exclude_like_patterns=filters.exclude_like_patterns,
            metadata_domain=filters.metadata_domain,
            metadata_subdomain=filters.metadata_subdomain,
            language=filters.language,
            test_policy=filters.test_policy,
            prefer_path_prefixes=filters.prefer_path_prefixes or (),
            prefer_like_patterns=filters.prefer_like_patterns or (),
            prefer_non_tests=bool(filters.prefer_non_tests),
        )


def node_marks(session: SessionRow, nodes: Sequence[str]) -> list[int]:
    """Public ids as the session's inverted index holds them."""
    hasher = TermHasher(session.rag_session_id, session.analysis_version or 0)
    return [hasher.node(node) for node in nodes]


def layer_depths(plan: RetrievalPlan, ranking: Ranking, depths: Mapping[Layer, int]) -> dict[Layer, int]:
    """Layer → candidates a leg: `top_k` of the contract where it names the layer, else the policy's depth.

    Never fewer than the plan's limit, never more than `POOL_AT_MOST` over all layers.
    """
    share = max(1, POOL_AT_MOST // len(plan.layers))
    return {layer: min(share, max(plan.limit, depths.get(layer, ranking.depth))) for layer in plan.layers}


def _of_plan_layers(found: Sequence[Candidate], layers: Sequence[Layer]) -> list[Candidate]:
    covered = {candidate.file_id for candidate in found if candidate.layer in layers}
    return [c for c in found if c.layer in layers or c.file_id not in covered]
