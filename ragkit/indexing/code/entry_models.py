"""What a route's handler asks for and gives: the check of who asks, the model of the body, the model of the answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ragkit.indexing.code.entries import EntrySource, keyword, last_part
from ragkit.indexing.code.entry_words import (
    AUTH_WORDS,
    BODY_NAMES,
    BODY_SUFFIXES,
    DEPENDENCIES,
    NO_BODY,
    NO_BODY_MARKS,
    NO_MODEL,
    SURE_AUTH_WORDS,
)
from ragkit.indexing.code.scopes import Scope
from ragkit.indexing.code.symbols import Symbol

Parameter = tuple[ast.arg, ast.expr | None]


def parameters(handler: Symbol) -> Iterator[Parameter]:
    """Parameters of a function with their defaults, in order; `*args` and `**kwargs` are none."""
    node = handler.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        plain = [*node.args.posonlyargs, *node.args.args]
        defaults = [None] * (len(plain) - len(node.args.defaults)) + list(node.args.defaults)
        yield from zip(plain, defaults, strict=True)
        yield from zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)


def handler_auth(source: EntrySource, handler: Symbol, scope: Scope) -> str | None:
    """The dependency or decorator of a handler that checks who asks, as written."""
    for parameter, default in parameters(handler):
        for mark in [default, *_marks(parameter.annotation)]:
            found = _dependency(source, mark)
            if found is not None:
                return found
        named = last_part(parameter.annotation) if parameter.annotation is not None else ""
        words = frozenset(source.split(named))
        if words & SURE_AUTH_WORDS or {"current", "user"} <= words:
            return named
    definition = handler.definition
    for decorator in definition.decorator_list if definition is not None else ():
        name = last_part(decorator)
        # Of a route decorator the last part is the method; `login_required` and `requires_auth` are no methods.
        if name not in NO_MODEL and len(source.split(name)) > 1 and frozenset(source.split(name)) & AUTH_WORDS:
            return name
    return None


def dependencies_auth(source: EntrySource, call: ast.Call) -> str | None:
    """The same of `dependencies=[Depends(…)]` of a route or a router."""
    given = keyword(call, "dependencies")
    for item in given.elts[:20] if isinstance(given, (ast.List, ast.Tuple)) else ():
        found = _dependency(source, item)
        if found is not None:
            return found
    return None


def _dependency(source: EntrySource, mark: ast.expr | None) -> str | None:
    if not isinstance(mark, ast.Call) or last_part(mark) not in DEPENDENCIES:
        return None
    target = mark.args[0] if mark.args else keyword(mark, "dependency")
    name = last_part(target) if target is not None else ""
    is_check = last_part(mark) == "Security" or bool(frozenset(source.split(name)) & AUTH_WORDS)
    return name if name and is_check else None


def _marks(annotation: ast.expr | None) -> list[ast.expr]:
    """What `Annotated[X, …]` says beside the type."""
    if isinstance(annotation, ast.Subscript) and last_part(annotation.value) == "Annotated":
        return annotation.slice.elts[1:] if isinstance(annotation.slice, ast.Tuple) else []
    return []


def request_model(source: EntrySource, handler: Symbol, path: str) -> str | None:
    """The class of the body as written: a parameter whose class this file defines as a model, or whose name or class
    says that it is one. Several are joined.
    """
    found: list[str] = []
    for parameter, default in parameters(handler):
        annotation = parameter.annotation
        marks = [*_marks(annotation), *([default] if default is not None else [])]
        if (
            annotation is None
            or f"{{{parameter.arg}" in path
            or any(last_part(mark) in NO_BODY_MARKS for mark in marks)
        ):
            continue
        is_marked = any(last_part(mark) in ("Body", "Form") for mark in marks)
        named = _bare(annotation)
        name = last_part(named)
        if not name.lstrip("_")[:1].isupper() or name in NO_BODY:
            continue
        if is_marked or parameter.arg in BODY_NAMES or name.endswith(BODY_SUFFIXES) or _is_model(source, named):
            found.append(name)
    return ", ".join(found) or None


def _bare(annotation: ast.expr) -> ast.expr:
    """The type in `Annotated[X, …]`, `X | None`, `Optional[X]`, `list[X]`."""
    for _ in range(4):
        if isinstance(annotation, ast.Subscript):
            inner = annotation.slice
            annotation = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
        elif isinstance(annotation, ast.BinOp):
            annotation = annotation.left
        else:
            break
    return annotation


def _is_model(source: EntrySource, named: ast.expr) -> bool:
    """Whether the file defines the class, with bases that make it a model and no enumeration."""
    value = source.values.of(named, source.file.top)
    if value is None or value.symbol is None or not isinstance(value.symbol.node, ast.ClassDef):
        return False
    bases = [last_part(base) for base in value.symbol.node.bases]
    return any(base.endswith(("Model", "Schema", "Base", *BODY_SUFFIXES)) for base in bases)


def response_model(source: EntrySource, call: ast.Call, handler: Symbol) -> str | None:
    """`response_model=…` of the decorator, else the return annotation, as written."""
    given = keyword(call, "response_model")
    node = handler.node
    if given is None and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        given = node.returns
    shown = source.shown(given).strip("\"'") if given is not None else "None"
    return None if shown.rpartition(".")[2] in NO_MODEL else shown
