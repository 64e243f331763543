"""A plan's filters and depths become the repository's. Spec: POLICY §11."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragkit import bundle
from ragkit.layers import Layer
from ragkit.policy.plan import PlanFilters, RetrievalPlan
from ragkit.postgres.rows import RowFilters
from ragkit.retrieval.session_retriever import POOL_AT_MOST, RagSessionRetriever, layer_depths

D0, D1 = Layer.D0_DOC_CHUNKS, Layer.D1_DOCUMENT_CATALOG
RANKING = bundle.policy("spec", Path("unused")).policy.ranking.docs


def test_every_filter_of_the_specification_is_passed_on() -> None:
    given = PlanFilters(
        target_doc_hints=("h",),
        metadata_domain="d",
        metadata_subdomain="s",
        path_prefixes=("p",),
        exclude_path_prefixes=("xp",),
        exclude_like_patterns=("xl",),
        prefer_path_prefixes=("pp",),
        prefer_like_patterns=("pl",),
        prefer_non_tests=True,
        path_scope=("scope",),
        language=("python",),
        test_policy="ONLY",
    )
    assert RagSessionRetriever._map_filters(given) == RowFilters(
        path_prefixes=("p",),
        exclude_path_prefixes=("xp",),
        exclude_like_patterns=("xl",),
        metadata_domain="d",
        metadata_subdomain="s",
        language=("python",),
        test_policy="ONLY",
        prefer_path_prefixes=("pp",),
        prefer_like_patterns=("pl",),
        prefer_non_tests=True,
    )


def test_hints_and_scope_hide_nothing() -> None:
    """Spec: POLICY §10, §12; system.md §2: seed and preference, not a hard filter."""
    given = PlanFilters(target_doc_hints=("docs/a.md",), path_scope=("src/a.py", "src/"))
    assert RagSessionRetriever._map_filters(given) == RowFilters()


def plan(limit: int, *layers: Layer) -> RetrievalPlan:
    return RetrievalPlan(profile="p", layers=layers, limit=limit, filters=PlanFilters())


@pytest.mark.parametrize(
    ("limit", "depths", "expected"),
    [
        (8, {D1: 15, D0: 40}, {D1: 15, D0: 40}),  # top_k of the contract
        (8, {}, {D1: 60, D0: 60}),  # else the policy's depth
        (20, {D1: 5}, {D1: 20, D0: 60}),  # never fewer than the limit
        (1000, {}, {D1: POOL_AT_MOST // 2, D0: POOL_AT_MOST // 2}),  # never more than the pool
    ],
)
def test_depths(limit: int, depths: dict[Layer, int], expected: dict[Layer, int]) -> None:
    assert layer_depths(plan(limit, D1, D0), RANKING, depths) == expected


def test_the_pool_of_a_leg_is_bounded() -> None:
    """Spec: system.md §1: at most 200 candidates a leg."""
    for layers in ((D0,), (D1, D0), tuple(Layer)):
        depths = layer_depths(plan(1000, *layers), RANKING, dict.fromkeys(layers, 1000))
        assert sum(depths.values()) <= 200
