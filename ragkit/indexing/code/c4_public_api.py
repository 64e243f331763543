"""C4_PUBLIC_API: what a module offers to others, how stable it is, and what says so. Spec: MODULE §5.2.

`__all__` rules where there is one. Else a package offers what its `__init__` takes over from inside it, and a module
its functions and classes without an underscore. Tests, scripts of tools and modules with an underscore in their path
offer nothing without `__all__`. What a file takes over from another is named by its dotted name: the link step knows
the symbol.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ragkit.document import RagDocument
from ragkit.indexing.code.c0_chunks import SourceUnit
from ragkit.indexing.code.evidence import Span, header_span, shown
from ragkit.indexing.code.scopes import FileScopes, Use
from ragkit.indexing.code.symbols import Symbol, last_name
from ragkit.indexing.context import Split, distinct_words, path_words
from ragkit.indexing.passages import Lines
from ragkit.layers import C4Attributes, Layer

Stability = Literal["stable", "experimental", "deprecated"]
SourceOfTruth = Literal["__all__", "re-export", "convention"]

_DECORATORS: Mapping[str, Stability] = {
    "deprecated": "deprecated", "deprecate": "deprecated", "deprecated_api": "deprecated",
    "experimental": "experimental", "beta": "experimental", "alpha": "experimental", "provisional": "experimental",
    "unstable": "experimental",
}  # fmt: skip
_WARNINGS: Mapping[str, Stability] = {
    "DeprecationWarning": "deprecated", "PendingDeprecationWarning": "deprecated", "FutureWarning": "deprecated",
    "ExperimentalWarning": "experimental",
}  # fmt: skip
_DEPRECATED_TEXT = re.compile(r"^\s*(?:\.\. deprecated::|:?deprecated\b)", re.IGNORECASE | re.MULTILINE)
_EXPERIMENTAL_TEXT = re.compile(
    r"\b(?:is|are|api is|feature is|still) (?:highly |very )?(?:experimental|provisional|unstable|in beta)\b"
    r"|^\s*(?:\.\. experimental::|experimental\b[:.])",
    re.IGNORECASE | re.MULTILINE,
)
_VERSION_MARK = re.compile(r"\.\. (versionadded|versionchanged|versionremoved|deprecated)::[ \t]*([\w.+-]*)")
_SINCE = re.compile(r"\b(deprecated|added|new|removed) (?:since|in)(?: version)? v?(\d[\w.]*)", re.IGNORECASE)
_SINCE_NAMES = {"added": "versionadded", "new": "versionadded", "removed": "versionremoved", "deprecated": "deprecated"}
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n\s*\n")
_MAX_DESCRIPTION_WORDS = 30
_TOOL_MODULES = frozenset({"conftest", "setup", "noxfile", "manage", "fabfile"})
"""Modules that a tool runs by their name; nobody imports them."""
_MAX_TAGS = 10


@dataclass(frozen=True, slots=True)
class _Offer:
    """One name that a module offers."""

    name: str
    source: SourceOfTruth
    span: Span
    symbol: Symbol | None
    ref: str


def api_rows(source: Lines, file: FileScopes, unit: SourceUnit, split: Split) -> list[RagDocument]:
    """Rows in the order of the source."""
    offers = sorted(_offers(file, unit), key=lambda offer: (offer.span.start, offer.name))
    words = path_words(unit.path, split)
    return [_row(source, offer, unit, words, split) for offer in offers]


def _offers(file: FileScopes, unit: SourceUnit) -> Iterator[_Offer]:
    symbols = _top_symbols(file)
    imports = {
        use.alias: use for use in file.uses if isinstance(use.target, str) and use.scope is file.top and use.alias
    }
    listed = _listed(file.tree)
    if listed is not None:
        for name, line in listed.items():
            yield _offer(name, "__all__", line, symbols.get(name), imports.get(name), file)
        return
    parts = unit.unit.split(".")
    if unit.is_test or parts[-1] in _TOOL_MODULES or any(part.startswith(("_", "test_")) for part in parts):
        return
    for name, symbol in symbols.items():
        if not name.startswith("_") and symbol.definition is not None:
            yield _offer(name, "convention", symbol.start, symbol, None, file)
    if file.is_package:
        for name, use in imports.items():
            if name not in symbols and _is_taken_over(name, use, file):
                yield _offer(name, "re-export", 0, None, use, file)


def _top_symbols(file: FileScopes) -> dict[str, Symbol]:
    """Name → its definition; of overloads the last, which holds the body."""
    found: dict[str, Symbol] = {}
    for symbol in file.symbols:
        if symbol.parent is None and (symbol.name not in found or _is_overload(found[symbol.name])):
            found[symbol.name] = symbol
    return found


def _is_overload(symbol: Symbol) -> bool:
    definition = symbol.definition
    return definition is not None and any(last_name(item) == "overload" for item in definition.decorator_list)


def _listed(tree: ast.Module) -> dict[str, int] | None:
    """Names of `__all__` with their lines (from 0): literals that are assigned, added, extended or appended."""
    found: dict[str, int] | None = None
    for statement in tree.body:
        value: ast.expr | None = None
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if statement.value is not None and any(_is_all(target) for target in targets):
                value, found = statement.value, {}
        elif isinstance(statement, ast.AugAssign) and _is_all(statement.target):
            value = statement.value
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            func = statement.value.func
            if isinstance(func, ast.Attribute) and _is_all(func.value) and statement.value.args:
                value = statement.value.args[0]
        if value is not None and (found is not None or not isinstance(statement, ast.Expr)):
            found = found if found is not None else {}
            for literal in _literals(value):
                found.setdefault(str(literal.value), literal.lineno - 1)
    return found


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"


def _literals(value: ast.expr) -> Iterator[ast.Constant]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            waiting.extend(reversed(node.elts))
        elif isinstance(node, ast.BinOp):
            waiting.extend((node.right, node.left))


def _is_taken_over(name: str, use: Use, file: FileScopes) -> bool:
    """Whether a package's import is of its own insides, or renamed to itself (`import a as a`), which offers it."""
    if name.startswith("_") or name == "*" or use.kind != "from_import":
        return False
    if str(use.target).startswith(f"{file.module}."):
        return True
    node = use.node
    return isinstance(node, ast.ImportFrom) and any(item.asname == item.name == name for item in node.names)


def _offer(
    name: str, source: SourceOfTruth, line: int, symbol: Symbol | None, use: Use | None, file: FileScopes
) -> _Offer:
    if symbol is not None:
        return _Offer(name, source, header_span(symbol), symbol, f"{file.module}.{name}")
    if use is not None and isinstance(use.node, (ast.Import, ast.ImportFrom)):
        line = next((item.lineno - 1 for item in use.node.names if name in (item.asname, item.name)), line)
        return _Offer(name, source, Span(line, line + 1), None, str(use.target))
    return _Offer(name, source, Span(line, line + 1), None, f"{file.module}.{name}")


def _row(source: Lines, offer: _Offer, unit: SourceUnit, words: tuple[str, ...], split: Split) -> RagDocument:
    span, text = shown(source, offer.span)
    definition = offer.symbol.definition if offer.symbol else None
    docstring = (ast.get_docstring(definition) or "") if definition is not None else ""
    stability, reason = _stability(offer.symbol, docstring)
    api_id = f"{unit.path}::{offer.name}@public"
    payload: dict[str, object] = {"name": offer.name, "ref": offer.ref}
    if reason is not None:
        payload["stability_reason"] = reason
    if offer.symbol is not None:
        payload["kind"] = offer.symbol.kind
    attributes: C4Attributes = {
        "api_id": api_id,
        "symbol_id": offer.symbol.symbol_id if offer.symbol else offer.ref,
        "stability": stability,
        "source_of_truth": offer.source,
        "versioning_tags": _version_tags(docstring),
        "lang_payload": payload,
    }
    described = " ".join(_SENTENCE.split(docstring.strip(), maxsplit=1)[0].split()[:_MAX_DESCRIPTION_WORDS])
    named = dict.fromkeys(
        [*words, *distinct_words([offer.name, offer.ref.rpartition(".")[0].rpartition(".")[2]], split)]
    )
    state = "" if stability == "stable" else stability
    return RagDocument(
        layer=Layer.C4_PUBLIC_API,
        path=unit.path,
        public_id=api_id,
        title=f"{unit.unit}.{offer.name}",
        text=text,
        context=" ".join(part for part in ("public api", state, " ".join(named), described) if part),
        line_start=span.start + 1,
        line_end=span.end,
        names=tuple(dict.fromkeys((offer.name, f"{unit.unit}.{offer.name}"))),
        attributes=attributes,
        lang="code",
        is_test=unit.is_test,
    )


def _stability(symbol: Symbol | None, docstring: str) -> tuple[Stability, str | None]:
    """How stable a symbol says it is, and where it says so."""
    definition = symbol.definition if symbol is not None else None
    if definition is not None:
        for decorator in definition.decorator_list:
            found = _DECORATORS.get(last_name(decorator).lower())
            if found is not None:
                return found, "decorator"
        for name in _warned(definition):
            if name in _WARNINGS:
                return _WARNINGS[name], "warning"
    if _DEPRECATED_TEXT.search(docstring):
        return "deprecated", "docstring"
    return ("experimental", "docstring") if _EXPERIMENTAL_TEXT.search(docstring) else ("stable", None)


def _warned(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
    """Categories of `warnings.warn(…)` that always run: not inside a branch, where but an argument may be meant."""
    bodies: list[list[ast.stmt]] = [definition.body]
    if isinstance(definition, ast.ClassDef):
        bodies = [
            item.body
            for item in definition.body
            if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "__new__", "__post_init__")
        ]
    for statement in (statement for body in bodies for statement in body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and last_name(call) in ("warn", "warn_deprecated", "deprecation_warn"):
            for argument in [*call.args, *(item.value for item in call.keywords)]:
                yield last_name(argument)


def _version_tags(docstring: str) -> list[str]:
    found = [f"{mark[1]} {mark[2]}".strip() for mark in _VERSION_MARK.finditer(docstring)]
    found += [f"{_SINCE_NAMES[mark[1].lower()]} {mark[2].rstrip('.')}" for mark in _SINCE.finditer(docstring)]
    return list(dict.fromkeys(found))[:_MAX_TAGS]
