"""Names that a session knows, found in a query: immutable, lemma-aware, longest match first. Spec: system.md §2.

A name's normal form is the sequence of its stemmed words, identifiers split, so `OrderService`, `order_service` and
"order services" meet. Single words decide nothing by themselves unless the catalog shows that they are telling:

* a title, heading, alias, entity or domain of one word counts when the word is no stop word, has three letters or
  more, and stands in at most COMMON_NAMES names of the catalog; a heading of one word never counts;
* a name of several words needs two that are no stop words (a title or alias: one is enough if it is telling);
* a symbol counts when it is written as in the catalog and has the shape of a name (a capital, `_` or a dot), or when
  all of its two or more words follow each other;
* a file counts when its name with the extension is written.

`matches` costs a dictionary look-up for each word of the query and each length of the names that begin with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ragkit.text import Analyzer, Token

CatalogKind = Literal["module_id", "title", "entity", "alias", "domain", "subdomain", "heading", "symbol", "file"]
KINDS: tuple[CatalogKind, ...] = get_args(CatalogKind)
"""In the order in which candidates of one name are listed."""

MAX_NAME_WORDS = 12
COMMON_NAMES = 8
"""A word that more names than this contain does not tell one from another."""

_MIN_LETTERS = 3
_DOCUMENT_KINDS: frozenset[CatalogKind] = frozenset({"title", "heading", "module_id"})
_VALUE_KINDS: frozenset[CatalogKind] = frozenset({"domain", "subdomain", "module_id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A name of the session."""

    kind: CatalogKind
    name: str
    """As written in the source."""
    target: str
    """Public id, or the value (of a domain)."""
    source_path: str
    """File that declares it."""
    declared: bool = False
    """Of a domain or subdomain: front matter says so; not guessed from a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogMatch:
    """A name that stands in the query, with all that it may mean."""

    start: int
    end: int
    """Code points of the query."""
    entries: tuple[CatalogEntry, ...]
    """By kind in the order of KINDS, declared first, then by source path, target and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """Entries of one normal form."""

    always: tuple[CatalogEntry, ...]
    """Meant in any spelling."""
    written: tuple[CatalogEntry, ...]
    """Symbols and files of one word: meant where they are written as in the catalog."""

    def in_words(self, tokens: tuple[Token, ...]) -> tuple[CatalogEntry, ...]:
        if not self.written or len(tokens) != 1:
            return self.always
        word = tokens[0].text
        exact = tuple(entry for entry in self.written if _is_written(entry, word))
        return tuple(sorted((*self.always, *exact), key=_order)) if exact else self.always


class CatalogMatcher:
    """All names of one revision of a session. Immutable, shared by threads."""

    def __init__(self, entries: Iterable[CatalogEntry], analyzer: Analyzer) -> None:
        """`entries` in any order; equal ones count once."""
        ordered = sorted(set(entries), key=_order)
        self._analyzer = analyzer
        self._by_form = self._forms(ordered)
        self._names_with = Counter(word for form in self._by_form for word in set(form.split(" ")))
        self._names = {form: names for form, same in self._by_form.items() if (names := self._telling(form, same))}
        self._lengths = _lengths(self._names)
        self._entities = {entry.target: entry.name for entry in reversed(ordered) if entry.kind == "entity"}
        self._paths = _paths(ordered)
        self._documents = frozenset(entry.source_path for entry in ordered if entry.kind in _DOCUMENT_KINDS)
        self.symbol_names = frozenset(entry.name for entry in ordered if entry.kind == "symbol")
        """Symbols as written, for exact recognition."""
        self.documented_names = frozenset(self._words_as_written(ordered))
        """Words of titles and headings as written, dotted names also by their last part: what documents speak of."""

    def _forms(self, ordered: list[CatalogEntry]) -> dict[str, tuple[CatalogEntry, ...]]:
        """Normal form → its entries in the stated order."""
        forms: dict[str, list[CatalogEntry]] = {}
        for entry in ordered:
            words = self._words_of(entry.name)
            if 0 < len(words) <= MAX_NAME_WORDS:
                forms.setdefault(" ".join(words), []).append(entry)
        return {form: tuple(same) for form, same in forms.items()}

    def _words_as_written(self, entries: Iterable[CatalogEntry]) -> Iterator[str]:
        for entry in entries:
            if entry.kind in ("title", "heading"):
                for token in self._analyzer.tokens(entry.name):
                    yield token.text
                    yield token.text.rpartition(".")[2]

    def _telling(self, form: str, same: tuple[CatalogEntry, ...]) -> _Names | None:
        """What a form means by the rule in the module's docstring: in any spelling, and only as written."""
        content = [word for word in form.split(" ") if not self._analyzer.is_stop_word(word)]
        several = len(content) > 1
        single = len(content) == 1 and self._is_telling(content[0])
        always: list[CatalogEntry] = []
        written: list[CatalogEntry] = []
        for entry in same:
            if entry.kind == "file" or (entry.kind == "symbol" and not several):
                written.append(entry)
            elif several or (single and entry.kind != "heading") or (content and entry.kind in _VALUE_KINDS):
                always.append(entry)
        return _Names(always=tuple(always), written=tuple(written)) if always or written else None

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._by_form.values())

    def matches(self, tokens: tuple[Token, ...]) -> tuple[CatalogMatch, ...]:
        """Names in the query by place; of names that overlap the one of more words stays, then the earlier."""
        words, owner = self._query_words(tokens)
        found: list[tuple[int, int, tuple[CatalogEntry, ...]]] = []
        for at, word in enumerate(words):
            if at and owner[at - 1] == owner[at]:
                continue
            for length in self._lengths.get(word, ()):
                end = at + length
                if end > len(words) or (end < len(words) and owner[end] == owner[end - 1]):
                    continue
                names = self._names.get(" ".join(words[at:end]))
                if names is None:
                    continue
                telling = names.in_words(tokens[owner[at] : owner[end - 1] + 1])
                if telling:
                    found.append((at, end, telling))
                    break
        return tuple(
            CatalogMatch(start=tokens[owner[at]].start, end=tokens[owner[end - 1]].end, entries=entries)
            for at, end, entries in _longest(found)
        )

    def named(self, name: str) -> tuple[CatalogEntry, ...]:
        """Every entry of exactly this name, in any inflected form; common words count here."""
        return self._by_form.get(" ".join(self._words_of(name)), ())

    def paths_of(self, path: str) -> tuple[str, ...]:
        """Indexed paths that end with the segments of `path`, sorted; case does not count."""
        wanted = path.replace("\\", "/").strip("/").removeprefix("./").lower()
        candidates = self._paths.get(wanted.rpartition("/")[2], ())
        return tuple(found for found in candidates if ("/" + found.lower()).endswith("/" + wanted))

    def entity_name(self, target: str) -> str | None:
        """The name of the entity with this public id."""
        return self._entities.get(target)

    def is_document(self, path: str) -> bool:
        """Whether the file has a title or headings in the index."""
        return path in self._documents

    def _query_words(self, tokens: tuple[Token, ...]) -> tuple[list[str], list[int]]:
        """Stemmed words in order, and the token that each belongs to."""
        words: list[str] = []
        owner: list[int] = []
        for place, token in enumerate(tokens):
            for word in self._words_of_token(token):
                words.append(word)
                owner.append(place)
        return words, owner

    def _words_of(self, name: str) -> list[str]:
        return [word for token in self._analyzer.tokens(name) for word in self._words_of_token(token)]

    def _words_of_token(self, token: Token) -> Iterator[str]:
        if len(token.terms) == 1:
            yield token.terms[0]
            return
        for piece in self._analyzer.split_identifier(token.text.replace("/", ".").replace("\\", ".")):
            yield self._analyzer.stem(piece)

    def _is_telling(self, word: str) -> bool:
        return len(word) >= _MIN_LETTERS and self._names_with.get(word, 0) <= COMMON_NAMES


def _is_written(entry: CatalogEntry, word: str) -> bool:
    if entry.kind == "file":
        return "." in word
    return word == entry.name and (not word.islower() or "_" in word or "." in word)


def _lengths(names: Mapping[str, _Names]) -> dict[str, tuple[int, ...]]:
    """First word of a form → lengths of the forms that begin with it, the longest first."""
    lengths: dict[str, set[int]] = {}
    for form in names:
        words = form.split(" ")
        lengths.setdefault(words[0], set()).add(len(words))
    return {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}


def _paths(ordered: list[CatalogEntry]) -> dict[str, tuple[str, ...]]:
    """Lower-case file name → paths of that name, sorted."""
    paths: dict[str, dict[str, None]] = {}
    for entry in ordered:
        if entry.kind == "file":
            paths.setdefault(entry.source_path.rpartition("/")[2].lower(), {})[entry.source_path] = None
    return {name: tuple(found) for name, found in paths.items()}


def _longest(found: list[tuple[int, int, tuple[CatalogEntry, ...]]]) -> list[tuple[int, int, tuple[CatalogEntry, ...]]]:
    kept: list[tuple[int, int, tuple[CatalogEntry, ...]]] = []
    taken: set[int] = set()
    for at, end, entries in sorted(found, key=lambda match: (match[0] - match[1], match[0])):
        if taken.isdisjoint(range(at, end)):
            taken.update(range(at, end))
            kept.append((at, end, entries))
    return sorted(kept, key=lambda match: match[0])


def _order(entry: CatalogEntry) -> tuple[int, bool, str, str, str]:
    return KINDS.index(entry.kind), not entry.declared, entry.source_path, entry.target, entry.name
