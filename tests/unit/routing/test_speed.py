"""Generous upper bounds: ten times what was measured, so that a slow machine passes and a quadratic rule does not."""

from __future__ import annotations

import time

import pytest

from ragkit.routing.router import IntentRouter

SIZE = 100_000


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        '"',
        "/",
        ".",
        "\\",
        "«",
        "(",
        "@a",
        "a.",
        "a/",
        "a(",
        "--",
        'File "',
        "GET /",
        "a_",
        "[",
        "§",
        "http://",
        "1.",
        "at a(",
        'раздел "',
        "from a import ",
        "::",
        "a[",
        "word ",
        "слово-",
        "класс ",
        "где ",
        "A",
        "\n",
        "é",
        "C:\\",
        "a@",
    ],
    ids=ascii,
)
def test_long_queries_take_linear_time(router: IntentRouter, piece: str) -> None:
    query = "x" + (piece * SIZE)[:SIZE]
    started = time.thread_time()
    router.route(query)
    assert time.thread_time() - started < 1.0


def test_a_usual_question_is_routed_in_milliseconds(router: IntentRouter) -> None:
    query = "Почему метод close у класса PoolManager вызывается дважды в src/pool/manager.py?"
    router.route(query)
    started = time.thread_time()
    for _ in range(50):
        router.route(query)
    assert (time.thread_time() - started) / 50 < 0.01
