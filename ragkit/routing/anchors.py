"""Anchors of a query, in the order of the text: what it names explicitly. Spec: ROUTER §4.3, §6; system.md §2.

Finders go from the surest to the least sure (stack traces and addresses, paths and endpoints, symbols by shape, names
beside code nouns, documents); each claims what it takes. `read` is the only door: it also gives the items that phrases
match on, since an anchor stands there for its words. Spans are code points of the raw query and always exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice

from ragkit.routing.claims import Claims, Found
from ragkit.routing.documents import DocumentFinder
from ragkit.routing.normalize import code_spans
from ragkit.routing.paths import PathFinder
from ragkit.routing.phrases import Item, PhraseTable, parse_phrase
from ragkit.routing.rules import RoutingRules
from ragkit.routing.symbols import SymbolFinder
from ragkit.text import Analyzer, Token

MAX_ANCHORS = 200
"""A pasted log names thousands of things; the first of them are kept."""

WINDOW_CHARS = 4000
"""Words (cues, terms, catalog names) are read at the start and the end of a query, this much of each."""

ASKING_ITEMS = 4
"""So many words at least ask something of a symbol."""

_MAX_BLOCKS = 20
_SYMBOL_KEYS = frozenset({"{symbol}", "{known_name}"})

_BREAK = re.compile(r"[.!?;\n…]")
_OPENING = re.compile(r"[.!?;\n…:,()—–\"«“]|\s-\s|\]")
_VERSION = re.compile(r"v?\d+(?:\.(?:\d+|x))+(?:[-.]?[a-z]+\.?\d*)?$")
_INFINITIVE = re.compile(r"[а-я]{2,}(?:ть|ться|ти|чь|чься)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A query, read once: everything that routing decides by."""

    raw: str
    anchors: tuple[Found, ...]
    """By place; spans never overlap, but for a document's heading that holds other anchors."""
    tokens: tuple[Token, ...]
    """Of the window, code blocks left out."""
    items: tuple[Item, ...]
    """Of the window; words that an anchor covers are one item."""
    is_cut: bool
    """There may be more anchors than were kept."""

    def text_of(self, found: Found) -> str:
        """The anchor as written."""
        return self.raw[found.start : found.end]


class AnchorReader:
    """Reads queries. Immutable, shared by threads."""

    def __init__(self, rules: RoutingRules, analyzer: Analyzer) -> None:
        """Compiles the word lists of the rules."""
        self._analyzer = analyzer
        self._symbols = SymbolFinder(rules.symbols, rules.paths.hosts, analyzer)
        self.paths = PathFinder(rules.paths, self._symbols.products, analyzer)
        self._documents = DocumentFinder(rules.documents, analyzer)
        self._nouns_ru = frozenset(analyzer.stem(word) for word in rules.symbols.nouns_ru)
        self._nouns_en = frozenset(analyzer.stem(word) for word in rules.symbols.nouns_en)
        self._owners = frozenset(analyzer.stem(word) for word in rules.symbols.owners_ru)
        self._about = self._owners | self._nouns_en | {analyzer.stem(word) for word in rules.symbols.about}
        self._links = frozenset(rules.symbols.links)
        self._polite = frozenset("=" + word for word in rules.polite)
        self._languages = {analyzer.stem(name): language for language, row in rules.languages.items() for name in row}
        self._mask = PhraseTable(("mask", parse_phrase(line, rules.lists, analyzer)) for line in rules.mask)

    def read(
        self, raw: str, *, top_folders: frozenset[str], names: frozenset[str], documented: frozenset[str] = frozenset()
    ) -> Reading:
        """The query's anchors and items.

        `names`: symbols of the catalog as written, matched exactly. `documented`: words of titles and headings; a
        symbol among them is one that the documentation speaks of.
        """
        claims = Claims(len(raw))
        code = code_spans(raw)
        found = list(islice(self.paths.find(raw, claims, top_folders), MAX_ANCHORS))
        found.extend(islice(self._symbols.find(raw, claims, code), MAX_ANCHORS))
        tokens = self._window(raw, code)
        found.extend(self._beside_nouns(raw, tokens, claims, found))
        found.extend(_known_names(raw, tokens, claims, names))
        found.extend(islice(self._documents.find(raw, claims), MAX_ANCHORS))
        found.sort(key=lambda anchor: (anchor.start, anchor.end))
        items = _documented(raw, self._items(raw, tokens, found, claims), documented)
        return Reading(
            raw=raw,
            anchors=tuple(found[:MAX_ANCHORS]),
            tokens=tokens,
            items=self._masked(_with_blocks(items, _blocks(raw, code))),
            is_cut=len(found) >= MAX_ANCHORS,
        )

    def _window(self, raw: str, code: tuple[tuple[int, int], ...]) -> tuple[Token, ...]:
        """Tokens of the start and the end of the query, without those of code blocks."""
        blocks = _blocks(raw, code)
        if len(raw) <= 2 * WINDOW_CHARS:
            tokens = self._analyzer.tokens(raw)
        else:
            offset = len(raw) - WINDOW_CHARS
            tail = (
                Token(text=token.text, start=token.start + offset, end=token.end + offset, terms=token.terms)
                for token in self._analyzer.tokens(raw[offset:])
            )
            tokens = (*self._analyzer.tokens(raw[:WINDOW_CHARS]), *tail)
        if not blocks:
            return tokens
        return tuple(token for token in tokens if not any(start <= token.start < end for start, end in blocks))

    def _beside_nouns(self, raw: str, tokens: tuple[Token, ...], claims: Claims, found: list[Found]) -> list[Found]:
        """Words without a shape that their neighbours make symbols, each claimed."""
        symbols = {anchor.end for anchor in found if anchor.type == "SYMBOL"}
        fresh: list[Found] = []
        for at, token in enumerate(tokens):
            if not claims.is_free(token.start, token.end):
                continue
            if "/" in token.text:
                spans = self._alternatives(tokens, at)
                fresh.extend(Found("SYMBOL", "named", *span, 0.75) for span in spans if claims.take(*span))
                continue
            if not self._symbols.is_name(token.text):
                continue
            before = tokens[at - 1] if at and _near(raw, tokens[at - 1], token) else None
            after = tokens[at + 1] if at + 1 < len(tokens) and _near(raw, token, tokens[at + 1]) else None
            first = tokens[at - 2] if at > 1 else None
            if self._named_by_noun(token, before, after) or self._belongs(token, before, first, symbols):
                claims.take(token.start, token.end)
                symbols.add(token.end)
                fresh.append(Found("SYMBOL", "named", token.start, token.end, 0.75))
        return fresh

    def _named_by_noun(self, token: Token, before: Token | None, after: Token | None) -> bool:
        capital = token.text[0].isupper()
        previous = before.terms[0] if before else ""
        following = after.terms[0] if after else ""
        if capital:
            if previous in self._nouns_ru or following in self._nouns_ru:
                return True
            sentence_start = before is None
            return previous in self._nouns_en or (not sentence_start and following in self._nouns_en)
        return previous in self._owners or following in self._owners

    def _belongs(self, token: Token, before: Token | None, first: Token | None, symbols: set[int]) -> bool:
        """«get_page у Search», "methods of Client": a Capitalised word, a link word, a symbol or a code noun."""
        return (
            token.text[0].isupper()
            and before is not None
            and first is not None
            and before.text.lower() in self._links
            and (first.end in symbols or first.terms[0] in self._about)
        )

    def _alternatives(self, tokens: tuple[Token, ...], at: int) -> list[tuple[int, int]]:
        """Spans of the names in «Depends/Query arguments»: Capitalised, a slash between, a code noun beside."""
        token = tokens[at]
        names = token.text.split("/")
        near = [tokens[place].terms[0] for place in (at - 1, at + 1) if 0 <= place < len(tokens)]
        nouns = self._nouns_en | self._nouns_ru
        if len(names) < 2 or not all(self._symbols.is_name(name) and name[0].isupper() for name in names):
            return []
        if not any(term in nouns for term in near):
            return []
        spans: list[tuple[int, int]] = []
        start = token.start
        for name in names:
            spans.append((start, start + len(name)))
            start += len(name) + 1
        return spans

    def _items(self, raw: str, tokens: tuple[Token, ...], found: list[Found], claims: Claims) -> tuple[Item, ...]:
        """Items by place. `found` is sorted by place; what is claimed without an anchor (an address) has no words."""
        items: list[Item] = []
        anchors = iter([anchor for anchor in found if anchor.type != "DOC_REF"])
        references = [anchor for anchor in found if anchor.type == "DOC_REF"]
        anchor = next(anchors, None)
        end = 0
        for token in tokens:
            while anchor is not None and anchor.end <= token.start:
                anchor = next(anchors, None)
            inside = anchor is not None and anchor.start < token.end
            if inside and anchor is not None and anchor.start < end and items:
                continue
            if inside and anchor is not None:
                start, stop, keys = anchor.start, anchor.end, self._anchor_keys(raw, anchor)
            else:
                start, stop = token.start, token.end
                plain = references or claims.is_free(start, stop)
                keys = self._word_keys(token) if plain else {"{opaque}"}
                keys |= {"{doc_ref}" for reference in references if reference.start <= start < reference.end}
            gap = raw[end:start] if start > end else ""
            broken = not items or bool(_BREAK.search(gap))
            opens = broken or bool(_OPENING.search(gap)) or (items[-1].opens and self._is_polite(items[-1]))
            items.append(Item(start=start, end=stop, keys=frozenset(keys), opens=opens, breaks=broken))
            end = max(end, stop)
        return tuple(items)

    def _is_polite(self, item: Item) -> bool:
        return not self._polite.isdisjoint(item.keys)

    def _anchor_keys(self, raw: str, anchor: Found) -> set[str]:
        if anchor.type == "SYMBOL":
            keys = {"{known_name}"} if anchor.subtype == "catalog" else {"{symbol}"}
        elif anchor.type == "KEY_TERM":
            keys = {"{endpoint}"}
        elif anchor.subtype == "folder":
            keys = {"{folder}"}
        else:
            path = raw[anchor.start : anchor.end]
            keys = {"{doc_path}"} if self.paths.is_document(path) else {"{data_path}"}
            if self.paths.language_of(path):
                keys = {"{source_path}"}
        if anchor.subtype == "stack_trace":
            keys.add("{stack_trace}")
        return keys

    def _word_keys(self, token: Token) -> set[str]:
        form = token.text.casefold().replace("ё", "е")
        keys = {*token.terms, "=" + form}
        if _VERSION.match(form):
            keys.add("{version}")
        if form[0].isdigit():
            keys.add("{number}")
        if _INFINITIVE.search(form):
            keys.add("{infinitive}")
        language = self._languages.get(token.terms[0])
        if language is not None:
            keys |= {"{language}", f"language:{language}"}
        return keys

    def _masked(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        covered = {at for _, _, (start, end) in self._mask.matches(items) for at in range(start, end)}
        if not covered:
            return items
        return tuple(
            Item(start=item.start, end=item.end, keys=frozenset({"{masked}"}), opens=item.opens, breaks=item.breaks)
            if at in covered
            else item
            for at, item in enumerate(items)
        )


def _known_names(raw: str, tokens: tuple[Token, ...], claims: Claims, names: frozenset[str]) -> list[Found]:
    """Capitalised words inside a sentence that are symbols of the catalog: `Track`; a sentence's first word is not."""
    return [
        Found("SYMBOL", "catalog", token.start, token.end, 0.7)
        for token in tokens
        if token.text in names
        and token.text[0].isupper()
        and raw[: token.start].rstrip(" \t\"'«“(")[-1:] not in ("", ".", "!", "?", "\n", ":")
        and claims.take(token.start, token.end)
    ]


def _documented(raw: str, items: tuple[Item, ...], names: frozenset[str]) -> tuple[Item, ...]:
    """Symbols that the documentation speaks of, marked; a question that is hardly more than a symbol asks for it."""
    if not names or len(items) < ASKING_ITEMS:
        return items
    return tuple(
        replace(item, keys=item.keys | {"{documented}"})
        if not _SYMBOL_KEYS.isdisjoint(item.keys) and _is_documented(raw[item.start : item.end], names)
        else item
        for item in items
    )


def _is_documented(symbol: str, names: frozenset[str]) -> bool:
    name = symbol.strip("`@").partition("(")[0].partition("[")[0]
    return name in names or name.rpartition(".")[2] in names


def _blocks(raw: str, code: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    return [span for span in code if raw.startswith("```", span[0])]


def _with_blocks(items: tuple[Item, ...], code: list[tuple[int, int]]) -> tuple[Item, ...]:
    """A block of code is one item."""
    keys = frozenset({"{code_block}"})
    blocks = [Item(start=start, end=end, keys=keys, opens=True, breaks=True) for start, end in code[:_MAX_BLOCKS]]
    if not blocks:
        return items
    return tuple(sorted((*items, *blocks), key=lambda item: item.start))


def _near(raw: str, left: Token, right: Token) -> bool:
    """Nothing but a space, quotes or backticks between."""
    gap = raw[left.end : right.start]
    return len(gap) <= 3 and not gap.strip(" \t`\"'«»“”")
