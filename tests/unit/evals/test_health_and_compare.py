"""What is wrong with a dataset, and what a comparison says question by question."""

from __future__ import annotations

from evals.compare import Side, compare_runs, verdict_sentence
from evals.dataset import Case, Dataset
from evals.health import check, check_layers
from evals.metrics import measure
from evals.run import Digest, DigestRow, Manifest
from evals.store import rerun_difference
from ragkit.layers import Layer
from ragkit.retrieval.public_id import PlacedRow, locate, paths_in

ROWS = [
    PlacedRow(path="a.md", public_id="a.md#one", layer=Layer.D0_DOC_CHUNKS, line_start=1, line_end=9),
    PlacedRow(path="b.md", public_id="b.md", layer=Layer.D1_DOCUMENT_CATALOG, line_start=1, line_end=2),
]


def case(key: str, query: str, *items: str, tags: tuple[str, ...] = (), grade: int = 1) -> Case:
    judged = [{"id": item, "grade": grade} for item in items]
    return Case.model_validate({"id": key, "query": query, "relevant": judged, "tags": tags})


def manifest(policy: str, corpus: str = "c") -> Manifest:
    return Manifest(
        dataset="d",
        dataset_hash="h",
        policy=policy,
        policy_hash=policy,
        routing_hash="r",
        session="s",
        corpus_fingerprint=corpus,
        embedder="e",
        limit=None,
        intent=None,
    )


def digest(key: str, *paths: str, layers: tuple[str, ...] = ("D0_DOC_CHUNKS",)) -> Digest:
    rows = tuple(
        DigestRow(id=path, path=path, line_start=1, line_end=9, layer="D0_DOC_CHUNKS", plan="p", score=1.0)
        for path in paths
    )
    return Digest(id=key, intent="DOCS_QA", profiles=("p",), layers=layers, rows=rows)


def test_each_kind_of_problem_is_named_once() -> None:
    cases = (
        case("fine", "a?", "a.md"),
        case("unknown", "b?", "gone.md"),
        case("partly", "c?", "a.md", "gone.md"),
        case("stale", "d?", "a.md#two"),
        case("unjudged", "e?"),
        case("meant", "f?", tags=("no-answer",)),
        case("twice", "A?  ", "a.md"),
        case("conflict", "a?", "b.md"),
    )
    ids = [item.id for c in cases for item in c.relevant]
    health = check(Dataset(name="d", cases=cases), locate(ids, ROWS))
    assert [(p.case, p.reason.code) for p in health.problems] == [
        ("unknown", "health.unknown_id"),
        ("partly", "health.unknown_id"),
        ("stale", "health.stale_id"),
        ("unjudged", "health.no_judged_document"),
        ("twice", "health.duplicate"),
        ("conflict", "health.conflicting_labels"),
    ]
    assert health.unwinnable == {"unknown", "stale"}
    assert health.counts()["health.unknown_id"] == 2


def test_layers_that_are_not_asked_are_told() -> None:
    cases = [case("q", "a?", "b.md")]
    located = locate(["b.md"], ROWS)
    assert [p.case for p in check_layers(cases, {"q": digest("q")}, located)] == ["q"]
    asked = {"q": digest("q", layers=("D1_DOCUMENT_CATALOG",))}
    assert check_layers(cases, asked, located) == ()


def test_ids_are_located_by_the_longest_path_that_is_there() -> None:
    odd = PlacedRow(path="a#b.md", public_id="a#b.md", layer=Layer.D0_DOC_CHUNKS, line_start=1, line_end=3)
    assert set(paths_in(["a#b.md"])) == {"a#b.md", "a"}
    assert locate(["a#b.md"], [odd])["a#b.md"].level == "file"
    found = locate(["a.md#one", "a.md:L4-L6", "x.py::f"], ROWS)
    assert (found["a.md#one"].line_start, found["a.md#one"].line_end) == (1, 9)
    assert found["a.md:L4-L6"].is_shown_by("a.md", 6, 8)
    assert not found["a.md:L4-L6"].is_shown_by("a.md", 7, 8)
    assert found["x.py::f"].status == "unknown"


def test_a_comparison_sorts_by_loss_and_counts_outcomes() -> None:
    cases = [case(key, f"{key}?", "a.md") for key in ("lost", "won", "equal", "failed")]
    located = locate(["a.md"], ROWS)
    a = {
        "lost": digest("lost", "a.md"),
        "won": digest("won"),
        "equal": digest("equal", "a.md"),
        "failed": digest("failed"),
    }
    b = {"lost": digest("lost"), "won": digest("won", "x.md", "a.md"), "equal": a["equal"], "failed": a["failed"]}
    found = compare_runs(
        cases,
        Side(manifest=manifest("A"), digests=a, measured=measure(cases, a, located), located=located),
        Side(manifest=manifest("B", corpus="other"), digests=b, measured=measure(cases, b, located), located=located),
    )
    assert [pair.case.id for pair in found.pairs] == ["lost", "equal", "failed", "won"]
    assert found.outcomes() == {"won": 1, "lost": 1, "equal": 1, "both_failed": 1}
    lost = found.pairs[0]
    assert (lost.items[0].rank_a, lost.items[0].rank_b) == (1, None)
    assert found.pairs[-1].items[0].rank_b == 2
    assert [warning.code for warning in found.warnings] == ["eval.corpora_differ"]
    assert verdict_sentence(found).code == "eval.verdict_not_enough"


def test_the_first_field_that_differs_is_named() -> None:
    one = {"q": digest("q", "a.md", "b.md")}
    assert rerun_difference(one, {"q": digest("q", "a.md", "b.md")}) is None
    assert rerun_difference(one, {"q": digest("q", "a.md", "c.md")}) == "q.rows[1].id"
    assert rerun_difference(one, {"q": digest("q", "a.md")}) == "q.rows[1]"
    assert rerun_difference(one, {}) == "q"


def test_a_manifest_is_named_by_what_decides() -> None:
    assert manifest("A").id == manifest("A").id
    assert manifest("A").id != manifest("B").id
    assert manifest("A").id != manifest("A", corpus="x").id
