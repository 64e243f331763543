"""The search statement: its text depends on which filters there are, never on a value."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.layers import Layer
from ragkit.postgres.retrieval_statement import RetrievalStatementBuilder, Statement
from ragkit.postgres.rows import RetrievalRequest, RowFilters, SearchWords
from ragkit.postgres.statements import HARD_FILTERS

HOSTILE = "'; DROP TABLE rag_session; -- %s %(x)s {} \\ _ % \" $1"
BUILDER = RetrievalStatementBuilder()


def request(filters: RowFilters | None = None, **changes: Any) -> RetrievalRequest:
    plain = RetrievalRequest(
        rag_session_id="s-1",
        revision=1,
        layers={Layer.D0_DOC_CHUNKS: 10},
        vector=np.ones(3, dtype=np.float32),
        words=SearchWords(idf={1: 1.0}, finding=(1,), names=(2,), paths=(3,)),
        filters=filters or RowFilters(),
    )
    return replace(plain, **changes)


def all_filters(value: str, test_policy: str = "EXCLUDE") -> RowFilters:
    return RowFilters(
        path_prefixes=(value,),
        exclude_path_prefixes=(value,),
        exclude_like_patterns=(value,),
        metadata_domain=value,
        metadata_subdomain=value,
        language=(value,),
        test_policy=test_policy,
        prefer_path_prefixes=(value,),
        prefer_like_patterns=(value,),
        prefer_non_tests=True,
    )


def text_of(statement: Statement) -> str:
    return statement.text.as_string(None)


@given(value=st.text(), other=st.text())
def test_values_never_reach_the_text(value: str, other: str) -> None:
    one = BUILDER.build_retrieve(
        request(all_filters(value), rag_session_id=value, words=SearchWords(idf={}, finding=(9,), names=(8,)))
    )
    two = BUILDER.build_retrieve(
        request(all_filters(other), rag_session_id=other, words=SearchWords(idf={}, finding=(7,), names=(6,)))
    )
    assert text_of(one) == text_of(two)


@pytest.mark.parametrize("build", ["build_exact_files", "build_path_substrings"])
def test_paths_never_reach_the_text(build: str) -> None:
    one = getattr(BUILDER, build)(request(), [HOSTILE])
    two = getattr(BUILDER, build)(request(), ["a", "b"])
    assert text_of(one) == text_of(two)
    assert HOSTILE not in text_of(one)


def test_prefixes_are_lowered_and_escaped() -> None:
    params = BUILDER.build_retrieve(request(RowFilters(path_prefixes=("Docs/a_b%/",)))).params
    assert params["path_prefixes"] == [r"docs/a\_b\%/%"]


def test_patterns_are_passed_as_the_collector_made_them() -> None:
    """The collector escapes (system.md §3); here they must not be escaped again."""
    params = BUILDER.build_retrieve(request(RowFilters(prefer_like_patterns=(r"%a\_b%",)))).params
    assert params["prefer_like_patterns"] == [r"%a\_b%"]


def test_substrings_are_lowered_and_escaped() -> None:
    params = BUILDER.build_path_substrings(request(), ["Read_Me"]).params
    assert params["hints"] == [r"%read\_me%"]


@pytest.mark.parametrize(
    ("filters", "fragment"),
    [
        (RowFilters(path_prefixes=("docs/",)), "path_prefixes"),
        (RowFilters(path_prefixes=()), "path_prefixes"),
        (RowFilters(exclude_path_prefixes=("x/",)), "exclude_path_prefixes"),
        (RowFilters(exclude_like_patterns=("%x%",)), "exclude_like_patterns"),
        (RowFilters(metadata_domain="billing"), "metadata_domain"),
        (RowFilters(metadata_subdomain="refunds"), "metadata_subdomain"),
        (RowFilters(language=("python",)), "language"),
        (RowFilters(test_policy="EXCLUDE"), "tests_excluded"),
        (RowFilters(test_policy="ONLY"), "tests_only"),
    ],
)
def test_each_hard_filter_stands_in_every_leg(filters: RowFilters, fragment: str) -> None:
    text = text_of(BUILDER.build_retrieve(request(filters)))
    assert text.count(f" AND {HARD_FILTERS[fragment]}") == 3  # dense, lexical, named
    for name, other in HARD_FILTERS.items():
        if name not in (fragment, "tests_only") and other not in HARD_FILTERS[fragment]:
            assert f" AND {other}" not in text


def test_soft_filters_hide_nothing() -> None:
    filters = RowFilters(prefer_path_prefixes=("docs/",), prefer_like_patterns=("%x%",), prefer_non_tests=True)
    assert text_of(BUILDER.build_retrieve(request(filters))) == text_of(BUILDER.build_retrieve(request()))
    included = RowFilters(test_policy="INCLUDE")
    assert text_of(BUILDER.build_retrieve(request(included))) == text_of(BUILDER.build_retrieve(request()))


@pytest.mark.parametrize("build", ["build_exact_files", "build_path_substrings"])
def test_seeds_ignore_path_prefixes_alone(build: str) -> None:
    """Spec: system.md §6: seeds ignore `path_prefixes`, never the session."""
    text = text_of(getattr(BUILDER, build)(request(all_filters("x")), ["a"]))
    assert HARD_FILTERS["path_prefixes"] not in text.replace(HARD_FILTERS["exclude_path_prefixes"], "")
    for name in ("exclude_path_prefixes", "exclude_like_patterns", "metadata_domain", "metadata_subdomain", "language"):
        assert HARD_FILTERS[name] in text
    assert "rag_session_id = %(session)s" in text


def test_every_filter_field_has_its_fragment() -> None:
    """Each field of RowFilters hides by a fragment of the closed table or is a preference."""
    soft = {"prefer_path_prefixes", "prefer_like_patterns", "prefer_non_tests"}
    hard = set(HARD_FILTERS) - {"tests_excluded", "tests_only"} | {"test_policy"}
    assert {field.name for field in fields(RowFilters)} == hard | soft


def test_without_a_vector_there_is_no_dense_leg() -> None:
    text = text_of(BUILDER.build_retrieve(request(vector=None)))
    assert "r.embedding" not in text
    assert "NULL::float8 AS cosine" in text
    assert "%(vector)s" not in text
