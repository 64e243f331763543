"""Phrases of the rule files: what a cue looks for in a question, matched by stems so that every inflected form counts.

A phrase is a line of elements:

    где .. реализован|объявлен      words match by stem, `|` separates alternatives, `..` is a gap of up to GAP items,
                                    `...` one of up to LONG_GAP
    =документы                      this very form, whatever its case
    ^fix                            at the start of a sentence (words of politeness in front do not count)
    @doc_noun                       any word of a named list
    {symbol}                        an anchor, version, number, Russian infinitive, language (see ITEM_KINDS)
    ?the                            may be missing
    !ошибк                          the next item is none of these (takes no item itself)

Regular expressions were rejected: they know no inflection, and a person who disagrees with a route should be able to
read the cue. A match never crosses the end of a sentence. Matching costs one dictionary look-up an item and the few
phrases that begin with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ragkit.errors import InvalidInput
from ragkit.messages import Span
from ragkit.text import Analyzer

GAP = 6
LONG_GAP = 12
"""Items that `..` and `...` may pass over."""

ITEM_KINDS = (
    "symbol",
    "source_path",
    "doc_path",
    "data_path",
    "folder",
    "endpoint",
    "doc_ref",
    "stack_trace",
    "version",
    "number",
    "infinitive",
    "language",
    "code_block",
    "known_name",
    "documented",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A word of the question, or an anchor that stands in for its words."""

    start: int
    end: int
    keys: frozenset[str]
    """Terms of the word, `=form` for its folded form, `{kind}` for an anchor."""
    opens: bool
    """First of its sentence, words of politeness in front not counted."""
    breaks: bool
    """A sentence ended before it."""


@dataclass(frozen=True, slots=True)
class _Element:
    keys: frozenset[str]
    gap: int = 0
    optional: bool = False
    negative: bool = False
    opens: bool = False

    def fits(self, item: Item) -> bool:
        return not self.keys.isdisjoint(item.keys) and (item.opens or not self.opens)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One line of a rule file, ready to match."""

    text: str
    elements: tuple[_Element, ...]

    @property
    def first_keys(self) -> frozenset[str]:
        """Keys of the element that every match begins with."""
        return self.elements[0].keys

    def end_of(self, items: tuple[Item, ...], at: int) -> int | None:
        """Index after the last item of the shortest match that starts at `items[at]`; None without one."""
        return self._end(items, at, 0, first=True)

    def _end(self, items: tuple[Item, ...], at: int, element: int, *, first: bool = False) -> int | None:
        if element == len(self.elements):
            return at
        wanted = self.elements[element]
        inside = at < len(items) and (first or not items[at].breaks)
        if wanted.negative:
            return None if inside and wanted.fits(items[at]) else self._end(items, at, element + 1)
        if wanted.gap:
            return self._after_gap(items, at, element + 1, wanted.gap)
        if inside and wanted.fits(items[at]):
            end = self._end(items, at + 1, element + 1)
            if end is not None:
                return end
        return self._end(items, at, element + 1) if wanted.optional else None

    def _after_gap(self, items: tuple[Item, ...], at: int, element: int, gap: int) -> int | None:
        for start in range(at, min(at + gap, len(items) - 1) + 1):
            if start > at and items[start - 1].breaks:
                return None
            end = self._end(items, start, element)
            if end is not None:
                return end
        return None


def parse_phrase(text: str, lists: Mapping[str, tuple[str, ...]], analyzer: Analyzer) -> Phrase:
    """The phrase that a line of a rule file describes; `lists` are the named lists of words.

    Raises: InvalidInput naming the line when it is empty, starts or ends with a gap, or names an unknown list or kind.
    """
    elements = tuple(_element(part, text, lists, analyzer) for part in text.split())
    if not elements or elements[0].gap or elements[0].optional or elements[0].negative or elements[-1].gap:
        raise InvalidInput(
            "phrase", phrase=text, problem="it must begin with a word or an anchor and not end with a gap"
        )
    return Phrase(text=text, elements=elements)


def _element(part: str, phrase: str, lists: Mapping[str, tuple[str, ...]], analyzer: Analyzer) -> _Element:
    if part in ("..", "..."):
        return _Element(keys=frozenset(), gap=GAP if part == ".." else LONG_GAP)
    marks = part[: len(part) - len(part.lstrip("^?!"))]
    keys = frozenset(key for word in part[len(marks) :].split("|") for key in _keys(word, phrase, lists, analyzer))
    return _Element(keys=keys, optional="?" in marks, negative="!" in marks, opens="^" in marks)


def _keys(word: str, phrase: str, lists: Mapping[str, tuple[str, ...]], analyzer: Analyzer) -> Iterator[str]:
    if word.startswith("@"):
        if word[1:] not in lists:
            raise InvalidInput("phrase", phrase=phrase, problem=f"no list {word}")
        for member in lists[word[1:]]:
            yield from _keys(member, phrase, lists, analyzer)
    elif word.startswith("{"):
        if word[1:-1] not in ITEM_KINDS:
            raise InvalidInput("phrase", phrase=phrase, problem=f"no anchor {word}")
        yield word
    elif word.startswith("="):
        yield "=" + word[1:].casefold().replace("ё", "е")
    elif word:
        terms = analyzer.terms(word)
        if not terms:
            raise InvalidInput("phrase", phrase=phrase, problem=f"no word in {word!r}")
        yield terms[0]
    else:
        raise InvalidInput("phrase", phrase=phrase, problem="an empty alternative")


class PhraseTable:
    """Phrases of several owners (cues, key terms, switch phrases), found together in one pass."""

    def __init__(self, phrases: Iterable[tuple[str, Phrase]]) -> None:
        """`phrases`: (owner, phrase); the order is that of equal matches."""
        self._by_key: dict[str, dict[int, tuple[str, Phrase]]] = {}
        for order, (owner, phrase) in enumerate(phrases):
            for key in phrase.first_keys:
                self._by_key.setdefault(key, {})[order] = (owner, phrase)

    def matches(self, items: tuple[Item, ...]) -> tuple[tuple[str, Span, tuple[int, int]], ...]:
        """(owner, span of the raw text, items from–to) of every match, by place, then in the order of the table."""
        found: list[tuple[str, Span, tuple[int, int]]] = []
        for at, item in enumerate(items):
            candidates: dict[int, tuple[str, Phrase]] = {}
            for key in item.keys:
                rows = self._by_key.get(key)
                if rows is not None:
                    candidates.update(rows)
            for order in sorted(candidates) if len(candidates) > 1 else candidates:
                owner, phrase = candidates[order]
                end = phrase.end_of(items, at)
                if end is not None and end > at:
                    found.append((owner, Span(start=item.start, end=items[end - 1].end), (at, end)))
        return tuple(found)
