"""Metrics against values worked by hand, and against trec_eval's own arithmetic where there are ties and gaps."""

from __future__ import annotations

import math

import pytest

from evals.dataset import Case, ExpectedAnchor
from evals.metrics import anchor_scores, measure, percentile, ranked_items
from evals.run import Digest, DigestRow
from ragkit.layers import Layer
from ragkit.retrieval.public_id import Located, PlacedRow, locate


def row(path: str, start: int = 1, end: int = 5, *, key: str | None = None, score: float = 1.0) -> DigestRow:
    return DigestRow(
        id=key or path, path=path, line_start=start, line_end=end, layer="D0_DOC_CHUNKS", plan="p", score=score
    )


def case(key: str, *items: tuple[str, int], **more: object) -> Case:
    judged = [{"id": item, "grade": grade} for item, grade in items]
    return Case.model_validate({"id": key, "query": "q", "relevant": judged, **more})


def files(*paths: str) -> dict[str, Located]:
    rows = [PlacedRow(path=path, public_id=path, layer=Layer.D0_DOC_CHUNKS, line_start=1, line_end=9) for path in paths]
    return locate(paths, rows)


def test_graded_ranking_by_hand() -> None:
    # Ranking of files: x, b (grade 1), a (grade 2); a second row of b counts once.
    cases = [case("q", ("a.md", 2), ("b.md", 1))]
    digest = Digest(id="q", rows=(row("x.md"), row("b.md"), row("b.md", 7, 9), row("a.md")))
    values = measure(cases, {"q": digest}, files("a.md", "b.md")).per_query
    dcg = 1 / math.log2(3) + 2 / math.log2(4)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    assert values["ndcg@10"]["q"] == pytest.approx(dcg / ideal)
    assert values["hit@1"]["q"] == 0.0
    assert values["hit@5"]["q"] == 1.0
    assert values["mrr@10"]["q"] == pytest.approx(1 / 2)
    assert values["recall@10"]["q"] == 1.0
    assert values["precision@5"]["q"] == pytest.approx(2 / 5)
    assert values["map"]["q"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert values["judged@10"]["q"] == pytest.approx(2 / 3)


def test_equal_scores_keep_the_order_of_the_answer() -> None:
    cases = [case("q", ("a.md", 1))]
    tied = Digest(id="q", rows=(row("b.md", score=0.5), row("a.md", score=0.5)))
    assert measure(cases, {"q": tied}, files("a.md")).per_query["mrr@10"]["q"] == pytest.approx(0.5)


def test_a_judged_question_without_an_answer_counts_as_zero() -> None:
    cases = [case("found", ("a.md", 1)), case("empty", ("a.md", 1)), case("unjudged")]
    digests = {
        "found": Digest(id="found", rows=(row("a.md"),)),
        "empty": Digest(id="empty"),
        "unjudged": Digest(id="unjudged", rows=(row("a.md"),)),
    }
    measured = measure(cases, digests, files("a.md"))
    assert measured.per_query["ndcg@10"] == {"found": 1.0, "empty": 0.0}
    assert measured.mean("ndcg@10") == 0.5
    assert measured.mean("zero_results") == pytest.approx(1 / 3)
    assert measured.means()["hit@1"] == {"mean": 0.5, "n": 2}


def test_grade_zero_is_judged_and_not_relevant() -> None:
    cases = [case("q", ("a.md", 0), ("b.md", 1))]
    digest = Digest(id="q", rows=(row("a.md"), row("b.md")))
    values = measure(cases, {"q": digest}, files("a.md", "b.md")).per_query
    assert values["mrr@10"]["q"] == pytest.approx(0.5)
    assert values["judged@10"]["q"] == 1.0


def test_rows_stand_for_the_finer_items_that_they_show() -> None:
    rows = [
        PlacedRow(path="a.md", public_id="a.md#one", layer=Layer.D0_DOC_CHUNKS, line_start=1, line_end=9),
        PlacedRow(path="a.md", public_id="a.md#two", layer=Layer.D0_DOC_CHUNKS, line_start=10, line_end=20),
        PlacedRow(path="m.py", public_id="m.py:L1-L6", layer=Layer.C0_SOURCE_CHUNKS, line_start=1, line_end=6),
        PlacedRow(path="m.py", public_id="m.py::C", layer=Layer.C1_SYMBOL_CATALOG, line_start=5, line_end=8),
    ]
    question = case("q", ("a.md#two", 2), ("m.py::C", 1), ("m.py:L1-L2", 1))
    located = locate([item.id for item in question.relevant], rows)
    digest = Digest(
        id="q",
        rows=(
            row("a.md", 1, 9, key="a.md#one"),
            row("a.md", 12, 14, key="a.md#two:L12-L14"),
            row("a.md", 15, 20, key="a.md#two:L15-L20"),
            row("m.py", 1, 6, key="m.py:L1-L6"),
        ),
    )
    # The fourth row shows both the class and the lines.
    assert ranked_items(question, digest, located) == ["a.md#one", "a.md#two", "m.py::C", "m.py:L1-L2"]


def test_routing_metrics() -> None:
    cases = [
        case("a", intent="DOCS_QA", profile="p", mode="START", anchors=[]),
        case("b", intent="CODE_QA", alt_intents=["DOCS_QA"], profile="x"),
        case("c", intent="PROJECT_MISC", subintent="FIND_FILES"),
    ]
    found = Digest(id="", intent="DOCS_QA", mode="START", subintent="SUMMARY", profiles=("p", "z"))
    measured = measure(cases, dict.fromkeys(("a", "b", "c"), found), {})
    assert measured.per_query["intent"] == {"a": 1.0, "b": 1.0, "c": 0.0}
    assert measured.per_query["profile"] == {"a": 1.0, "b": 0.0}
    assert measured.per_query["mode"] == {"a": 1.0}
    assert measured.per_query["subintent"] == {"c": 0.0}
    assert measured.per_query["anchors_f1"] == {"a": 1.0}
    assert "ndcg@10" not in measured.per_query


def test_anchor_scores_by_hand() -> None:
    question = case("q").model_copy(
        update={
            "anchors": (
                ExpectedAnchor(type="SYMBOL", value="a"),
                ExpectedAnchor(type="SYMBOL", value="b"),
                ExpectedAnchor(type="KEY_TERM", value="/x"),
            )
        }
    )
    digest = Digest(
        id="q",
        anchors=(
            ("SYMBOL", None, "a"),
            ("SYMBOL", None, "c"),
            ("SYMBOL", None, "d"),
            ("KEY_TERM", "endpoint", "/x"),
            ("KEY_TERM", "class", "класс"),
        ),
    )
    scores = anchor_scores([question], {"q": digest})
    assert scores["SYMBOL"] == pytest.approx({"precision": 1 / 3, "recall": 1 / 2, "f1": 2 / 5})
    assert scores["KEY_TERM"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    # Together: 2 right, 4 found (the plain key term is not judged), 3 expected.
    assert measure([question], {"q": digest}, {}).per_query["anchors_f1"]["q"] == pytest.approx(4 / 7)


def test_percentiles() -> None:
    assert percentile([], 50) == 0.0
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([0.0, 10.0], 95) == pytest.approx(9.5)
