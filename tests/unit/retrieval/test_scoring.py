"""Scores are sums of named parts in a total order. Values are worked by hand from the rules of system.md §6."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit import bundle
from ragkit.layers import Layer
from ragkit.policy.policy import LexicalWeights, PartWeights, Ranking
from ragkit.postgres.rows import Candidate
from ragkit.retrieval.scoring import (
    ScoringContext,
    Seed,
    key_of,
    lexical_weight,
    merge_duplicates,
    outranked_reason,
    rank,
)

D0, D1 = Layer.D0_DOC_CHUNKS, Layer.D1_DOCUMENT_CATALOG
LEXICAL = LexicalWeights(same=0.6, cross=0.2, code_en=1.5, code_ru=1.0, expansions=0.3)
PARTS = PartWeights(
    path=0.3,
    definition=0.05,
    prefer_path=0.02,
    prefer_like=0.04,
    layer=0.01,
    non_tests=0.1,
    seed=3.0,
    repeat=0.0,
)
RANKING = Ranking(dense=1.0, lexical=LEXICAL, parts=PARTS, depth=60, common_share=0.25, seed_rows=2)


def candidate(file_id: int = 1, row_no: int = 0, **changes: Any) -> Candidate:
    plain = Candidate(
        file_id=file_id,
        row_no=row_no,
        layer=D0,
        path=f"docs/{file_id}.md",
        domain=None,
        lang="en",
        is_test=False,
        line_start=row_no + 1,
        line_end=row_no + 1,
        content_hash=file_id * 1000 + row_no,
        cosine=None,
        bm25=0.0,
        dense_rank=None,
        lexical_rank=None,
        named_rank=None,
        path_named=False,
        name_defined=False,
        graph_place=None,
        prefer_path=None,
        prefer_like=False,
    )
    return replace(plain, **changes)


def context(**changes: Any) -> ScoringContext:
    plain = ScoringContext(ranking=RANKING, layers=(D1, D0), query_language="en", idf_mass=4.0)
    return replace(plain, **changes)


def parts_of(one: Candidate, seeds: dict[tuple[int, int], Seed] | None = None, **changes: Any) -> dict[str, float]:
    return dict(rank([one], seeds or {}, context(**changes))[0].parts)


def test_every_part_by_hand() -> None:
    one = candidate(
        layer=D1,
        cosine=0.5,
        bm25=2.0,
        path_named=True,
        name_defined=True,
        prefer_path=2,
        prefer_like=True,
        dense_rank=1,
    )
    (row,) = rank([one], {(1, 0): "exact_path"}, context(prefer_non_tests=True))
    assert row.parts == {
        "dense": 0.5,  # 1.0 × 0.5
        "lexical": 0.3,  # 0.6 × 2 / 4
        "path": 0.3,
        "definition": 0.05,
        "prefer_path": 0.01,  # 0.02, halved for the second prefix
        "prefer_like": 0.04,
        "layer": 0.01,  # the first of two layers
        "non_tests": 0.1,
        "seed": 3.0,
    }
    assert row.score == pytest.approx(4.31, abs=1e-9)
    assert row.found_by == ("exact_path", "dense")


def test_parts_without_value_are_left_out() -> None:
    assert parts_of(candidate()) == {}
    assert parts_of(candidate(is_test=True), prefer_non_tests=True) == {}
    assert parts_of(candidate(), prefer_non_tests=False) == {}


@pytest.mark.parametrize(("place", "expected"), [(1, 0.02), (2, 0.01), (3, 0.005)])
def test_first_preferred_prefix_counts_whole(place: int, expected: float) -> None:
    assert parts_of(candidate(prefer_path=place)) == {"prefer_path": expected}


@pytest.mark.parametrize(
    ("layer", "layers", "expected"),
    [
        (D1, (D1, D0), 0.01),
        (D0, (D1, D0), 0.0),
        (D0, (D1, D0, Layer.D2_FACT_INDEX), 0.005),
        (D0, (D0,), 0.0),
        (Layer.D3_ENTITY_CATALOG, (D1, D0), 0.0),
    ],
)
def test_layer_part_falls_from_first_to_last(layer: Layer, layers: tuple[Layer, ...], expected: float) -> None:
    assert parts_of(candidate(layer=layer), layers=layers).get("layer", 0.0) == expected


@pytest.mark.parametrize(
    ("query", "row", "expected"),
    [
        ("en", "en", 0.6),
        ("ru", "ru", 0.6),
        ("ru", "en", 0.2),
        ("en", "ru", 0.2),
        ("mixed", "ru", 0.6),
        ("en", "mixed", 0.6),
        ("en", "code", 1.5),
        ("mixed", "code", 1.5),
        ("ru", "code", 1.0),
    ],
)
def test_weight_of_words_by_language_pair(query: str, row: str, expected: float) -> None:
    assert lexical_weight(LEXICAL, query, row) == expected


def test_no_idf_mass_means_no_lexical_part() -> None:
    assert parts_of(candidate(bm25=3.0), idf_mass=0.0) == {}


def test_score_does_not_depend_on_what_else_was_found() -> None:
    """Spec: system.md §6: never statistics of the result set. Rows of the same file may support it, no other."""
    ranking = with_parts(support=0.5)
    one = candidate(cosine=0.4, bm25=1.0)
    alone = rank([one], {}, context(ranking=ranking))[0]
    others = [candidate(n, cosine=0.01 * n, bm25=n) for n in range(2, 30)]
    beside = next(row for row in rank([one, *others], {}, context(ranking=ranking)) if row.candidate is one)
    assert (alone.score, alone.parts) == (beside.score, beside.parts)


def test_ties_break_by_layer_then_path_then_span() -> None:
    tied = [
        candidate(1, 0, layer=D1, path="z.md", cosine=0.5 - 0.01),  # its layer part makes it 0.5 too
        candidate(2, 1, path="b.md", cosine=0.5),
        candidate(2, 0, path="b.md", cosine=0.5),
        candidate(3, 0, path="a.md", cosine=0.5),
    ]
    order = [key_of(row.candidate) for row in rank(tied, {}, context())]
    assert order == [(1, 0), (3, 0), (2, 0), (2, 1)]


def random_candidates(seed: int) -> list[Candidate]:
    chance = random.Random(seed)
    return [
        candidate(
            file_id,
            row_no,
            layer=chance.choice([D0, D1, Layer.D2_FACT_INDEX]),
            cosine=chance.choice([None, 0.1, 0.2, 1 / 3]),
            bm25=chance.choice([0.0, 1.0, 1 / 3, 2.0]),
            lang=chance.choice(["ru", "en", "mixed", "code"]),
            path_named=chance.random() < 0.3,
            prefer_path=chance.choice([None, 1, 2, 3]),
            content_hash=chance.choice([1, 2, 3, file_id * 100 + row_no]),
        )
        for file_id in range(1, 7)
        for row_no in range(3)
    ]


@given(seed=st.integers(0, 2**16), shuffle=st.randoms(use_true_random=False))
def test_order_does_not_depend_on_the_order_of_candidates(seed: int, shuffle: random.Random) -> None:
    given_rows = random_candidates(seed)
    seeds: dict[tuple[int, int], Seed] = {
        (1, 0): "exact_path",
        (1, 1): "exact_path",
        (1, 2): "exact_path",
        (4, 1): "path_substring",
    }
    ranking = RANKING.model_copy(update={"parts": PARTS.model_copy(update={"repeat": 0.07, "support": 0.3})})
    wanted = rank(given_rows, seeds, context(ranking=ranking))
    shuffle.shuffle(given_rows)
    assert rank(given_rows, seeds, context(ranking=ranking)) == wanted
    assert merge_duplicates(rank(given_rows, seeds, context(ranking=ranking))) == merge_duplicates(wanted)


@given(seed=st.integers(0, 2**16))
def test_parts_add_up_and_ranks_descend(seed: int) -> None:
    ranking = RANKING.model_copy(update={"parts": PARTS.model_copy(update={"repeat": 0.07, "support": 0.3})})
    rows = rank(random_candidates(seed), {(2, 0): "exact_path"}, context(ranking=ranking, idf_mass=7.0))
    for row in rows:
        assert abs(sum(row.parts.values()) - row.score) < 1e-9
    scores = [row.score for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_seeds_come_first_and_exact_before_substring() -> None:
    """Spec: system.md §6. A substring counts half: 1.5 against 0.9 + 0.3 of a row that vector and path speak for."""
    good = candidate(1, cosine=0.9, path_named=True)
    rows = rank([good, candidate(2), candidate(3)], {(2, 0): "path_substring", (3, 0): "exact_path"}, context())
    assert [(row.candidate.file_id, row.score) for row in rows] == [(3, 3.0), (2, 1.5), (1, 1.2)]


@pytest.mark.parametrize("profile", ["docs", "project"])
def test_shipped_weights_put_every_seed_first(profile: str) -> None:
    """Spec: system.md §6. Half a seed beats all that another row of documentation can have: cosine 1, and words whose
    BM25 weight comes near its bound of 2.2.
    """
    ranking = getattr(bundle.policy("spec", Path("unused")).policy.ranking, profile)
    parts = ranking.parts
    others = parts.path + parts.definition + parts.prefer_path + parts.prefer_like + parts.layer + parts.non_tests
    best = ranking.dense + 2.2 * max(ranking.lexical.same, ranking.lexical.cross) + others
    assert parts.seed / 2 > best * (1 + parts.support)


def test_a_file_gives_so_many_seeds() -> None:
    """`seed_rows` = 2: the two best of the file; the third stands by its own score."""
    rows = [candidate(1, n, cosine=0.1 * n) for n in range(3)]
    seeds: dict[tuple[int, int], Seed] = {key_of(row): "exact_path" for row in rows}
    ranked = rank(rows, seeds, context())
    assert [(row.candidate.row_no, "seed" in row.parts) for row in ranked] == [(2, True), (1, True), (0, False)]


def test_one_row_a_content() -> None:
    rows = rank(
        [
            candidate(1, cosine=0.3, content_hash=7),
            candidate(2, cosine=0.4, content_hash=7),
            candidate(3, cosine=0.2, content_hash=7, layer=D1),
            candidate(4, cosine=0.1, content_hash=8),
        ],
        {},
        context(),
    )
    kept, merged = merge_duplicates(rows)
    assert [row.candidate.file_id for row in kept] == [2, 3, 4]  # another layer is another row
    assert [(pair.row.candidate.file_id, pair.into.candidate.file_id) for pair in merged] == [(1, 2)]


def test_repeats_of_a_file_are_lowered() -> None:
    """0.1 off for each row of the file above: 0.9, 0.88 − 0.1, 0.86 − 0.2 against 0.7 of another file."""
    ranking = RANKING.model_copy(update={"parts": PARTS.model_copy(update={"repeat": 0.1})})
    rows = [
        candidate(1, 0, cosine=0.9),
        candidate(1, 1, cosine=0.88),
        candidate(1, 2, cosine=0.86),
        candidate(2, cosine=0.7),
    ]
    ranked = rank(rows, {}, context(ranking=ranking))
    assert [(key_of(row.candidate), row.score) for row in ranked] == [
        ((1, 0), 0.9),
        ((1, 1), 0.78),
        ((2, 0), 0.7),
        ((1, 2), 0.66),
    ]
    assert ranked[1].parts == {"dense": 0.88, "repeat": -0.1}


def test_why_a_row_is_below_the_limit() -> None:
    (row,) = rank([candidate(cosine=0.25)], {}, context())
    reason = outranked_reason(row, 8)
    assert (reason.code, reason.params) == ("drop.below_limit", {"score": 0.25, "limit": 8})


def with_parts(**changes: float) -> Ranking:
    return RANKING.model_copy(update={"parts": PARTS.model_copy(update=changes)})


def test_a_file_supports_its_rows_from_another_layer() -> None:
    """Half of 0.4 (the document's D1 row) for each passage; half of 0.6 (its best passage) for the D1 row; nothing for
    a passage whose file was found in one layer alone.
    """
    rows = [
        candidate(1, 0, layer=D1, cosine=0.39),  # and 0.01 of its layer: 0.4
        candidate(1, 1, cosine=0.6),
        candidate(1, 2, cosine=0.3),
        candidate(2, 0, cosine=0.65),
        candidate(2, 1, cosine=0.6),
    ]
    ranked = rank(rows, {}, context(ranking=with_parts(support=0.5)))
    assert [(key_of(row.candidate), row.score, row.parts.get("support")) for row in ranked] == [
        ((1, 1), 0.8, 0.2),
        ((1, 0), 0.7, 0.3),
        ((2, 0), 0.65, None),
        ((2, 1), 0.6, None),
        ((1, 2), 0.5, 0.2),
    ]


def test_support_never_lowers() -> None:
    rows = [candidate(1, 0, layer=D1, cosine=-0.9), candidate(1, 1, cosine=0.2)]
    ranked = rank(rows, {}, context(ranking=with_parts(support=0.5, layer=0.0)))
    assert [(row.candidate.row_no, row.score) for row in ranked] == [(1, 0.2), (0, -0.8)]  # -0.9 + half of 0.2


@pytest.mark.parametrize(
    ("seed", "seed_title", "expected"),
    [
        ("exact_path", None, 3.0),
        ("exact_title", None, 3.0),
        ("exact_path", 0.2, 3.0),
        ("exact_title", 0.2, 0.2),
        ("path_substring", 0.2, 1.5),
        ("exact_title", 0.0, None),
    ],
)
def test_a_document_named_by_its_title_may_weigh_less(
    seed: Seed, seed_title: float | None, expected: float | None
) -> None:
    ranking = RANKING.model_copy(update={"seed_title": seed_title})
    (row,) = rank([candidate()], {(1, 0): seed}, context(ranking=ranking))
    assert row.parts.get("seed") == expected
    assert row.found_by == (seed,)
