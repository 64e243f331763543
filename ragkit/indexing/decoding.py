"""Bytes to text: byte order marks, UTF-8, Python's coding cookie, then a detector that has to be sure.

A wrong guess is worse than a file left out, because its text would be shown and cited: that is why the detector may
only choose among the encodings that sources are really written in, and must find a language in the result.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass
from typing import Literal

import charset_normalizer

DecodingFailure = Literal["binary", "undecodable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecoded:
    """Why bytes gave no text."""

    reason: DecodingFailure


_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 first: its little-endian mark begins with that of UTF-16."""

_CANDIDATES = ["cp1251", "koi8_r", "cp866", "cp1252", "shift_jis", "gb18030", "euc_kr", "big5"]
_MAX_CHAOS = 0.2
_MIN_COHERENCE = 0.1
"""charset-normalizer's own scales, 0–1: noise of the characters, likeness to a language."""
_SAMPLE_BYTES = 32_768

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
"""PEP 263."""


def decode(content: bytes, *, python: bool = False) -> str | Undecoded:
    """The text of a file, with `\\n` between lines and without a byte order mark; or why there is none.

    `python` lets a coding cookie in the first two lines speak (PEP 263).
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _strict(content[len(mark) :], encoding)
    if b"\0" in content:
        return Undecoded(reason="binary")
    text = _strict(content, "utf-8")
    if isinstance(text, str):
        return text
    return _strict(content, (_cookie(content) if python else None) or _detected(content))


def blob_sha(content: bytes) -> str:
    """SHA-1 as git counts it: of `blob <size>\\0<bytes>`, in hexadecimal."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _strict(content: bytes, encoding: str | None) -> str | Undecoded:
    if encoding is None:
        return Undecoded(reason="undecodable")
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError, ValueError):
        return Undecoded(reason="undecodable")
    if "\0" in text:
        return Undecoded(reason="binary")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _cookie(content: bytes) -> str | None:
    for line in content.split(b"\n", 2)[:2]:
        match = _COOKIE.match(line)
        if match:
            name = match[1].decode("ascii")
            try:
                info = codecs.lookup(name)
            except LookupError:
                return None
            # rot13, zip and their kind turn text into text or bytes into bytes: they are no encodings of a file.
            return name if getattr(info, "_is_text_encoding", True) else None
    return None


def _detected(content: bytes) -> str | None:
    match = charset_normalizer.from_bytes(_sample(content), cp_isolation=_CANDIDATES, enable_fallback=False).best()
    if match is None or match.chaos > _MAX_CHAOS or match.coherence < _MIN_COHERENCE:
        return None
    return match.encoding


def _sample(content: bytes) -> bytes:
    """Whole lines that hold something but ASCII, up to a bound: plain ASCII would only dilute the evidence."""
    if len(content) <= _SAMPLE_BYTES:
        return content
    chosen: list[bytes] = []
    size = 0
    for line in content.split(b"\n"):
        if not line.isascii():
            chosen.append(line[:_SAMPLE_BYTES])
            size += len(line)
            if size > _SAMPLE_BYTES:
                break
    return b"\n".join(chosen)
