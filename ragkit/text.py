"""One analysis of text for router, index, query and highlighting: tokens with spans, and the terms that each gives.

The same `Analyzer` reads documents and questions, so a term means the same on both sides. Words are stemmed by Snowball
(Russian or English, by the script of the word); identifiers and paths give the whole and their parts. pymorphy3 was
rejected: equal on search quality, three hundred times slower on new words; what Snowball splits wrongly is corrected by
`stems.toml`. Postgres' own parser was rejected too: it keeps paths whole and never splits CamelCase.

Doors: the index and the query call `terms`; the router and highlighting call `tokens`. Nothing here reads a file: the
data comes as text to `Analyzer.parse`. All passes are linear in the length of the text.
"""

from __future__ import annotations

import re
import threading
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, cast

import Stemmer

from ragkit.errors import InvalidInput

ANALYSIS_VERSION: int = 2
"""Raised whenever the same text would give other terms; part of the pipeline version and of every session."""

TextLanguage = Literal["ru", "en", "mixed"]

MAX_TERM_CHARS = 160
"""A longer word counts by its first code points; a longer path or dotted name has parts but no whole."""

_CACHED_WORDS = 1 << 17
_CACHED_CHARS = 64
"""Longer words are rare, and would fill the cache with logs and keys."""

_WORD = r"\w[\w\u0300-\u036f\u00ad\u200d\u2060\ufeff]*+"
# Combining marks, soft hyphens and invisible joiners stand inside a word. Possessive throughout: nothing backtracks.
_COMPOUND = re.compile(rf"{_WORD}(?:(?:[-.'’]|[/\\]{{1,2}}){_WORD})*+")
_INVISIBLE = re.compile("[\u00ad\u200d\u2060\ufeff]")
_WEAK_JOINT = re.compile(r"[-'’]")
_SEPARATOR = re.compile(r"[/\\]+")
_PART = re.compile(r"[-.]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_PIECE = re.compile(r"U+(?!L)D*|U?L+D*|D+(?:U+(?!L)|L+)?")
_DIGIT_TAIL = re.compile(r"\d++$")
_PLAIN_WORD = re.compile(r"(?<![\w./\\:@-])[^\W\d_]+(?![\w/\\@]|[.:]\w)")

_RUSSIAN_FROM = 0.65
_ENGLISH_UPTO = 0.15
"""Shares of Cyrillic letters in plain words; between them a text is mixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word, identifier, dotted name, kebab word, file name or path of a text."""

    text: str
    """As written: `source[start:end] == text`."""
    start: int
    """Code points from the start of the source."""
    end: int
    terms: tuple[str, ...]
    """What index and query both use, the whole first, no duplicates; never empty."""


class _Stemmer(Protocol):
    """What is used of PyStemmer, which has no types."""

    def stemWord(self, word: str) -> str: ...


class Analyzer:
    """Turns text into tokens and terms. Shared by threads: it holds data and caches only."""

    def __init__(self, *, stems: Mapping[str, str], stop_words: frozenset[str]) -> None:
        """`stems`: folded word → stem, for words that Snowball gets wrong; `stop_words`: unstemmed, any case."""
        self._exceptions = dict(stems)
        self._local = threading.local()
        self._stem = lru_cache(maxsize=_CACHED_WORDS)(self._stem_of)
        self._terms = lru_cache(maxsize=_CACHED_WORDS)(self._terms_of)
        self._stop_words = frozenset(self.stem(word) for word in stop_words)

    @classmethod
    def parse(cls, stems_toml_text: str) -> Analyzer:
        """The analyzer that `stems.toml` describes.

        Raises: InvalidInput when the text is no TOML or lacks `[stems]` or `[stop_words]`.
        """
        try:
            document = tomllib.loads(stems_toml_text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput("data_file", file="stems.toml", key="", found=str(error)) from error
        stems = {_fold(word): stem for stem, words in _lists(document, "stems").items() for word in words}
        words = _lists(document, "stop_words")
        return cls(stems=stems, stop_words=frozenset(word for row in words.values() for word in row))

    def tokens(self, text: str) -> tuple[Token, ...]:
        """Tokens in the order of the text; they never overlap. Spans are in code points of `text`."""
        return tuple(
            Token(text=raw, start=start, end=start + len(raw), terms=terms)
            for raw, start in _compounds(text)
            if (terms := self._terms_cached(raw))
        )

    def terms(self, text: str) -> list[str]:
        """All terms in order, with repeats; stop words stay. What BM25 counts, in index and query alike."""
        terms: list[str] = []
        for raw, _ in _compounds(text):
            terms.extend(self._terms_cached(raw))
        return terms

    def term_counts(self, text: str) -> dict[str, int]:
        """Term → how often it stands in `terms(text)`, in the order in which they come first."""
        # The same compounds come again and again: counting them first costs half of what `terms` does.
        compounds = _COMPOUND.findall(text) if text.isascii() else [raw for raw, _ in _compounds(text)]
        counts: dict[str, int] = {}
        for raw, count in Counter(compounds).items():
            for term in self._terms_cached(raw):
                counts[term] = counts.get(term, 0) + count
        return counts

    def stem(self, word: str) -> str:
        """The term of one plain word: folded, then stemmed by its script; anything but letters is only folded."""
        return self._stem(word) if len(word) <= _CACHED_CHARS else self._stem_of(word)

    def split_identifier(self, name: str) -> tuple[str, ...]:
        """Folded words of an identifier, unstemmed, in order.

        Digits stay with the letters before them: `HTTPServer2` → `http`, `server2`; `sha256sum` → `sha256`, `sum`.
        The plural of an abbreviation is one word: `URLs` → `urls`.
        """
        return tuple(piece for part in _PART.split(name) for piece in _pieces(part))

    def is_stop_word(self, term: str) -> bool:
        """Whether a term (or a word in any form) says nothing by itself."""
        return term in self._stop_words or self.stem(term) in self._stop_words

    def language(self, text: str) -> TextLanguage:
        """By the share of Cyrillic letters among plain words; paths, identifiers and addresses do not count.

        No letters at all: `en`.
        """
        russian = latin = 0
        for match in _PLAIN_WORD.finditer(text):
            word = match[0]
            if word.isascii():
                latin += len(word)
            elif _CYRILLIC.search(word):
                russian += len(word)
        share = russian / max(1, russian + latin)
        if share >= _RUSSIAN_FROM:
            return "ru"
        return "en" if share <= _ENGLISH_UPTO else "mixed"

    def _terms_cached(self, raw: str) -> tuple[str, ...]:
        return self._terms(raw) if len(raw) <= _CACHED_CHARS else self._terms_of(raw)

    def _terms_of(self, raw: str) -> tuple[str, ...]:
        """Terms of a compound: the whole, each path segment, the file's stem, then words and identifier parts."""
        clean = unicodedata.normalize("NFC", _INVISIBLE.sub("", raw)).replace("’", "'")
        segments = [segment for segment in _SEPARATOR.split(clean) if segment]
        found: dict[str, None] = {}
        if len(segments) > 1 and len(clean) <= MAX_TERM_CHARS:
            found[_fold("/".join(segments))] = None
        for segment in segments:
            for term in self._segment_terms(segment):
                found[term] = None
        return tuple(found)

    def _segment_terms(self, segment: str) -> Iterator[str]:
        """Of a name without path separators: `main.py`, `asyncio.gather`, `retry-policy`, `2.3.1`, `e.g`, a word."""
        parts = _PART.split(segment)
        if len(parts) == 1:
            yield from self._word_terms(segment)
            return
        if len(segment) <= MAX_TERM_CHARS:
            yield self._whole(segment, parts)
        if all(part.isdigit() for part in parts) or all(len(part) == 1 for part in parts):
            return
        stem, dot, _ = segment.rpartition(".")
        if dot and _PART.search(stem) and len(segment) <= MAX_TERM_CHARS:
            yield _fold(stem)
        for part in parts:
            yield from self._word_terms(part)

    def _whole(self, segment: str, parts: list[str]) -> str:
        # A hyphenated Russian word is inflected at its end («юнит-тестами»), an identifier never is.
        if "." not in segment and _CYRILLIC.search(segment):
            return "-".join(self.stem(part) for part in parts)
        return _fold(segment)

    def _word_terms(self, word: str) -> Iterator[str]:
        if len(word) > MAX_TERM_CHARS:
            yield _fold(word[:MAX_TERM_CHARS])
            return
        pieces = _pieces(word)
        folded = _fold(word)
        if pieces != (folded,) or not word.isalpha():
            if pieces and "'" not in word:
                yield folded
            elif pieces:
                yield self.stem(word)
                return
        for piece in pieces:
            yield self.stem(piece)
            letters = _DIGIT_TAIL.sub("", piece)
            if letters != piece and len(letters) > 1:
                yield self.stem(letters)

    def _stem_of(self, word: str) -> str:
        folded = _fold(word)
        known = self._exceptions.get(folded)
        if known is not None:
            return known
        if not folded.replace("'", "").isalpha():
            return folded
        if _CYRILLIC.search(folded):
            return self._stemmer("russian").stemWord(folded)
        return self._stemmer("english").stemWord(folded) if _LATIN.search(folded) else folded

    def _stemmer(self, language: Literal["russian", "english"]) -> _Stemmer:
        # A PyStemmer object is not safe to share between threads.
        stemmer = cast("_Stemmer | None", getattr(self._local, language, None))
        if stemmer is None:
            stemmer = cast("_Stemmer", Stemmer.Stemmer(language, 0))
            setattr(self._local, language, stemmer)
        return stemmer


def _compounds(text: str) -> Iterator[tuple[str, int]]:
    """Each compound as written, and where it starts; scripts that meet at a hyphen or apostrophe are parted."""
    for match in _COMPOUND.finditer(text):
        raw, start = match[0], match.start()
        if raw.isascii() or not _WEAK_JOINT.search(raw) or not (_CYRILLIC.search(raw) and _LATIN.search(raw)):
            yield raw, start
        else:
            yield from _parted(raw, start)


def _parted(raw: str, start: int) -> Iterator[tuple[str, int]]:
    """`orchestrator.py-файле` → `orchestrator.py`, `файле`: an ending or a Russian word is no part of the name."""
    begin = previous = 0
    cyrillic: bool | None = None
    for joint in (*_WEAK_JOINT.finditer(raw), None):
        end = joint.start() if joint else len(raw)
        part = raw[previous:end]
        now = True if _CYRILLIC.search(part) else False if _LATIN.search(part) else cyrillic
        if cyrillic is not None and now != cyrillic:
            yield raw[begin : previous - 1], start + begin
            begin = previous
        cyrillic = now
        previous = end + 1
    yield raw[begin:], start + begin


def _pieces(word: str) -> tuple[str, ...]:
    if len(word) > MAX_TERM_CHARS:
        return (_fold(word),)
    if word.islower() and word.isalpha():
        return (_fold(word),)
    if len(word) > 2 and word[-1] == "s" and word[:-1].isupper() and word[:-1].isalpha():
        return (_fold(word),)
    classes = "".join(_class_of(char) for char in word)
    return tuple(_fold(word[match.start() : match.end()]) for match in _PIECE.finditer(classes))


def _class_of(char: str) -> str:
    if char.isupper():
        return "U"
    if char.isdigit():
        return "D"
    return "_" if char in "_'" else "L"


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).replace("ё", "е")


def _lists(document: Mapping[str, object], table: str) -> dict[str, list[str]]:
    rows = document.get(table)
    if not isinstance(rows, dict):
        raise InvalidInput("data_file", file="stems.toml", key=table, found="no table")
    return {key: _words(value, f"{table}.{key}") for key, value in cast("dict[str, object]", rows).items()}


def _words(value: object, key: str) -> list[str]:
    if not isinstance(value, list):
        raise InvalidInput("data_file", file="stems.toml", key=key, found=str(value))
    words = cast("list[object]", value)
    if not all(isinstance(word, str) for word in words):
        raise InvalidInput("data_file", file="stems.toml", key=key, found="something else than words")
    return cast("list[str]", words)
