"""Names that a session knows, found in a query: immutable, lemma-aware, longest match first. Spec: system.md §2.

A name's normal form is the sequence of its stemmed words, identifiers split, so «классу сервиса заказов», `OrderService`
and "order service" meet. Single words decide nothing by themselves unless the catalog shows that they are telling:

* a title, heading, alias, entity or domain of one word counts when the word is no stop word, has three letters or
  more, and stands in at most COMMON_NAMES names of the catalog; a heading of one word never counts;
* a name of several words needs two that are no stop words (a title or alias: one is enough if it is telling);
* a symbol counts when it is written as in the catalog and has the shape of a name (a capital, `_` or a dot), or when
  all of its two or more words follow each other;
* a file counts when its name with the extension is written.

`matches` costs a dictionary look-up for each word of the query and each length of the names that begin with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


class CatalogMatcher:
    """All names of one revision of a session. Immutable, shared by threads."""

    def __init__(self, entries: Iterable[CatalogEntry], analyzer: Analyzer) -> None:
        """`entries` in any order; equal ones count once."""
        self._analyzer = analyzer
        self._by_form: dict[str, tuple[CatalogEntry, ...]] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        self._paths: dict[str, tuple[str, ...]] = {}
        self._documents: frozenset[str] = frozenset()
        self._names_with: dict[str, int] = {}
        self._entities: dict[str, str] = {}
        self._fill(sorted(set(entries), key=_order))

    def _fill(self, entries: list[CatalogEntry]) -> None:
        forms: dict[str, list[CatalogEntry]] = {}
        lengths: dict[str, set[int]] = {}
        paths: dict[str, dict[str, None]] = {}
        documents: set[str] = set()
        for entry in entries:
            if entry.kind == "file":
                paths.setdefault(entry.source_path.rpartition("/")[2].lower(), {})[entry.source_path] = None
            elif entry.kind in ("title", "heading", "module_id"):
                documents.add(entry.source_path)
            elif entry.kind == "entity":
                self._entities.setdefault(entry.target, entry.name)
            words = self._words_of(entry.name)
            if not words or len(words) > MAX_NAME_WORDS:
                continue
            same = forms.setdefault(" ".join(words), [])
            if not same:
                lengths.setdefault(words[0], set()).add(len(words))
                for word in set(words):
                    self._names_with[word] = self._names_with.get(word, 0) + 1
            same.append(entry)
        self._by_form = {form: tuple(same) for form, same in forms.items()}
        self._lengths = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}
        self._paths = {name: tuple(found) for name, found in paths.items()}
        self._documents = frozenset(documents)
        self.symbol_names = frozenset(entry.name for entry in entries if entry.kind == "symbol")
        """Symbols as written, for exact recognition."""

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
                entries = self._by_form.get(" ".join(words[at:end]), ())
                telling = tuple(
                    entry for entry in entries if self._tells(entry, words[at:end], tokens[owner[at] : owner[end - 1] + 1])
                )
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

    def _tells(self, entry: CatalogEntry, words: list[str], tokens: tuple[Token, ...]) -> bool:
        """Whether the match means the entry, by the rule in the module's docstring."""
        content = [word for word in words if not self._analyzer.is_stop_word(word)]
        if entry.kind == "symbol":
            written = tokens[0].text == entry.name and len(tokens) == 1
            shaped = not entry.name.islower() or "_" in entry.name or "." in entry.name
            return (written and shaped) or len(content) > 1
        if entry.kind == "file":
            return len(tokens) == 1 and "." in tokens[0].text
        if len(content) > 1 or entry.kind in ("domain", "subdomain", "module_id"):
            return bool(content)
        return entry.kind != "heading" and len(content) == 1 and self._is_telling(content[0])

    def _is_telling(self, word: str) -> bool:
        return len(word) >= _MIN_LETTERS and self._names_with.get(word, 0) <= COMMON_NAMES


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
