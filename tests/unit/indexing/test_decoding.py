from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.indexing.decoding import Undecoded, blob_sha, decode

RUSSIAN = "Заказ хранится семь дней, после чего он возвращается на склад отправителя.\n"


def test_blob_sha_is_what_git_says() -> None:
    # `printf 'hello\n' | git hash-object --stdin`
    assert blob_sha(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert blob_sha(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@pytest.mark.parametrize(
    "content",
    [
        RUSSIAN.encode(),
        codecs.BOM_UTF8 + RUSSIAN.encode(),
        codecs.BOM_UTF16_LE + RUSSIAN.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + RUSSIAN.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + RUSSIAN.encode("utf-32-le"),
        RUSSIAN.replace("\n", "\r\n").encode(),
        RUSSIAN.replace("\n", "\r").encode(),
        RUSSIAN.encode("cp1251"),
        RUSSIAN.encode("koi8-r"),
        RUSSIAN.encode("cp866"),
    ],
)
def test_known_encodings(content: bytes) -> None:
    assert decode(content) == RUSSIAN


def test_western_text_is_detected() -> None:
    text = "# Author: José Núñez\nimport os\n\ndef f(a, b):\n    return a + b\n"
    assert decode(text.encode("cp1252")) == text


def test_cookie_counts_in_python_alone() -> None:
    content = "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1")
    assert decode(content, python=True) == "# -*- coding: latin-1 -*-\nname = 'é'\n"
    assert decode(b"# coding: rot13\n\xff\xfe\xfd", python=True) == Undecoded(reason="undecodable")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a\0b", "binary"),
        (codecs.BOM_UTF16_LE + "a\0b".encode("utf-16-le"), "binary"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8", "undecodable"),
        (bytes(range(128, 256)) * 8, "undecodable"),
    ],
)
def test_no_text(content: bytes, reason: str) -> None:
    assert decode(content) == Undecoded(reason=reason)  # type: ignore[arg-type]


@given(st.binary(max_size=300))
def test_any_bytes_give_text_without_carriage_returns_or_a_reason(content: bytes) -> None:
    text = decode(content, python=True)
    assert isinstance(text, Undecoded) or not set("\r\0") & set(text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff")))
def test_utf8_survives(text: str) -> None:
    assert decode(text.encode("utf-8")) == text
