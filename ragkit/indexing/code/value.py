"""What an expression of a Python file stands for, and what its dotted name tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ragkit.indexing.code.scopes import Annotation
from ragkit.indexing.code.symbols import Symbol

Resolution = Literal["local", "import", "builtin", "unresolved"]


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression stands for."""

    resolution: Resolution
    ref: str
    """Dotted name: of a symbol `module.qname`, of an import what it names; `()` after a part that is called."""
    symbol: Symbol | None = None
    is_instance: bool = False
    """Of the symbol, which is a class; or of the outside name, which then is one too."""
    is_inherited: bool = False
    """Whether it is an attribute that some base outside the file must have."""


def is_class_value(value: Value) -> bool:
    """Whether a value is a class: of the file, or outside and named like one."""
    if value.symbol is not None:
        return value.symbol.kind == "class" and not value.is_instance
    return value.resolution == "import" and looks_like_class(value.ref.rpartition(".")[2])


def plain_ref(ref: str) -> str:
    """A dotted name without the call marks of classes: `fastapi.FastAPI().get` → `fastapi.FastAPI.get`."""
    if "()" not in ref:
        return ref
    parts = ref.split(".")
    return ".".join(part[:-2] if part.endswith("()") and looks_like_class(part) else part for part in parts)


def looks_like_class(name: str) -> bool:
    """Whether a name is written as classes are."""
    return name.lstrip("_")[:1].isupper()


def symbol_ref(module: str, symbol: Symbol) -> str:
    """The dotted name of a symbol of a module."""
    return f"{module}.{symbol.qname}" if module else symbol.qname


def class_value(module: str, symbol: Symbol) -> Value:
    """A class of the file itself."""
    return Value("local", symbol_ref(module, symbol), symbol)


def instance_of(value: Value | None) -> Value | None:
    """An instance of a class; None where the value is none, or a builtin."""
    if value is None or value.resolution == "builtin" or (value.symbol is not None and value.symbol.kind != "class"):
        # A variable may be an alias of a type; what the alias means, its own value has said already.
        return None
    return Value(value.resolution, value.ref, value.symbol, is_instance=True)


def is_class_like(value: Value) -> bool:
    """Whether a value may be a class: one of the file, or anything outside."""
    return value.symbol is None or value.symbol.kind == "class"


def bases_of(owner: Symbol) -> Iterator[ast.expr]:
    """Base classes as written, without type arguments."""
    if isinstance(owner.node, ast.ClassDef):
        for base in owner.node.bases:
            yield base.value if isinstance(base, ast.Subscript) else base


def last_part(expression: ast.expr) -> str:
    """The last part of a dotted name; empty for anything else."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def is_none(expression: ast.expr) -> bool:
    """Whether an expression is the literal `None`."""
    return isinstance(expression, ast.Constant) and expression.value is None


def is_blank(item: ast.expr | Annotation) -> bool:
    """Whether a binding says nothing: `x = None` before the real one."""
    return isinstance(item, ast.expr) and is_none(item)


def parent_is_class(ref: str) -> bool:
    """Whether the part before the last of a dotted name is written as classes are."""
    return looks_like_class(ref.rpartition(".")[0].rpartition(".")[2])
