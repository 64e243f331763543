"""The least change of one weight: it works when applied, and a grid of values finds none that is nearer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit import bundle
from ragkit.layers import Layer
from ragkit.policy.policy import PartWeights
from ragkit.postgres.rows import Candidate
from ragkit.retrieval.rank_change import WEIGHTS, rank_under, weight_changes, weight_of, with_weight
from ragkit.retrieval.scoring import Key, ScoringContext, Seed, merge_duplicates, rank
from tests.unit.retrieval.test_scoring import candidate, context

POLICY = bundle.policy("spec", Path("unused")).policy


def found(
    rows: list[Candidate],
    target: Candidate,
    limit: int,
    seeds: dict[Key, Seed] | None = None,
    within: ScoringContext | None = None,
) -> dict[str, float]:
    scoring = within or context()
    kept, _ = merge_duplicates(rank(rows, seeds or {}, scoring))
    targets = frozenset({(target.file_id, target.row_no)})
    changes = weight_changes(rows, seeds or {}, scoring, kept=kept, targets=targets, limit=limit)
    return {change.weight: change.becomes for change in changes}


def test_by_hand() -> None:
    """Words weigh 0.6 and the IDF mass is 4. Near: 0.9. Worded: 0.4 + 0.6 * 2/4 = 0.7. It needs 0.4 + w/2 > 0.9, so
    w > 1.0, a step of 0.4; or 0.9d < 0.4d + 0.3, so d < 0.6, a step of 0.4 too: each with the next value of two
    decimals that leaves no tie."""
    near = candidate(1, cosine=0.9)
    worded = candidate(2, cosine=0.4, bm25=2.0)
    assert found([near, worded], worded, 1) == {"lexical.same": 1.01, "dense": 0.59}


def test_between_passing_one_row_and_being_passed_by_another() -> None:
    """Mass 4, weight w of words: target 0.5 + 0.5w, leader 0.9, chaser 0.0975 + w. The target leads from w > 0.8 and
    only up to 0.805, so two decimals will not do; by meaning d: d < 0.75 and d > 0.3 / 0.4025 = 0.7453."""
    target, leader = candidate(1, cosine=0.5, bm25=2.0), candidate(2, cosine=0.9)
    chaser = candidate(3, cosine=0.0975, bm25=4.0)
    assert found([target, leader, chaser], target, 1) == {"lexical.same": 0.801, "dense": 0.749}


def test_a_row_that_leads_by_little_counts_as_above() -> None:
    """Target 0.3 + 0.5w. To pass are 0.605 (at w > 0.61) and 0.9 (at w > 1.2): limit 2 needs the first, 1 both."""
    target = candidate(1, cosine=0.3, bm25=2.0)
    rows = [target, candidate(2, cosine=0.605), candidate(3, cosine=0.9)]
    assert found(rows, target, 2)["lexical.same"] == 0.62
    assert found(rows, target, 1)["lexical.same"] == 1.21


def test_nothing_where_no_single_weight_can() -> None:
    """The other row is better in every part that either has."""
    better = candidate(1, cosine=0.9, bm25=2.0)
    worse = candidate(2, cosine=0.4, bm25=1.0)
    assert found([better, worse], worse, 1) == {}


def test_a_weight_of_zero_may_be_raised() -> None:
    """Repeats cost nothing here and non-tests are preferred with weight 0.1: the test file loses it."""
    test = candidate(1, cosine=0.5, is_test=True, path_named=False)
    plain = candidate(2, cosine=0.45)
    parts = PartWeights(
        path=0, definition=0, prefer_path=0, prefer_like=0, layer=0, non_tests=0.0, seed=3.0, repeat=0.0
    )
    ranking = context().ranking.model_copy(update={"parts": parts})
    offered = found([test, plain], plain, 1, within=context(ranking=ranking, prefer_non_tests=True))
    assert offered == {"parts.non_tests": 0.06}


def test_weights_are_those_of_a_policy_file() -> None:
    ranking = POLICY.ranking.docs
    for weight in WEIGHTS:
        changed = with_weight(ranking, weight, 7.25)
        assert weight_of(changed, weight) == 7.25
        assert [w for w in WEIGHTS if weight_of(changed, w) != weight_of(ranking, w)] == [weight]


rows = st.lists(
    st.builds(
        lambda n, cosine, bm25, path, name, prefer, like, layer: candidate(
            n,
            cosine=cosine,
            bm25=bm25,
            path_named=path,
            name_defined=name,
            prefer_path=prefer,
            prefer_like=like,
            lang=layer,
        ),
        st.just(0),
        st.integers(0, 100).map(lambda n: n / 100),
        st.integers(0, 40).map(lambda n: n / 10),
        st.booleans(),
        st.booleans(),
        st.sampled_from([None, 1, 2]),
        st.booleans(),
        st.sampled_from(["en", "ru", "code"]),
    ),
    min_size=2,
    max_size=9,
).map(lambda found: [replace(row, file_id=n, path=f"{n}.md", content_hash=n) for n, row in enumerate(found, 1)])


@given(rows=rows, limit=st.integers(1, 3), seed=st.sampled_from([None, "exact_path", "path_substring"]))
def test_each_offer_works_and_none_is_nearer(rows: list[Candidate], limit: int, seed: Seed | None) -> None:
    scoring = context()
    seeds: dict[Key, Seed] = {(1, 0): seed} if seed else {}
    kept, _ = merge_duplicates(rank(rows, seeds, scoring))
    if len(kept) <= limit:
        return
    target = kept[-1].candidate
    targets = frozenset({(target.file_id, target.row_no)})
    offers = weight_changes(rows, seeds, scoring, kept=kept, targets=targets, limit=limit)
    assert [offer.size for offer in offers] == sorted(offer.size for offer in offers)

    def place(weight: str, value: float) -> int:
        bent = replace(scoring, ranking=with_weight(scoring.ranking, weight, value))
        found = rank_under(rows, seeds, bent, targets)
        assert found is not None
        return found

    for offer in offers:
        assert place(offer.weight, offer.becomes) == offer.rank <= limit
    known = {offer.weight: offer.size for offer in offers}
    most = max(known.values(), default=0.0) if len(offers) == 3 else 100.0
    for weight in WEIGHTS:
        now = weight_of(scoring.ranking, weight)
        nearest = known.get(weight, most)
        for step in range(1, 100):
            for value in (now + step / 20, now - step / 20):
                if value >= 0 and abs(value - now) < nearest - 0.01:
                    assert place(weight, value) > limit, (weight, value)


@pytest.mark.parametrize("limit", [1, 2])
def test_a_document_of_several_rows_comes_in_by_any(limit: int) -> None:
    others = [candidate(n, cosine=0.9 - n / 100) for n in range(1, 4)]
    far, near = candidate(9, 0, cosine=0.2, bm25=1.0), candidate(9, 1, cosine=0.1, bm25=3.0)
    scoring = context()
    kept, _ = merge_duplicates(rank([*others, far, near], {}, scoring))
    changes = weight_changes(
        [*others, far, near], {}, scoring, kept=kept, targets=frozenset({(9, 0), (9, 1)}), limit=limit
    )
    assert changes[0].weight in ("lexical.same", "dense")
    assert changes[0].rank <= limit


def test_support_passes_a_weight_on() -> None:
    """The page has w, and half of 0.1; its passage 0.1, and half of w: it passes the page where w falls below 0.1.

    At w = 0.2 it also passes the page where support s is above 1: 0.1 + 0.2 s against 0.2 + 0.1 s.
    """
    plain = context().ranking
    ranking = plain.model_copy(
        update={
            "lexical": plain.lexical.model_copy(update={"same": 0.2}),
            "parts": plain.parts.model_copy(update={"support": 0.5, "layer": 0.0}),
        }
    )
    scoring = context(ranking=ranking)
    page = candidate(2, 0, layer=Layer.D1_DOCUMENT_CATALOG, bm25=4.0)
    pool = [candidate(1, cosine=0.5), page, candidate(2, 1, cosine=0.1)]
    kept, _ = merge_duplicates(rank(pool, {}, scoring))
    assert [row.score for row in kept] == [0.5, 0.25, 0.2]
    changes = weight_changes(pool, {}, scoring, kept=kept, targets=frozenset({(2, 1)}), limit=2)
    assert [(change.weight, change.becomes, change.rank) for change in changes][:2] == [
        ("lexical.same", 0.09, 2),
        ("parts.support", 1.01, 2),
    ]
