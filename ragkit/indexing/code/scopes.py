"""What a Python file binds and uses, scope by scope: what the layers C2–C4 share.

`scope_walk.read_scopes` makes it in one walk, `values.Values` reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragkit.indexing.code.symbols import Symbol

ScopeKind = Literal["module", "class", "function", "lambda"]
UseKind = Literal["call", "await", "decorator", "base", "metaclass", "import", "from_import"]
WriteKind = Literal["assignment", "augmented", "item", "attribute", "delete"]

Bound = ast.expr | Symbol | str | None
"""What a name is bound to: an expression to evaluate, a symbol, the dotted name of an import, or something unknown."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation that a binding carries; its name stands for an instance of it."""

    expression: ast.expr


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function or lambda while the file is walked; read-only afterwards."""

    kind: ScopeKind
    parent: Scope | None
    symbol: Symbol | None
    """The symbol whose body this is; a lambda's is that of the scope around it."""
    bound: dict[str, list[Bound | Annotation]] = field(default_factory=dict[str, "list[Bound | Annotation]"])
    members: dict[str, list[tuple[Bound | Annotation, Scope]]] = field(
        default_factory=dict[str, "list[tuple[Bound | Annotation, Scope]]"]
    )
    """Of a class: what methods assign to `self.name`, and the scope of the method."""
    outer: set[str] = field(default_factory=set[str])
    """Names declared `global` or `nonlocal`."""
    reads: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    """Names that are loaded, with the first place."""
    self_name: str | None = None
    """First parameter of a method."""
    is_classmethod: bool = False

    @property
    def class_scope(self) -> Scope | None:
        """The class whose method this function is."""
        return self.parent if self.parent is not None and self.parent.kind == "class" else None


@dataclass(frozen=True, slots=True)
class Use:
    """A call, decorator, base or import and where it stands."""

    kind: UseKind
    target: ast.expr | str
    """The called, applied or inherited expression; of an import its absolute dotted name."""
    node: ast.expr | ast.stmt
    scope: Scope
    """Where the target is looked up."""
    source: Symbol | None
    """The symbol that the edge starts from."""
    alias: str | None = None
    """Of an import: the name that it binds."""


@dataclass(frozen=True, slots=True)
class Write:
    """A store to a name, or through one: `NAME = …`, `NAME[…] = …`, `NAME.x = …`."""

    kind: WriteKind
    target: ast.expr
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScopes:
    """What the walk of one file gave."""

    path: str
    module: str
    is_package: bool
    tree: ast.Module
    symbols: tuple[Symbol, ...]
    top: Scope
    scopes: Mapping[Symbol, Scope]
    """Of each function and class."""
    uses: tuple[Use, ...]
    writes: tuple[Write, ...]
    attributes: tuple[tuple[ast.Attribute, Scope], ...]
    """Constants loaded through a name: `settings.LIMIT`."""
    calls: tuple[tuple[ast.Call, Scope], ...]


MUTATORS = frozenset(
    {"append", "appendleft", "add", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
     "setdefault", "update"}
)  # fmt: skip
"""Methods of containers that change them."""


def absolute_name(module: str, is_package: bool, level: int, name: str | None) -> str:
    """The dotted name of what `from ..name import` speaks of, seen from a module."""
    if not level:
        return name or ""
    # The `__init__` of the indexed folder itself: what it takes from inside has no prefix.
    parts = module.split(".") if module and module != "__init__" else []
    cut = level - 1 if is_package else level
    parts = parts[: len(parts) - cut] if cut else parts
    return ".".join([*parts, *([name] if name else [])])


def is_chain(expression: ast.expr) -> bool:
    """Whether an expression is a dotted name."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name)


def is_mutation(call: ast.Call) -> bool:
    """Whether a call is `NAME.append(…)` or the like: of a container, a write rather than a read."""
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr in MUTATORS and isinstance(func.value, ast.Name)


def method_of(scope: Scope) -> Scope | None:
    """The method that a scope is or lies in (functions and lambdas inside it see its `self`)."""
    current: Scope | None = scope
    while current is not None and current.kind in ("function", "lambda"):
        if current.self_name is not None:
            return current
        current = current.parent
    return None
