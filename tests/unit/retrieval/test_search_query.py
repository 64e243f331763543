"""The query's side of a search: words against what the layers hold. IDF values are worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ragkit import bundle, service
from ragkit.postgres.terms import ALL_ROWS, TermHasher
from ragkit.retrieval.search_query import (
    MAX_WORDS,
    QueryWord,
    SearchQuery,
    matched_forms,
    query_language,
    search_query,
    weigh_words,
)

HASHER = TermHasher("s-1")


def query(*words: tuple[str, str, bool], names: tuple[str, ...] = (), paths: tuple[str, ...] = ()) -> SearchQuery:
    """Words as (term, origin, is it a stop word)."""
    made = tuple(QueryWord(word=term, term=term, origin=origin, is_stop=stop) for term, origin, stop in words)
    return SearchQuery(text="", language="en", vector=None, words=made, names=names, paths=paths)


def weigh(asked: SearchQuery, rows: dict[str, int], total: int, **changes: Any) -> Any:
    counts = {HASHER.word(word): count for word, count in rows.items()} | {ALL_ROWS: total}
    return weigh_words(asked, counts, HASHER, **({"plan": "p", "expansions": 0.5, "common_share": 0.25} | changes))


def test_weights_are_idf_and_the_mass_is_their_sum() -> None:
    """N = 100: n = 1 → ln(1 + 99.5 / 1.5); n = 50 → ln(1 + 50.5 / 50.5) = ln 2."""
    words, mass, _ = weigh(query(("rare", "query", False), ("common", "query", False)), {"rare": 1, "common": 50}, 100)
    rare, common = math.log(1 + 99.5 / 1.5), math.log(2)
    assert words.idf == pytest.approx({HASHER.word("rare"): rare, HASHER.word("common"): common})
    assert mass == pytest.approx(rare + common)


def test_expansions_weigh_less_and_do_not_count_in_the_mass() -> None:
    asked = query(("cat", "query", False), ("feline", "expansion", False))
    words, mass, _ = weigh(asked, {"cat": 50, "feline": 50}, 100)
    assert words.idf == pytest.approx({HASHER.word("cat"): math.log(2), HASHER.word("feline"): 0.5 * math.log(2)})
    assert mass == pytest.approx(math.log(2))


def test_absent_words_count_in_the_mass() -> None:
    """So that a row with one of two words has about half the share, not all of it. n = 0: ln(1 + 100.5 / 0.5)."""
    words, mass, views = weigh(query(("cat", "query", False), ("unicorn", "query", False)), {"cat": 50}, 100)
    assert mass == pytest.approx(math.log(2) + math.log(202))
    assert HASHER.word("unicorn") not in words.finding
    assert [(view.word, view.use, view.rows) for view in views] == [("cat", "finds", 50), ("unicorn", "absent", 0)]


def test_stop_words_neither_find_nor_score() -> None:
    words, mass, views = weigh(query(("the", "query", True), ("cat", "query", False)), {"the": 90, "cat": 50}, 100)
    assert set(words.idf) == set(words.finding) == {HASHER.word("cat")}
    assert mass == pytest.approx(math.log(2))
    assert [view.use for view in views] == ["stop", "finds"]


def test_a_query_of_stop_words_alone_uses_them() -> None:
    words, mass, views = weigh(query(("what", "query", True), ("is", "query", True)), {"what": 50, "is": 50}, 100)
    assert mass == pytest.approx(2 * math.log(2))
    assert len(words.finding) == 2
    assert [view.use for view in views] == ["finds", "finds"]


def test_common_words_score_but_do_not_find() -> None:
    """Common: in more than a quarter of the rows; yet the three rarest find, whatever they are."""
    counts = {"a1": 10, "b2": 25, "c3": 26, "d4": 30, "e5": 90}
    words, _, views = weigh(query(*((word, "query", False) for word in counts)), counts, 100)
    assert set(words.finding) == {HASHER.word(word) for word in ("a1", "b2", "c3")}
    assert len(words.idf) == 5
    assert [view.use for view in views] == ["finds", "finds", "finds", "scores", "scores"]


def test_finding_words_do_not_depend_on_the_order_of_the_query() -> None:
    counts = {"a1": 40, "b2": 50, "c3": 60, "d4": 70}
    one, _, _ = weigh(query(*((word, "query", False) for word in counts)), counts, 100)
    other, _, _ = weigh(query(*((word, "query", False) for word in reversed(counts))), counts, 100)
    assert one == other


def test_empty_layers() -> None:
    words, mass, views = weigh(query(("cat", "query", False)), {}, 0)
    assert words.finding == ()
    assert mass > 0
    assert views[0].use == "absent"


def test_names_and_paths_are_hashed_under_their_marks() -> None:
    words, _, _ = weigh(query(names=("PlaceOrder",), paths=("app/Orders.py",)), {}, 0)
    assert words.names == (HASHER.name("placeorder"),)
    assert words.paths == (HASHER.path_suffix("app/orders.py"),)


def asked(text: str) -> SearchQuery:
    routing = service.router().route(text)
    return search_query(routing.contract, routing.route, bundle.analyzer(), None)


def test_a_routed_query_gives_names_and_paths() -> None:
    found = asked("What does OrderService.place() in src/app/orders.py:42 do?")
    assert {"OrderService.place", "place"} <= set(found.names)
    assert found.paths == ("src/app/orders.py",)


def test_expansions_come_after_the_words_of_the_query() -> None:
    found = asked("в классе заказа")
    origins = [word.origin for word in found.words]
    assert origins == sorted(origins, key=["query", "expansion"].index)
    assert "class" in {word.term for word in found.words if word.origin == "expansion"}
    assert found.language == "ru"


def test_very_long_queries_are_bounded() -> None:
    assert len(asked(" ".join(f"word{n}x" for n in range(2000))).words) == MAX_WORDS


def test_matched_forms_are_those_of_the_text() -> None:
    found = matched_forms("Посылки ждут; посылку вернут. The cats.", asked("куда идти с посылкой"), bundle.analyzer())
    assert found == ("посылки", "посылку")


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("POST /v1/pickups", "mixed"),
        ("что делает POST /v1/pickups?", "ru"),
        ("what does POST /v1/pickups do?", "en"),
        ("src/orders.py", "mixed"),
        ("order_service", "mixed"),
        ("где OrderService", "ru"),
        ("where is it", "en"),
        ("?!", "mixed"),
    ],
)
def test_names_are_in_no_language(query: str, language: str) -> None:
    contract = service.router().route(query).contract
    assert query_language(contract, bundle.analyzer()) == language
