"""The decision alone: which stage lost a document, from facts made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from ragkit.layers import Layer
from ragkit.policy.origin import FilterOrigin
from ragkit.policy.plan import PlanFilters, RetrievalPlan
from ragkit.postgres.inspection import DoneJob, IndexedRow, ProbedRow
from ragkit.retrieval.diagnosis import STAGE_OF, Item, PlanFacts, Stage, VerdictCode, judge, rows_above
from ragkit.retrieval.expected import left_out_reason, unnamed_files
from ragkit.retrieval.public_id import Located
from ragkit.retrieval.scoring import MergedRow, ScoredRow, key_of
from tests.unit.retrieval.test_scoring import candidate

D0, D1, C0 = Layer.D0_DOC_CHUNKS, Layer.D1_DOCUMENT_CATALOG, Layer.C0_SOURCE_CHUNKS
ORIGIN = FilterOrigin(kind="signal", by=("API_ENDPOINT",))


def row(number: int = 1, **changes: Any) -> IndexedRow:
    plain = IndexedRow(
        file_id=number,
        row_no=0,
        layer=D0,
        path=f"docs/{number}.md",
        public_id=f"docs/{number}.md",
        line_start=1,
        line_end=1,
        embedded=True,
        has_vector=True,
        has_words=True,
    )
    return replace(plain, **changes)


def item(*rows: IndexedRow, status: str = "found", **more: Any) -> Item:
    place = Located(
        id="docs/1.md", level="file", status=status, path="docs/1.md", line_start=0, line_end=0, layers=frozenset()
    )  # pyright: ignore
    return Item(id="docs/1.md", located=place, rows=rows, **more)


def scored(number: int, score: float, **parts: float) -> ScoredRow:
    return ScoredRow(candidate=candidate(number), score=score, parts=parts, found_by=())


def probed(number: int = 1, dense: int | None = None, lexical: int | None = None, **passes: bool) -> ProbedRow:
    return ProbedRow(candidate=candidate(number, dense_rank=dense, lexical_rank=lexical, cosine=0.1), passes=passes)


def facts(*found: ProbedRow, **changes: Any) -> PlanFacts:
    filters = PlanFilters(path_prefixes=("docs/api/",), metadata_domain="shop", test_policy="EXCLUDE")
    plain = PlanFacts(
        plan=RetrievalPlan(profile="p", layers=(D1, D0), limit=2, filters=filters),
        depths={D0: 10, D1: 10},
        kept=(),
        merged=(),
        probed=found,
        origins=dict.fromkeys(filters.to_json(), ORIGIN),
        words=("order",),
        has_vector=True,
        ids={(n, 0): f"id {n}" for n in range(20)},
    )
    return replace(plain, **changes)


def test_stages_follow_the_order_of_the_pipeline() -> None:
    order = get_args(Stage)
    places = [order.index(STAGE_OF[code]) for code in get_args(VerdictCode)]
    assert places == sorted(places)
    assert set(STAGE_OF.values()) == set(order)


@pytest.mark.parametrize(
    ("found", "code", "params"),
    [
        (item(status="unknown"), "unknown_path", {"near": [], "unnamed": 0}),
        (item(status="unknown", left_out="secret"), "not_indexed", {"reason": "secret"}),
        (item(status="stale"), "stale", {"lacks": "item"}),
        (item(row(has_vector=False)), "stale", {"lacks": "vector"}),
        (item(row(has_words=False)), "stale", {"lacks": "words"}),
        (item(row(layer=C0)), "layer_not_asked", {"layers": ["C0_SOURCE_CHUNKS"]}),
    ],
)
def test_before_the_search(found: Item, code: str, params: dict[str, object]) -> None:
    verdict = judge(found, [facts()])
    assert verdict.code == code
    assert {name: verdict.params[name] for name in params} == params


def test_a_missing_vector_is_no_cause_where_one_row_is_whole_or_words_alone_search() -> None:
    there = probed(1, lexical=11, path_prefixes=True)
    assert judge(item(row(has_vector=False), row(2)), [facts(there)]).code == "below_leg"
    assert judge(item(row(has_vector=False)), [facts(there, has_vector=False)]).code == "below_leg"
    assert judge(item(row(embedded=False, has_vector=False)), [facts(there)]).code == "below_leg"


def test_the_first_filter_after_which_nothing_is_left() -> None:
    """The first row fails the domain, the second the folder: neither filter removes both, the second takes the last."""
    two = (
        probed(1, path_prefixes=True, metadata_domain=False, tests_excluded=True),
        probed(1, path_prefixes=False, metadata_domain=True, tests_excluded=True),
    )
    verdict = judge(item(row()), [facts(*two)])
    assert (verdict.code, verdict.params["filter"], verdict.params["value"]) == (
        "hard_filter",
        "metadata.domain",
        "shop",
    )
    assert (verdict.params["alone"], verdict.params["others"], verdict.params["rows"]) == (False, [], 2)


def test_filters_that_would_remove_it_too_are_named() -> None:
    one = probed(1, path_prefixes=False, metadata_domain=True, tests_excluded=False)
    verdict = judge(item(row()), [facts(one)])
    assert (verdict.params["filter"], verdict.params["alone"]) == ("path_prefixes", True)
    assert verdict.params["others"] == ["test_policy"]
    (reason,) = verdict.reasons
    assert reason.params == {"filter": "test_policy", "value": "EXCLUDE", "origin": ORIGIN.to_json()}


def test_legs() -> None:
    passed = {"path_prefixes": True}
    nowhere = judge(item(row()), [facts(probed(1, **passed))])
    assert (nowhere.code, nowhere.params["words"]) == ("no_leg", ["order"])
    below = judge(item(row()), [facts(probed(1, dense=31, lexical=12, **passed))])
    assert (below.code, below.params["leg"], below.params["rank"], below.params["limit"]) == (
        "below_leg",
        "lexical",
        12,
        10,
    )
    assert below.params["legs"] == {"dense": {"rank": 31, "limit": 10}, "lexical": {"rank": 12, "limit": 10}}
    assert [(r.code, r.params["leg"]) for r in below.reasons] == [("why.leg_rank", "dense")]
    lost = judge(item(row()), [facts(probed(1, dense=10, **passed))])
    assert (lost.code, lost.stage) == ("lost_by_index", "semantic")  # a place within the limit, and no candidate


def test_a_row_of_another_document_in_the_same_file_is_not_asked_for() -> None:
    other = probed(1, dense=11)
    verdict = judge(item(row(row_no=0)), [facts(other)])
    assert verdict.params["id"] == "docs/1.md"


def test_below_the_limit() -> None:
    """Ranks by hand: five rows, limit 2, the document fifth: named are the last of the answer and the three above."""
    kept = (
        scored(11, 0.9, dense=0.9),
        scored(12, 0.8, dense=0.5, path=0.3),
        scored(13, 0.7, dense=0.7),
        scored(14, 0.6, dense=0.6),
        scored(1, 0.6, dense=0.4, lexical=0.2),
    )
    verdict = judge(item(row()), [facts(kept=kept)])
    assert (verdict.code, verdict.params["rank"], verdict.params["limit"]) == ("below_limit", 5, 2)
    above = verdict.params["above"]
    assert isinstance(above, list)
    assert [one["rank"] for one in above] == [2, 3, 4]
    assert above[0] == {"id": "id 12", "rank": 2, "score": 0.8, "wins": {"path": 0.3, "dense": 0.1}}
    assert above[2]["wins"] == {"dense": 0.2}


def test_rows_above() -> None:
    kept = [scored(n, 1.0) for n in range(30)]
    assert rows_above(kept, 30, 8) == [8, 27, 28, 29]
    assert rows_above(kept, 9, 8) == [6, 7, 8]
    assert rows_above(kept, 2, 1) == [1]


def test_merged_into_a_better_row_unless_another_row_stands_higher() -> None:
    best, copy = scored(11, 0.9), scored(1, 0.5)
    merged = MergedRow(row=copy, into=best)
    verdict = judge(item(row()), [facts(kept=(best,), merged=(merged,))])
    assert (verdict.code, verdict.params["into"], verdict.params["into_rank"]) == ("merged", "id 11", 1)
    own = scored(2, 0.8)
    kept = (scored(12, 0.95), scored(13, 0.94), own, best)
    verdict = judge(item(row(), row(2)), [facts(kept=kept, merged=(merged,))])
    assert (verdict.code, verdict.params["rank"]) == ("below_limit", 3)
    found = judge(item(row(), row(2)), [facts(kept=(own, best), merged=(merged,))])
    assert (found.code, found.params["id"]) == ("found", "docs/2.md")


def test_the_plan_that_got_furthest_and_of_equals_the_first() -> None:
    far = facts(kept=(scored(11, 0.9), scored(12, 0.8), scored(1, 0.1)))
    near = facts(probed(1, dense=11))
    verdict = judge(item(row()), [near, replace(far, plan=replace(far.plan, profile="q"))])
    assert (verdict.code, verdict.plan) == ("below_limit", "q")
    assert verdict.reasons[-1].params == {"plan": "p", "verdict": "below_leg"}
    assert judge(item(row()), [near, replace(near, plan=replace(near.plan, profile="q"))]).plan == "p"


def test_ranks_count_over_the_plans_before() -> None:
    found = judge(item(row()), [facts(kept=(scored(1, 0.9),), ranks_before=8)])
    assert (found.code, found.params["rank"]) == ("found", 9)
    assert key_of(scored(1, 0.9).candidate) == (1, 0)


def test_what_jobs_left_out() -> None:
    newest = DoneJob(kind="changes", left_out={"secret": 1}, left_out_paths={"secret": ["a/.env"]})
    whole = DoneJob(
        kind="snapshot",
        left_out={"binary": 30, "vendored": 1},
        left_out_paths={"binary": ["a.png"], "vendored": ["lib"]},
    )
    assert left_out_reason([newest, whole], "a/.env") == "secret"
    assert left_out_reason([newest, whole], "lib/x/y.js") == "vendored"
    assert left_out_reason([newest, whole], "library/y.js") is None
    assert unnamed_files([newest, whole]) == 29
    assert unnamed_files([]) == 0
