from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.routing.normalize import code_spans, normalize, well_formed

# Characters that the rules speak of, so that hypothesis meets them often.
PIECES = st.sampled_from(
    [
        "`",
        "``",
        "```",
        " ",
        "  ",
        "\n",
        "\t",
        "«",
        "»",
        "“",
        "’",
        "—",
        "–",
        "\u200b",
        "\u00ad",
        "\u0301",
        "\u1fef",
        "a",
        "я",
        "й",
        "и\u0306",
        "a_b",
        "a/b",
        ".",
        "\x00",
        "\x1c",
        "\u00a0",
        "\u202e",
        "(",
        "()",
        "\ufeff",
        "©",
        "ß",
        "İ",
        "\u2028",
        "K",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@pytest.mark.parametrize(
    ("raw", "normalized"),
    [
        ("  Где   лежит\n«Регламент» ? ", 'Где лежит "Регламент" ?'),
        ("a — b – c", "a - b - c"),
        ("обра\u00adбот\u200bка", "обработка"),
        ("и\u0306од", "йод"),
        ("see `x  —  y` and  z", "see `x  —  y` and z"),
        ("```py\na  =  1\n```\n  why", "```py\na  =  1\n``` why"),
        ("«docs/план–график.md»", '"docs/план–график.md"'),
        ("it’s", "it's"),
        ("\u200b", ""),
    ],
)
def test_normalized_form(raw: str, normalized: str) -> None:
    assert normalize(raw) == normalized


@given(TEXTS)
def test_twice_is_once(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@given(TEXTS)
def test_never_gains_a_token(text: str) -> None:
    assert len(normalize(text).split()) <= len(text.split())


@given(TEXTS)
def test_code_spans_stay(text: str) -> None:
    normalized = normalize(text)
    for start, end in code_spans(text):
        assert text[start:end].strip() in normalized


@given(st.text(alphabet=st.characters(codec=None)))
def test_well_formed_text_can_be_encoded(text: str) -> None:
    well_formed(text).encode("utf-8")


def test_surrogates() -> None:
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\ud83d\ude00") == "😀"
