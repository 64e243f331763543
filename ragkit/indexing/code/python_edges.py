"""What the symbols of a Python file import, call, inherit, instantiate, decorate, read and write: edges of C2.

Left out, because no question is about them: calls of builtins and of their methods, decorators such as `property`,
calls through `typing`, methods of what the standard library's functions return (`logging.getLogger().info`), loggers
as state, and everything that happens to local variables of unknown type but the method's name. Spec: MODULE §5.2.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from ragkit.indexing.code.edges import Edge, EdgeType, Ground
from ragkit.indexing.code.evidence import Span, call_span, header_span, span_of
from ragkit.indexing.code.scopes import Scope, Use, is_chain, method_of
from ragkit.indexing.code.state_edges import state_reads, state_writes
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.code.value import Value, is_class_value, parent_is_class, plain_ref
from ragkit.indexing.code.values import Values

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
UNKNOWN = "?"
"""Stands in `dst_ref` for a receiver of unknown type: `?.save`."""


def python_edges(values: Values) -> Iterator[Edge]:
    """Edges in no promised order; repeats included."""
    for use in values.file.uses:
        edge = _of_import(use) if isinstance(use.target, str) else _of_use(use, use.target, values)
        if edge is not None:
            yield edge
    yield from state_reads(values)
    yield from state_writes(values)


def _of_import(use: Use) -> Edge:
    target = str(use.target)
    module = target.rpartition(".")[0] if use.kind == "from_import" else target
    muted = module in _MUTE_MODULES
    ref, alias = (module, None) if muted else (target, use.alias)
    return Edge("imports", use.source, ref, None, "import", use.kind, span_of(use.node), "import_statement", alias)


def _of_use(use: Use, target: ast.expr, values: Values) -> Edge | None:
    if isinstance(target, ast.Subscript):
        target = target.value
    value = values.of(target, use.scope)
    if use.kind in ("base", "metaclass"):
        return _of_base(use, target, value, values)
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
    ground = _ground(target, use.scope, value, values)
    return Edge(kind, use.source, plain_ref(ref), symbol, value.resolution, _callsite(use), _span(use), ground)


def _of_base(use: Use, target: ast.expr, value: Value | None, values: Values) -> Edge | None:
    if value is None:
        name = _chain_text(target)
        if not name:
            return None
        return Edge("inherits", use.source, name, None, "unresolved", use.kind, _span(use), "star_import")
    ground = _ground(target, use.scope, value, values)
    ref = plain_ref(value.ref)
    return Edge("inherits", use.source, ref, value.symbol, value.resolution, use.kind, _span(use), ground)


def _of_unknown(use: Use, target: ast.expr, values: Values) -> Edge | None:
    kind: EdgeType = "decorates" if use.kind == "decorator" else "calls"
    if isinstance(target, ast.Name):
        if values.binding_scope(target.id, use.scope) is not None:
            return None
        # Nothing binds it: a star import does, or it is a fault of the source.
        return Edge(kind, use.source, target.id, None, "unresolved", _callsite(use), _span(use), "star_import")
    if not isinstance(target, ast.Attribute) or target.attr in _MUTE_METHODS or not is_chain(target):
        return None
    ref = f"{UNKNOWN}.{target.attr}"
    return Edge(kind, use.source, ref, None, "unresolved", _callsite(use), _span(use), "name_alone")


def _ground(target: ast.expr, scope: Scope, value: Value, values: Values) -> Ground:
    """What a value that was found rests on."""
    if value.is_inherited or value.resolution == "unresolved":
        return "inherited"
    if "()" in plain_ref(value.ref):
        return "returned_by_other"
    root, parts = target, 0
    while isinstance(root, ast.Attribute):
        root, parts = root.value, parts + 1
    if isinstance(root, ast.Call) and isinstance(root.func, ast.Name) and root.func.id == "super":
        return "self"
    if not isinstance(root, ast.Name) or "()" in value.ref:
        return "inferred_type"
    method = method_of(scope)
    if method is not None and root.id == method.self_name:
        return "self" if parts <= 1 else "inferred_type"
    owner = values.binding_scope(root.id, scope)
    first = owner.bound[root.id][0] if owner is not None and owner.bound.get(root.id) else None
    if isinstance(first, str):
        return "imported_name"
    return "own_name" if isinstance(first, Symbol) and first.definition is not None else "inferred_type"


def _is_mute(value: Value) -> bool:
    """Whether it is a method of what a function of the standard library returned, or most likely of a builtin type:
    `Response.headers.get`, `load().strip`.
    """
    if value.resolution == "local":
        return False
    owner, _, method = plain_ref(value.ref).rpartition(".")
    if "()" in owner and owner.partition(".")[0] in sys.stdlib_module_names:
        return True
    return method in _BUILTIN_METHODS and ("()" in owner or parent_is_class(owner))


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
