"""Edges of C2 between functions and the module variables that they read and write."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ragkit.indexing.code.edges import Edge
from ragkit.indexing.code.evidence import span_of
from ragkit.indexing.code.scopes import FileScopes, Scope, is_mutation
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.code.value import Value, parent_is_class
from ragkit.indexing.code.values import Values

_MUTE_STATE = frozenset({"logger", "log", "_logger", "_log", "__all__", "__version__", "__name__", "__file__"})
"""Module variables that nearly every function reads."""


def state_reads(values: Values) -> Iterator[Edge]:
    """Module variables and constants of other modules that functions read."""
    for scope, source in _function_scopes(values.file):
        for name, node in scope.reads.items():
            if name in _MUTE_STATE:
                continue
            variable = values.variable(name, scope)
            if variable is not None:
                if not _is_typing(values.name(name, scope)):
                    ref = f"{values.file.module}.{name}"
                    yield Edge("reads_state", source, ref, variable, "local", "name", span_of(node), "own_name")
            elif name.isupper() and len(name) > 1:
                value = values.name(name, scope)
                if value is not None and value.resolution == "import":
                    yield Edge("reads_state", source, value.ref, None, "import", "name", span_of(node), "imported_name")
    for node, scope in values.file.attributes:
        if _in_function(scope) and isinstance(node.ctx, ast.Load):
            value = values.of(node, scope)
            if value is not None and value.resolution == "import" and not parent_is_class(value.ref):
                yield Edge(
                    "reads_state", scope.symbol, value.ref, None, "import", "attribute", span_of(node), "imported_name"
                )


def state_writes(values: Values) -> Iterator[Edge]:
    """Module variables that functions bind, change or delete."""
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
        yield Edge("writes_state", scope.symbol, ref, variable, "local", kind, span_of(target), "own_name")
    elif isinstance(owner.bound[root.id][0], str):
        value = values.of(target, scope)
        if value is not None and value.resolution == "import":
            yield Edge("writes_state", scope.symbol, value.ref, None, "import", kind, span_of(target), "imported_name")


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
