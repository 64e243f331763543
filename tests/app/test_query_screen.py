"""Screen *Query* without a browser: what it shows, and what it says when something is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app import resources
from ragkit.embedding import Embedder
from ragkit.errors import DatabaseError
from ragkit.service import RagService
from tests.conftest import OpenService

MAIN = Path(resources.__file__).with_name("main.py")


@pytest.fixture(autouse=True)
def _no_answers_of_other_tests() -> Iterator[None]:
    st.cache_data.clear()
    yield
    st.cache_data.clear()


@pytest.fixture
def screen(demo: RagService, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The screen on the demo corpus, not yet run."""
    monkeypatch.setattr(resources, "engine", lambda: demo)
    return AppTest.from_file(str(MAIN), default_timeout=60)


def texts(screen: AppTest) -> str:
    """All that can be read on the screen."""
    kinds = (
        screen.text,
        screen.markdown,
        screen.caption,
        screen.subheader,
        screen.header,
        screen.error,
        screen.warning,
    )
    html = [element.proto.body for element in screen.get("html")]
    frames = [frame.value.to_string() for frame in screen.dataframe]
    return "\n".join([*(str(element.value) for kind in kinds for element in kind), *html, *frames])


def link(screen: AppTest, name: str) -> str:
    """What the address of the page holds under a name."""
    found = screen.query_params[name]
    return found[0] if isinstance(found, list) else found


def ask(screen: AppTest, question: str, **link: str) -> AppTest:
    screen.query_params["q"] = question
    for name, value in link.items():
        screen.query_params[name] = value
    screen.run()
    assert not screen.exception
    return screen


def test_empty_screen_offers_questions(screen: AppTest) -> None:
    screen.run()
    assert not screen.exception
    assert len(screen.button) == 3
    assert not screen.dataframe
    assert link(screen, "session") == "demo"


def test_an_example_is_asked_by_a_click(screen: AppTest) -> None:
    screen.run()
    screen.button[1].click().run()
    assert not screen.exception
    assert screen.text_input[0].value == "POST /v1/pickups"
    assert "docs_summary_api_endpoint" in texts(screen)
    assert screen.dataframe


@pytest.mark.parametrize(
    ("question", "intent", "profile", "path"),
    [
        ("Сколько хранится посылка?", "DOCS_QA", "docs_summary_", "docs/logic/"),
        ("How is an event delivered?", "DOCS_QA", "docs_summary_", "docs/architecture/event-delivery.md"),
        ("Which class in the code is Cell?", "CODE_QA", "code_qa", "src/posterna/domain/locker.py"),
    ],
)
def test_a_question_shows_route_plan_and_rows(
    screen: AppTest, question: str, intent: str, profile: str, path: str
) -> None:
    ask(screen, question)
    shown = texts(screen)
    assert intent in shown
    assert profile in shown
    assert path in shown
    assert screen.code[-1].value  # the text of the first row


def test_signals_filters_and_layers_are_shown(screen: AppTest) -> None:
    shown = texts(ask(screen, "POST /v1/pickups"))
    for part in (
        "API_ENDPOINT",
        "endpoint_paths holds “/v1/pickups”",
        "path_prefixes = docs/api/, docs/",
        "target_doc_hints = docs/api/openapi.yaml",  # an operation of this title is in the catalog
        "prefer_like_patterns = %openapi.yaml%, %/v1/pickups%",
        "`D1_DOCUMENT_CATALOG` → `D2_FACT_INDEX` → `D0_DOC_CHUNKS`",
    ):
        assert part in shown


def test_anchors_are_marked_in_place(screen: AppTest) -> None:
    ask(screen, "what does PickupCode do")
    (marked,) = [element.proto.body for element in screen.get("html")]
    assert ">PickupCode<sup>symbol</sup></mark> do</div>" in marked


def test_hostile_question_is_text(screen: AppTest) -> None:
    hostile = "<script>alert(1)</script> ![x](http://example.org/x.png) parcel"
    ask(screen, hostile)
    (marked,) = [element.proto.body for element in screen.get("html")]
    assert "<script>" not in marked
    assert "&lt;script&gt;" in marked
    for element in screen.markdown:
        assert "![x]" not in str(element.value)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("session", "gone", "session 'gone'"), ("policy", "gone", "policy 'gone'")],
)
def test_a_link_to_something_unknown_is_told(screen: AppTest, name: str, value: str, told: str) -> None:
    ask(screen, "parcel", **{name: value})
    assert any(told in warning.value for warning in screen.warning)
    assert link(screen, name) == {"session": "demo", "policy": "spec"}[name]
    assert screen.dataframe


def test_language(screen: AppTest) -> None:
    ask(screen, "Сколько хранится посылка?", lang="ru")
    assert "Намерение" in texts(screen) or "намерение" in texts(screen).lower()
    assert screen.text_input[0].label == "Вопрос"


def test_limit(screen: AppTest) -> None:
    ask(screen, "посылка", limit="2")
    assert len(screen.dataframe[0].value) == 2
    assert "2 rows of 2 at most" in texts(screen)


@pytest.mark.parametrize("limit", ["0", "-5", "many", "99999999999999999999"])
def test_wrong_limit_in_the_link(screen: AppTest, limit: str) -> None:
    """A link is input like any other."""
    ask(screen, "посылка", limit=limit)
    assert screen.dataframe
    assert any(f"'{limit}'" in warning.value for warning in screen.warning)


def test_wrong_language_in_the_link(screen: AppTest) -> None:
    ask(screen, "посылка", lang="de")
    assert any("'de'" in warning.value for warning in screen.warning)
    assert screen.dataframe


def test_back_asks_the_question_of_the_address(screen: AppTest) -> None:
    """Back changes the address and runs the screen again; the box must follow it, not keep what was typed."""
    ask(screen, "POST /v1/pickups", row="2")
    screen.text_input[0].set_value("How is an event delivered?").run()
    assert link(screen, "q") == "How is an event delivered?"
    assert "row" not in screen.query_params
    assert "docs/architecture/event-delivery.md" in texts(screen)
    ask(screen, "POST /v1/pickups")
    assert screen.text_input[0].value == "POST /v1/pickups"
    assert "docs_summary_api_endpoint" in texts(screen)


def test_nothing_indexed(database_url: str, open_service: OpenService, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_service(database_url)
    monkeypatch.setattr(resources, "engine", lambda: engine)
    screen = AppTest.from_file(str(MAIN), default_timeout=60).run()
    assert not screen.exception
    assert screen.header[0].value == "Nothing is indexed yet"
    assert "ragkit index" in screen.code[0].value


def test_database_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> RagService:
        raise DatabaseError("database_unreachable", server="h:1/d", problem="refused")

    monkeypatch.setattr(resources, "engine", fail)
    screen = AppTest.from_file(str(MAIN), default_timeout=60).run()
    assert not screen.exception
    (error,) = screen.error
    assert error.value.startswith("The database at h:1/d cannot be reached (refused)")


def test_session_of_another_embedder_is_told(
    demo_url: str, open_service: OpenService, monkeypatch: pytest.MonkeyPatch, embedder: Embedder
) -> None:
    engine = open_service(demo_url)
    monkeypatch.setattr(resources, "engine", lambda: engine)
    screen = ask(AppTest.from_file(str(MAIN), default_timeout=60), "parcel")
    (error,) = screen.error
    assert embedder.fingerprint in error.value
