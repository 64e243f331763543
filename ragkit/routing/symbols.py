"""Symbols of a query: identifiers as their shape, their place or the words beside them show. Spec: ROUTER §4.3, §6.

By shape (CamelCase, snake_case, dotted, calls, dunder, decorators) a word is a symbol anywhere; in backticks any
identifier is; «класс Track» and "the Track class" make a symbol of a word that has no shape. Products, formats and
abbreviations are told apart by the lists of `terms.toml`, not by guessing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.routing.claims import Claims, Found
from ragkit.routing.rules import SymbolWords
from ragkit.text import Analyzer

_NAME = r"[^\W\d]\w*+"
_SYMBOL = re.compile(
    rf"(?:(?<=\)\.)|(?<![\w@/\\.-]))(?:{_NAME}|\d\w*+(?=\.))(?:(?:\[[\w'\"]{{0,40}}+\])?(?:\.|::){_NAME})*+\*?"
)
_DECORATOR = re.compile(rf"(?<![\w.@/])@({_NAME}(?:\.{_NAME})*+)")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*+")
_KEBAB_AFTER = re.compile(r"-[A-Za-z0-9]")
_ARGUMENTS = re.compile(r"\(([^()\n]{0,300}+)\)?")
_HUMP = re.compile(r"[a-zа-яё0-9][A-ZА-ЯЁ]|[A-ZА-ЯЁ]{2}[a-zа-яё]")
_CYRILLIC_CAMEL = re.compile(r"(?:[A-ZА-ЯЁ][a-zа-яё]+){2,}\w*$|[а-яё]{2,}(?:[А-ЯЁ][а-яё]{2,})+$")
_ABBREVIATION_PLURAL = re.compile(r"[A-Z]{2,}\d*s$")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_VERSION = re.compile(r"v\d+(?:\.\w+)*$")
_DOTTED_NAME = rf"{_NAME}(?:\.{_NAME})*+"
_IMPORT = re.compile(
    rf"^[ \t]*+(?:from[ \t]++({_DOTTED_NAME})[ \t]++import[ \t]++([^\n#]{{1,300}})"
    rf"|import[ \t]++([^\n#;'\"]{{1,300}}))",
    re.M,
)
_IMPORTED = re.compile(_DOTTED_NAME)
_DEFINITION = re.compile(rf"\b(?:class|def|func|fn|interface|struct|enum|trait)[ \t]++({_NAME})")
_FUNCTION_RU = re.compile(r"^\s*(?:Процедура|Функция)\s+(\w+)\s*\(", re.M)


class SymbolFinder:
    """Finds symbols. Immutable, shared by threads."""

    def __init__(self, words: SymbolWords, hosts: tuple[str, ...], analyzer: Analyzer) -> None:
        """`words`: table `[symbols]` of `terms.toml`; `hosts`: last parts of host names."""
        self._analyzer = analyzer
        self._products = frozenset(words.products)
        self._keywords = frozenset(words.keywords)
        self._builtins = frozenset(words.builtins)
        self._decorators = frozenset(words.decorators)
        self._plurals = frozenset(words.plurals)
        self._plain = frozenset(words.words) | {product.lower() for product in words.products}
        self._hosts = frozenset(hosts)

    @property
    def products(self) -> frozenset[str]:
        """Names of products and formats, as usually written."""
        return self._products

    def find(self, text: str, claims: Claims, code: tuple[tuple[int, int], ...]) -> Iterator[Found]:
        """Symbols by shape and place, each claimed. `code`: code spans."""
        for match in _FLAG.finditer(text):
            claims.take(*match.span())
        for start, end in code:
            yield from self._in_code(text, start, end, claims)
        for match in _DECORATOR.finditer(text) if "@" in text else ():
            name = match[1]
            if ("." in name or name in self._decorators or _is_camel(name)) and claims.take(*match.span(1)):
                yield Found("SYMBOL", "decorator", *match.span(1), 0.9)
        for match in _SYMBOL.finditer(text):
            word = match[0]
            if word[1:].islower() and word.isalpha() and text[match.end() : match.end() + 1] != "(":
                continue  # an ordinary word: nine of ten
            found = self._by_shape(text, match)
            if found and claims.take(found.start, found.end):
                yield found

    def _in_code(self, text: str, start: int, end: int, claims: Claims) -> Iterator[Found]:
        """A backticked identifier; in a block: imported and defined names."""
        marks = len(text[start:end]) - len(text[start:end].lstrip("`"))
        if marks >= 3 or "\n" in text[start:end]:
            yield from self._in_block(text, start, end, claims)
            return
        inner = text[start + marks : end - marks]
        match = re.match(rf"\s*@?({_NAME}(?:(?:\.|::|#){_NAME})*+)(?:\(.*\))?\s*$", inner)
        if match is None or match[1].lower() in self._keywords or match[1] in self._products:
            return
        if _CYRILLIC.search(match[1]) and self._analyzer.is_stop_word(match[1].lower()):
            return
        begin = start + marks + match.start(1)
        if claims.take(begin, begin + len(match[1])):
            yield Found("SYMBOL", "code", begin, begin + len(match[1]), 0.95)

    def _in_block(self, text: str, start: int, end: int, claims: Claims) -> Iterator[Found]:
        for match in _IMPORT.finditer(text, start, end):
            for group in (1, 2, 3):
                if match[group] is None:
                    continue
                for name in _IMPORTED.finditer(text, *match.span(group)):
                    if name[0] not in self._keywords and claims.take(*name.span()):
                        yield Found("SYMBOL", "import", *name.span(), 0.9)
        for pattern in (_DEFINITION, _FUNCTION_RU):
            for match in pattern.finditer(text, start, end):
                if claims.take(*match.span(1)):
                    yield Found("SYMBOL", "definition", *match.span(1), 0.95)

    def _by_shape(self, text: str, match: re.Match[str]) -> Found | None:
        """The symbol that a match is by its shape, or None."""
        word, start, end = match[0], match.start(), match.end()
        if word[-1] == "*" and "_" not in word:
            word, end = word[:-1], end - 1
        after = text[end : end + 2]
        if _KEBAB_AFTER.match(after) or word in self._products:
            return None
        called = after[:1] == "(" and self._is_call(word, text, end)
        if "." in word or "::" in word:
            return Found("SYMBOL", "dotted", start, end, 0.9) if self._is_dotted(word, called) else None
        if "_" in word:
            letters = any(char.isalpha() for char in word)
            dunder = word.startswith("__") and word.endswith("__")
            return Found("SYMBOL", "dunder" if dunder else "snake_case", start, end, 0.95) if letters else None
        if _is_camel(word) and not (called is False and word in self._products):
            return Found("SYMBOL", "camel_case", start, end, 0.9)
        if called and word not in self._builtins:
            return Found("SYMBOL", "call", start, end, 0.85)
        return None

    def _is_call(self, word: str, text: str, at: int) -> bool:
        """Whether the parenthesis at `at` holds arguments, and no plural or aside."""
        match = _ARGUMENTS.match(text, at)
        if match is None or word.lower() in self._keywords:
            return False
        inside = match[1].strip()
        if not inside:
            return match[0].endswith(")")
        if _CYRILLIC.search(word):
            return _is_camel(word)
        return inside.lower() not in self._plurals and not _CYRILLIC.match(inside)

    def _is_dotted(self, word: str, called: bool) -> bool:
        """Not a host, a version, an abbreviation, or two sentences without a space between."""
        parts = [part for part in re.split(r"\.|::", word) if part]
        if called or "::" in word or "_" in word or "[" in word:
            return True
        if all(len(part) == 1 for part in parts) or _VERSION.match(word):
            return False
        if parts[-1].lower() in self._hosts and word.islower():
            return False
        if _CYRILLIC.search(word):
            return any(_is_camel(part) for part in parts)
        if self._analyzer.is_stop_word(parts[-1].lower()) and len(parts) == 2:
            return False
        return all(len(part) > 1 for part in parts[1:]) or len(parts[0]) > 1

    def is_name(self, word: str) -> bool:
        """Whether a Latin word without a shape may be a symbol where a code noun stands beside it."""
        return (
            len(word) > 1
            and word.isascii()
            and word.isidentifier()
            and word not in self._products
            and word.lower() not in self._plain
            and not (word.isupper() and len(word) <= 5)
            and not self._analyzer.is_stop_word(word.lower())
        )


def _is_camel(word: str) -> bool:
    """Two humps at least: `OrderService`, `orderService`, `HTTPServer`, «НачатьТранзакцию»; not `URLs`."""
    if _CYRILLIC.search(word):
        return bool(_CYRILLIC_CAMEL.match(word))
    if not _HUMP.search(word) or _ABBREVIATION_PLURAL.match(word):
        return False
    return len(word) > 3 and word.isidentifier()
