"""Records of questions: what is read, what is refused by line and field, and that no format loses anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import formats
from evals.dataset import Case, Dataset, ExpectedAnchor, Judgement, from_jsonl, to_jsonl
from evals.formats import trec
from ragkit.errors import InvalidInput

PRINTABLE = st.characters(exclude_categories=("Cs", "Cc"))
TEXT = st.text(PRINTABLE, min_size=1, max_size=30).filter(str.strip)
CELL = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=20).filter(str.strip)
CASES = st.lists(
    st.builds(
        Case,
        id=CELL.map(str.strip),
        query=TEXT,
        turns=st.lists(TEXT, max_size=2).map(tuple),
        language=st.sampled_from(["ru", "en", None]),
        intent=st.sampled_from(["DOCS_QA", "CODE_QA", None]),
        profile=st.sampled_from(["file_lookup", None]),
        anchors=st.sampled_from([None, (), (ExpectedAnchor(type="SYMBOL", value="a_b"),)]),
        relevant=st.lists(
            st.builds(Judgement, id=CELL.map(str.strip), grade=st.integers(0, 3)), max_size=3, unique_by=lambda j: j.id
        ).map(tuple),
        tags=st.lists(CELL, max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda case: case.id,
)


@given(cases=CASES)
@pytest.mark.parametrize("kind", formats.KINDS)
def test_every_format_gives_back_what_it_was_given(
    cases: list[Case], kind: formats.Kind, tmp_path_factory: pytest.TempPathFactory
) -> None:
    dataset = Dataset(name="set", cases=tuple(cases))
    path = tmp_path_factory.mktemp("set") / {"csv": "set.csv", "jsonl": "set.jsonl"}.get(kind, "set")
    formats.save(dataset, path, kind)
    loaded = formats.load(path)
    assert loaded.cases == dataset.cases
    assert loaded.hash == dataset.hash


def test_the_hash_follows_order_and_content() -> None:
    one, two = Case(id="1", query="a"), Case(id="2", query="b")
    first = Dataset(name="x", cases=(one, two))
    assert first.hash == Dataset(name="other name", cases=(one, two)).hash
    assert first.hash != Dataset(name="x", cases=(two, one)).hash
    assert first.hash != Dataset(name="x", cases=(one, two.model_copy(update={"query": "c"}))).hash


def test_older_names_of_fields_are_read() -> None:
    line = json.dumps({"id": "q1", "query": "где лежит?", "lang": "ru", "kind": "issue", "note": "passed over"})
    (case,) = from_jsonl(line, name="x", origin="x.jsonl").cases
    assert (case.language, case.tags) == ("ru", ("issue",))


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "record"),
        ("[]", "record"),
        ('{"query": "a"}', "id"),
        ('{"id": "a", "query": "  "}', "query"),
        ('{"id": "a", "query": "b", "intent": "DOCS"}', "intent"),
        ('{"id": "a", "query": "b", "relevant": [{"id": "x", "grade": true}]}', "relevant.0.grade"),
        ('{"id": "a", "query": "b", "relevant": [{"id": "x", "grade": 1.5}]}', "relevant.0.grade"),
        ('{"id": "a", "query": "b", "relevant": [{"id": "x", "grade": -1}]}', "relevant.0.grade"),
        ('{"id": "a", "query": "b", "relevant": [{"id": "x", "grade": 1}, {"id": "x", "grade": 2}]}', "relevant"),
        ('{"id": "a", "query": "b", "relevant": [{"id": "x", "grade": 9}]}', "relevant.0.grade"),
        ('{"id": "a", "query": "b", "tags": "x"}', "tags"),
        ('{"id": "a", "query": "b", "kind": 5}', "tags"),
        ('{"id": "a", "query": "b", "turns": "x"}', "turns"),
        ('{"id": "a", "query": "b", "alt_intents": ["DOCS"]}', "alt_intents.0"),
        ('{"id": "a", "query": "b", "subintent": 0}', "subintent"),
        ('{"id": "a", "query": "b", "anchors": [{"type": "PLACE", "value": "x"}]}', "anchors.0.type"),
    ],
)
def test_a_malformed_line_is_refused_by_line_and_field(line: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        from_jsonl('{"id": "ok", "query": "ok"}\n\n' + line, name="x", origin="x.jsonl")
    assert refused.value.code == "dataset_line"
    assert (refused.value.params["line"], refused.value.params["field"]) == (3, field)


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ('id,query\n1,a\n2,"b\n3,c\n', 3, "row"),
        ('id,query\n1,"a\nb"\n2,"b"c\n', 4, "row"),
        ("id,query\n1,a,b\n", 2, "row"),
        ('id,query,tags\n1,"a\nb",\n\n2,c,x\n', 5, "tags"),
        ('id,query,tags\n1,a,"""x"""\n', 2, "tags"),
    ],
)
def test_a_malformed_row_of_csv_is_refused_by_line(tmp_path: Path, text: str, line: int, field: str) -> None:
    """An open quote would swallow every row after it."""
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        formats.load(tmp_path / "x.csv")
    assert (refused.value.params["line"], refused.value.params["field"]) == (line, field)


def test_empty_and_doubled_datasets_are_refused() -> None:
    with pytest.raises(InvalidInput) as empty:
        from_jsonl("\n \n", name="x", origin="x.jsonl")
    assert empty.value.code == "dataset_empty"
    with pytest.raises(InvalidInput) as doubled:
        from_jsonl('{"id":"a","query":"b"}\n{"id":"a","query":"c"}', name="x", origin="x.jsonl")
    assert doubled.value.params["id"] == "a"


def test_a_folder_with_three_column_judgements(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id":"q1","query":"a","lang":"en"}\n{"id":"q2","query":"b"}\n')
    (tmp_path / "qrels.tsv").write_text("q1\tdocs/a.md\t2\nq1\tdocs/b c.md\t1\n")
    first, second = formats.load(tmp_path).cases
    assert [(item.id, item.grade) for item in first.relevant] == [("docs/a.md", 2), ("docs/b c.md", 1)]
    assert second.relevant == ()


@pytest.mark.parametrize(
    ("qrels", "field"),
    [("q1\ta.md\n", "columns"), ("q1\ta.md\tmany\n", "grade"), ("q1\ta.md\t1\nq1\ta.md\t2\n", "id")],
)
def test_malformed_judgements_are_refused_by_line(tmp_path: Path, qrels: str, field: str) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id":"q1","query":"a"}\n')
    (tmp_path / "qrels.tsv").write_text(qrels)
    with pytest.raises(InvalidInput) as refused:
        formats.load(tmp_path)
    assert refused.value.params["field"] == field


def test_judgements_of_unknown_questions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id":"q1","query":"a"}\n')
    (tmp_path / "qrels.tsv").write_text("q9\ta.md\t1\n")
    with pytest.raises(InvalidInput) as refused:
        formats.load(tmp_path)
    assert refused.value.code == "dataset_orphan"


def test_what_is_no_dataset_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        formats.load(tmp_path)
    assert refused.value.code == "dataset_unknown"
    with pytest.raises(InvalidInput) as missing:
        formats.load(tmp_path / "nothing.jsonl")
    assert missing.value.code in ("file_unreadable", "dataset_unknown")


def test_trec_ids_hold_no_white_space() -> None:
    awkward = "docs/a b%20c\u2003d.md"
    assert trec.escaped(awkward).split() == [trec.escaped(awkward)]
    assert trec.unescaped(trec.escaped(awkward)) == awkward


def test_trec_runs_keep_order_under_tools_that_sort_by_score() -> None:
    lines = list(trec.run_lines({"q 1": ["b.md", "a.md"]}, "spec"))
    assert lines == ["q%201 Q0 b.md 1 999999 spec\n", "q%201 Q0 a.md 2 999998 spec\n"]


def test_jsonl_is_read_back_to_the_letter() -> None:
    text = to_jsonl(Dataset(name="x", cases=(Case(id="1", query="a\u2028b", anchors=()),)))
    assert to_jsonl(from_jsonl(text, name="x", origin="x")) == text
    assert '"anchors": []' in text
