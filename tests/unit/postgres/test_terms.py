"""Words as the database stores them. Values are worked by hand from BM25 with k1 = 1.2, b = 0."""

from __future__ import annotations

import math

import pytest

from ragkit import bundle
from ragkit.document import RagDocument
from ragkit.layers import Layer
from ragkit.postgres.terms import (
    ALL_ROWS,
    DIMENSIONS,
    MAX_TERMS,
    TermHasher,
    content_hash,
    count_words,
    idf,
    idf_vector,
    index_of,
    path_suffixes,
    posting,
)


def row(text: str, *, path: str = "docs/a.md", names: tuple[str, ...] = (), context: str = "") -> RagDocument:
    return RagDocument(
        layer=Layer.D0_DOC_CHUNKS,
        path=path,
        public_id=path,
        title="A",
        text=text,
        context=context,
        line_start=1,
        line_end=1,
        names=names,
    )


@pytest.fixture
def hasher() -> TermHasher:
    return TermHasher("s-1")


def test_bm25_weight_of_a_word_grows_and_saturates(hasher: TermHasher) -> None:
    """tf · 2.2 / (tf + 1.2): 1 → 1, 2 → 1.375, 3 → 1.571…; never above 2.2."""
    found = posting(row("cat dog dog fox fox fox"), bundle.analyzer(), hasher)
    weights = (
        found.weights.to_dict()
        if hasattr(found.weights, "to_dict")
        else dict(zip(found.weights.indices(), found.weights.values(), strict=True))
    )
    by_word = {word: weights[index_of(hasher.word(word))] for word in ("cat", "dog", "fox")}
    assert by_word == pytest.approx({"cat": 1.0, "dog": 1.375, "fox": 6.6 / 4.2})
    assert len(weights) == 3


def test_weights_depend_on_the_row_alone(hasher: TermHasher) -> None:
    """b = 0: a longer row with the same count has the same weight."""
    short = posting(row("cat"), bundle.analyzer(), hasher)
    long = posting(row("cat " + " ".join(f"other{n}" for n in range(50))), bundle.analyzer(), hasher)
    place = index_of(hasher.word("cat"))
    for found in (short, long):
        at = found.weights.indices().index(place)
        assert found.weights.values()[at] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rows_with_word", "rows", "expected"),
    [
        (1, 100, math.log(1 + 99.5 / 1.5)),
        (50, 100, math.log(2)),
        (100, 100, math.log(1 + 0.5 / 100.5)),
        (0, 0, math.log(2)),
    ],
)
def test_idf(rows_with_word: int, rows: int, expected: float) -> None:
    """ln(1 + (N − n + ½) / (n + ½)), which never falls to zero."""
    assert idf(rows_with_word, rows) == pytest.approx(expected)
    assert idf(rows_with_word, rows) > 0


def test_idf_falls_as_a_word_gets_common() -> None:
    values = [idf(n, 1000) for n in (1, 10, 100, 500, 1000)]
    assert values == sorted(values, reverse=True)


def test_names_and_paths_are_marked_apart_from_words(hasher: TermHasher) -> None:
    found = posting(row("cat", path="src/app/Orders.py", names=("PlaceOrder",)), bundle.analyzer(), hasher)
    marks = set(found.terms) - set(found.words)
    assert found.words == (hasher.word("cat"),)
    assert marks == {
        hasher.name("placeorder"),
        hasher.path_suffix("orders.py"),
        hasher.path_suffix("app/orders.py"),
        hasher.path_suffix("src/app/orders.py"),
    }
    assert hasher.word("orders.py") != hasher.path_suffix("orders.py")
    assert hasher.word("placeorder") != hasher.name("placeorder")


def test_words_are_even_and_marks_odd(hasher: TermHasher) -> None:
    """What document frequencies are counted by."""
    names = [f"name{n}" for n in range(200)]
    assert {hasher.word(name) % 2 for name in names} == {0}
    marks = [mark(name) for name in names for mark in (hasher.name, hasher.path_suffix, hasher.node)]
    assert {mark % 2 for mark in marks} == {1}
    assert len(set(marks)) == 600


def test_context_is_analysed_too(hasher: TermHasher) -> None:
    found = posting(row("cat", context="fox"), bundle.analyzer(), hasher)
    assert set(found.words) == {hasher.word("cat"), hasher.word("fox")}


@pytest.mark.parametrize(
    ("path", "suffixes"),
    [
        ("src/app/orders.py", ("orders.py", "app/orders.py", "src/app/orders.py")),
        ("README.md", ("README.md",)),
        ("a\\b.py", ("b.py", "a/b.py")),
    ],
)
def test_path_suffixes_are_whole_segments(path: str, suffixes: tuple[str, ...]) -> None:
    assert path_suffixes(path) == suffixes


def test_hashes_are_salted_by_session_and_analysis() -> None:
    same, again = TermHasher("s-1", 1), TermHasher("s-1", 1)
    assert same.word("cat") == again.word("cat")
    assert len({h.word("cat") for h in (same, TermHasher("s-2", 1), TermHasher("s-1", 2))}) == 3


def test_no_word_hashes_to_the_count_of_rows(hasher: TermHasher) -> None:
    assert ALL_ROWS == 0
    assert all(hasher.word(f"w{n}") != ALL_ROWS for n in range(1000))


def test_places_fit_the_sparse_vectors(hasher: TermHasher) -> None:
    for term in (hasher.word("cat"), -1, -(2**63), 2**63 - 1):
        assert 0 <= index_of(term) < DIMENSIONS


def test_words_without_weight_leave_the_query_vector() -> None:
    vector = idf_vector({10: 2.0, 14: 0.0})
    assert (list(vector.indices()), list(vector.values())) == ([5], [2.0])


def test_rows_of_very_many_words_are_cut(hasher: TermHasher) -> None:
    text = "keep keep " + " ".join(f"w{n}x" for n in range(MAX_TERMS + 500))
    found = posting(row(text), bundle.analyzer(), hasher)
    assert len(found.words) == MAX_TERMS
    assert hasher.word("keep") in found.words  # the most frequent stay


def test_count_words(hasher: TermHasher) -> None:
    postings = [posting(row(text), bundle.analyzer(), hasher) for text in ("cat dog", "dog dog")]
    counts = count_words(postings)
    assert (counts[hasher.word("cat")], counts[hasher.word("dog")], counts[ALL_ROWS]) == (1, 2, 2)


def test_content_hash_folds_white_space() -> None:
    assert content_hash("a  b\n\tc ") == content_hash("a b c")
    assert content_hash("a b") != content_hash("ab")
    assert -(2**63) <= content_hash("\ud800") < 2**63
