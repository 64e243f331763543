"""C2_DEPENDENCY_GRAPH: what the symbols of a file import, call, inherit, instantiate, decorate, read and write.

One row an edge: repeats of a source and a target are one row, shown where they come first. Left out, because no
question is about them: calls of builtins and of their methods, decorators such as `property`, calls through `typing`,
methods of what the standard library's functions return (`logging.getLogger().info`), loggers as state, and everything
that happens to local variables of unknown type but the method's name. Spec: MODULE §5.2.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragkit.document import RagDocument
from ragkit.indexing.code.c0_chunks import SourceUnit
from ragkit.indexing.code.evidence import Span, call_span, header_span, shown, span_of
from ragkit.indexing.code.scopes import FileScopes, Scope, Use, is_chain, is_mutation
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.code.values import Resolution, Value, Values
from ragkit.indexing.context import Split, distinct_words
from ragkit.indexing.passages import Lines
from ragkit.layers import C2Attributes, Layer

EdgeType = Literal["imports", "calls", "inherits", "instantiates", "decorates", "reads_state", "writes_state"]

_MUTE_STATE = frozenset({"logger", "log", "_logger", "_log", "__all__", "__version__", "__name__", "__file__"})
"""Module variables that nearly every function reads."""
_MUTE_MODULES = frozenset({"typing", "typing_extensions", "__future__", "collections.abc"})
"""Modules of annotations: imported as one edge a module, never called."""
_BUILTIN_METHODS = frozenset(
    name for kind in (str, bytes, bytearray, list, tuple, dict, int, float, complex, object, type) for name in dir(kind)
)
_MUTE_METHODS = _BUILTIN_METHODS | {
    "add", "discard", "union", "read", "write", "close", "group", "groups", "info", "debug", "warning", "error",
    "exception", "search", "match",
}  # fmt: skip
"""Methods of builtin types, files, loggers and patterns: a receiver of unknown type is most likely one of them."""
_ACCESSORS = frozenset({"setter", "getter", "deleter"})
"""Decorators that belong to a property."""
_MAX_CONTEXT_WORDS = 30
_MAX_REF_CHARS = 300
UNKNOWN = "?"
"""Stands in `dst_ref` for a receiver of unknown type: `?.save`."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One use of a target by a source."""

    kind: EdgeType
    source: Symbol | None
    ref: str
    target: Symbol | None
    resolution: Resolution
    callsite: str
    span: Span
    alias: str | None = None


def edge_rows(source: Lines, values: Values, unit: SourceUnit, split: Split) -> list[RagDocument]:
    """Rows in the order of the source."""
    merged: dict[tuple[Symbol | None, str, str], list[Edge]] = {}
    for edge in _edges(values):
        if len(edge.ref) <= _MAX_REF_CHARS:
            merged.setdefault((edge.source, edge.kind, edge.ref), []).append(edge)
    firsts = [(min(edges, key=lambda edge: edge.span.start), edges) for edges in merged.values()]
    firsts.sort(key=lambda item: (item[0].span.start, item[0].kind, item[0].ref))
    return [_row(source, first, edges, unit, split) for first, edges in firsts]


def _edges(values: Values) -> Iterator[Edge]:
    for use in values.file.uses:
        edge = _of_import(use) if isinstance(use.target, str) else _of_use(use, use.target, values)
        if edge is not None:
            yield edge
    yield from _state_reads(values)
    yield from _state_writes(values)


def _of_import(use: Use) -> Edge:
    target = str(use.target)
    module = target.rpartition(".")[0] if use.kind == "from_import" else target
    muted = module in _MUTE_MODULES
    ref, alias = (module, None) if muted else (target, use.alias)
    return Edge("imports", use.source, ref, None, "import", use.kind, span_of(use.node), alias)


def _of_use(use: Use, target: ast.expr, values: Values) -> Edge | None:
    if isinstance(target, ast.Subscript):
        target = target.value
    value = values.of(target, use.scope)
    if use.kind in ("base", "metaclass"):
        return _of_base(use, target, value)
    if isinstance(target, ast.Attribute) and use.kind == "decorator" and target.attr in _ACCESSORS:
        return None
    if value is None:
        return _of_unknown(use, target, values)
    if value.resolution == "builtin" or value.ref.rpartition(".")[0] in _MUTE_MODULES or _is_mute(value):
        return None
    kind: EdgeType = "calls"
    symbol, ref = value.symbol, value.ref
    if value.is_instance:
        # An instance that is called runs its `__call__`; of an outside class nobody asks for that.
        method = values.member(symbol, "__call__") if symbol is not None else None
        if method is None:
            return None
        symbol, ref = method.symbol, method.ref
    elif use.kind == "decorator":
        kind = "decorates"
    elif is_class_value(value):
        kind = "instantiates"
    if use.kind == "decorator":
        kind = "decorates"
    if symbol is not None and symbol.definition is None and kind != "decorates":
        return None
    return Edge(kind, use.source, plain_ref(ref), symbol, value.resolution, _callsite(use), _span(use))


def _of_base(use: Use, target: ast.expr, value: Value | None) -> Edge | None:
    if value is None:
        name = _chain_text(target)
        return Edge("inherits", use.source, name, None, "unresolved", use.kind, _span(use)) if name else None
    return Edge("inherits", use.source, plain_ref(value.ref), value.symbol, value.resolution, use.kind, _span(use))


def _of_unknown(use: Use, target: ast.expr, values: Values) -> Edge | None:
    kind: EdgeType = "decorates" if use.kind == "decorator" else "calls"
    if isinstance(target, ast.Name):
        if values.binding_scope(target.id, use.scope) is not None:
            return None
        # Nothing binds it: a star import does, or it is a fault of the source.
        return Edge(kind, use.source, target.id, None, "unresolved", _callsite(use), _span(use))
    if not isinstance(target, ast.Attribute) or target.attr in _MUTE_METHODS or not is_chain(target):
        return None
    return Edge(kind, use.source, f"{UNKNOWN}.{target.attr}", None, "unresolved", _callsite(use), _span(use))


def _state_reads(values: Values) -> Iterator[Edge]:
    for scope, source in _function_scopes(values.file):
        for name, node in scope.reads.items():
            if name in _MUTE_STATE:
                continue
            variable = values.variable(name, scope)
            if variable is not None:
                if not _is_typing(values.name(name, scope)):
                    ref = f"{values.file.module}.{name}"
                    yield Edge("reads_state", source, ref, variable, "local", "name", span_of(node))
            elif name.isupper() and len(name) > 1:
                value = values.name(name, scope)
                if value is not None and value.resolution == "import":
                    yield Edge("reads_state", source, value.ref, None, "import", "name", span_of(node))
    for node, scope in values.file.attributes:
        if _in_function(scope) and isinstance(node.ctx, ast.Load):
            value = values.of(node, scope)
            if value is not None and value.resolution == "import" and not _parent_is_class(value.ref):
                yield Edge("reads_state", scope.symbol, value.ref, None, "import", "attribute", span_of(node))


def _state_writes(values: Values) -> Iterator[Edge]:
    for write in values.file.writes:
        if _in_function(write.scope):
            yield from _write(write.target, write.kind, write.scope, values)
    for call, scope in values.file.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and is_mutation(call):
            name = func.value.id
            is_state = values.variable(name, scope) is not None or name.isupper()
            if is_state and _in_function(scope) and _may_be_container(values.name(name, scope)):
                yield from _write(func.value, "mutation", scope, values)


def _write(target: ast.expr, kind: str, scope: Scope, values: Values) -> Iterator[Edge]:
    root = target
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return
    owner = values.binding_scope(root.id, scope)
    if owner is None or owner is not values.file.top:
        return
    variable = values.variable(root.id, scope)
    if variable is not None:
        ref = f"{values.file.module}.{root.id}"
        yield Edge("writes_state", scope.symbol, ref, variable, "local", kind, span_of(target))
    elif isinstance(owner.bound[root.id][0], str):
        value = values.of(target, scope)
        if value is not None and value.resolution == "import":
            yield Edge("writes_state", scope.symbol, value.ref, None, "import", kind, span_of(target))


def is_class_value(value: Value) -> bool:
    """Whether a value is a class: of the file, or outside and named like one."""
    if value.symbol is not None:
        return value.symbol.kind == "class" and not value.is_instance
    return value.resolution == "import" and _looks_like_class(value.ref.rpartition(".")[2])


def plain_ref(ref: str) -> str:
    """A dotted name without the call marks of classes: `fastapi.FastAPI().get` → `fastapi.FastAPI.get`."""
    if "()" not in ref:
        return ref
    parts = ref.split(".")
    return ".".join(part[:-2] if part.endswith("()") and _looks_like_class(part) else part for part in parts)


def _looks_like_class(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


def _parent_is_class(ref: str) -> bool:
    return _looks_like_class(ref.rpartition(".")[0].rpartition(".")[2])


def _is_mute(value: Value) -> bool:
    """Whether it is a method of what a function of the standard library returned, or most likely of a builtin type:
    `Response.headers.get`, `load().strip`.
    """
    if value.resolution == "local":
        return False
    owner, _, method = plain_ref(value.ref).rpartition(".")
    if "()" in owner and owner.partition(".")[0] in sys.stdlib_module_names:
        return True
    return method in _BUILTIN_METHODS and ("()" in owner or _parent_is_class(owner))


def _is_typing(value: Value | None) -> bool:
    return value is not None and value.ref.startswith(("typing.", "typing_extensions."))


def _may_be_container(value: Value | None) -> bool:
    """Whether a module variable is no instance of a class that is known not to be a container of its own."""
    return value is None or value.symbol is None or value.symbol.definition is None


def _function_scopes(file: FileScopes) -> Iterator[tuple[Scope, Symbol]]:
    for symbol, scope in file.scopes.items():
        if scope.kind == "function":
            yield scope, symbol


def _in_function(scope: Scope) -> bool:
    current: Scope | None = scope
    while current is not None:
        if current.kind == "function":
            return True
        current = current.parent
    return False


def _callsite(use: Use) -> str:
    if use.kind == "call" and isinstance(use.target, ast.Attribute):
        return "attribute"
    return use.kind


def _span(use: Use) -> Span:
    if use.kind == "decorator" and use.source is not None and isinstance(use.node, ast.expr):
        return header_span(use.source, use.node)
    if isinstance(use.node, ast.Call):
        return call_span(use.node)
    if use.kind in ("base", "metaclass") and use.source is not None:
        line = use.source.node.lineno - 1
        end = use.node.end_lineno or use.node.lineno
        return Span(line, end) if end - line <= 6 else span_of(use.node)
    return span_of(use.node)


def _chain_text(target: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(target, ast.Attribute):
        parts.append(target.attr)
        target = target.value
    return ".".join([target.id, *reversed(parts)]) if isinstance(target, ast.Name) else ""


def _row(source: Lines, edge: Edge, edges: Sequence[Edge], unit: SourceUnit, split: Split) -> RagDocument:
    qname = edge.source.qname if edge.source else ""
    span, text = shown(source, edge.span)
    source_id = edge.source.symbol_id if edge.source else f"{unit.path}::"
    edge_id = f"{source_id}@{edge.kind}:{edge.ref}"
    payload: dict[str, object] = {"count": len(edges)}
    if edge.alias is not None:
        payload["alias"] = edge.alias
    if len(edges) > 1:
        payload["lines"] = sorted({item.span.start + 1 for item in edges})[:20]
    attributes: C2Attributes = {
        "lang": unit.language,
        "edge_id": edge_id,
        "edge_type": edge.kind,
        "src_symbol_id": edge.source.symbol_id if edge.source else None,
        "dst_symbol_id": edge.target.symbol_id if edge.target else None,
        "dst_ref": edge.ref,
        "evidence.path": unit.path,
        "evidence.start_line": span.start + 1,
        "evidence.end_line": span.end,
        "resolution": edge.resolution,
        "callsite_kind": edge.callsite,
        "lang_payload": payload,
    }
    words = distinct_words([qname or unit.unit, edge.kind, edge.ref.replace("()", "")], split)
    return RagDocument(
        layer=Layer.C2_DEPENDENCY_GRAPH,
        path=unit.path,
        public_id=edge_id,
        title=f"{qname or unit.unit} {edge.kind} {edge.ref}",
        text=text,
        context=" ".join(words[:_MAX_CONTEXT_WORDS]),
        line_start=span.start + 1,
        line_end=span.end,
        attributes=attributes,
        lang="code",
        is_test=unit.is_test,
    )
