"""What a name or an expression of a Python file stands for, as far as the file itself tells.

A value is a symbol of the file, an instance of a class, or a dotted name of something outside. Types come from
assignments, annotations, `self` attributes and return annotations. Nothing is guessed: an unknown value is None.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ragkit.indexing.code.scopes import Annotation, Bound, FileScopes, Scope, method_of
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.code.value import (
    Value,
    bases_of,
    class_value,
    instance_of,
    is_blank,
    is_class_like,
    is_none,
    last_part,
    symbol_ref,
)

BUILTINS = frozenset(name for name in dir(builtins) if name != "_")
MAX_DEPTH = 24
"""Of an evaluation; deeper chains are unknown."""

_DOTTED = re.compile(r"\s*([^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*(?:\|\s*None\s*)?")
_WRAPPERS = frozenset({"Annotated", "Optional", "Final", "ClassVar", "Required", "NotRequired"})
_ITSELF = frozenset({"Self"})
_ASYNC = frozenset({"Awaitable", "Coroutine"})
_YIELDING = frozenset({"Iterator", "Generator", "AsyncIterator", "AsyncGenerator", "Iterable"})
"""Return annotations of context managers: what `with` gives is their first argument."""


@dataclass(frozen=True, slots=True)
class _Super:
    owner: Scope


class Values:
    """Evaluates expressions of one file; caches by scope and name."""

    def __init__(self, scopes: FileScopes) -> None:
        self.file = scopes
        self._names: dict[tuple[int, str], Value | None] = {}
        self._members: dict[tuple[Symbol, str], Value | None] = {}
        self._classes = {symbol: scopes.scopes[symbol] for symbol in scopes.scopes if symbol.kind == "class"}
        self._fields = {
            (symbol.parent, symbol.name): symbol
            for symbol in reversed(scopes.symbols)
            if symbol.parent is not None and symbol.kind == "field"
        }

    def of(self, expression: ast.expr, scope: Scope, depth: int = 0) -> Value | None:
        """The value of an expression; None when the file does not tell."""
        found = self._evaluate(expression, scope, depth)
        return None if isinstance(found, _Super) else found

    def name(self, name: str, scope: Scope, depth: int = 0) -> Value | None:
        """The value of a name seen from a scope; a builtin where nothing binds it."""
        owner = self.binding_scope(name, scope)
        if owner is None:
            return Value("builtin", name) if name in BUILTINS else None
        key = (id(owner), name)
        if key not in self._names:
            self._names[key] = None  # a name that depends on itself is unknown
            bound: list[tuple[Bound | Annotation, Scope]] = [(item, owner) for item in owner.bound.get(name, ())]
            self._names[key] = self._joined(bound, depth)
        return self._names[key]

    def binding_scope(self, name: str, scope: Scope) -> Scope | None:
        """The scope that a name seen from another belongs to; classes are looked into from their own body alone."""
        current: Scope | None = scope
        while current is not None:
            if name in current.outer:
                if current.kind == "function" and self._is_global(name, current):
                    return self.file.top if name in self.file.top.bound else None
            elif name in current.bound and (current.kind != "class" or current is scope):
                return current
            current = current.parent
        return None

    def variable(self, name: str, scope: Scope) -> Symbol | None:
        """The module variable that a name seen from a scope is."""
        if self.binding_scope(name, scope) is not self.file.top:
            return None
        first = next(iter(self.file.top.bound.get(name, ())), None)
        return first if isinstance(first, Symbol) and first.definition is None else None

    def member(self, owner: Symbol, name: str, depth: int = 0, *, skip_own: bool = False) -> Value | None:
        """The value of an attribute of a class or its instance, its bases in the file included."""
        key = (owner, name)
        if not skip_own and key in self._members:
            return self._members[key]
        if not skip_own:
            self._members[key] = None
        found = self._member(owner, name, depth, skip_own=skip_own)
        if not skip_own:
            self._members[key] = found
        return found

    def returned(self, function: Symbol, depth: int = 0, *, entered: bool = False) -> Value | None:
        """The value that a function's return annotation promises; `entered`: what `with` makes of it."""
        node = function.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.returns is None:
            return None
        scope = self.file.scopes[function].parent or self.file.top
        returns = node.returns
        if entered and isinstance(returns, ast.Subscript) and last_part(returns.value) in _YIELDING:
            returns = returns.slice.elts[0] if isinstance(returns.slice, ast.Tuple) else returns.slice
        return self.annotated(returns, scope, depth)

    def annotated(self, annotation: ast.expr, scope: Scope, depth: int = 0) -> Value | None:
        """An instance of what an annotation names: `X`, `X | None`, `Optional[X]`, `Annotated[X, …]`, `"X"`."""
        if depth > MAX_DEPTH:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            found = _DOTTED.fullmatch(annotation.value[:200])
            return instance_of(self._dotted(found[1], scope, depth)) if found else None
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            sides = [side for side in (annotation.left, annotation.right) if not is_none(side)]
            return self.annotated(sides[0], scope, depth + 1) if len(sides) == 1 else None
        if isinstance(annotation, ast.Subscript):
            return self._generic(annotation, scope, depth)
        if last_part(annotation) in _ITSELF:
            owner = method_of(scope) or scope
            class_scope = owner if owner.kind == "class" else owner.class_scope
            return (
                instance_of(class_value(self.file.module, class_scope.symbol))
                if class_scope and class_scope.symbol
                else None
            )
        return instance_of(self.of(annotation, scope, depth + 1))

    def _generic(self, annotation: ast.Subscript, scope: Scope, depth: int) -> Value | None:
        head, inner = last_part(annotation.value), annotation.slice
        arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if head in _WRAPPERS and arguments:
            return self.annotated(arguments[0], scope, depth + 1)
        if head in _ASYNC and arguments:
            return self.annotated(arguments[-1], scope, depth + 1)
        if head in ("type", "Type") and arguments:
            found = self.of(arguments[0], scope, depth + 1)
            return found if found is not None and found.symbol is not None else None
        value = self.of(annotation.value, scope, depth + 1)
        return instance_of(value) if value is not None and value.symbol is not None else None

    def _dotted(self, dotted: str, scope: Scope, depth: int) -> Value | None:
        name, *rest = dotted.split(".")
        value = self.name(name, scope, depth)
        for attribute in rest:
            value = self._attribute(value, attribute, depth) if value is not None else None
        return value

    def _evaluate(self, expression: ast.expr, scope: Scope, depth: int) -> Value | _Super | None:
        if depth > MAX_DEPTH:
            return None
        if isinstance(expression, ast.Name):
            return self._self_or_name(expression.id, scope, depth)
        if isinstance(expression, ast.Attribute):
            return self._attribute(self._evaluate(expression.value, scope, depth + 1), expression.attr, depth)
        if isinstance(expression, ast.Call):
            return self._call(expression, scope, depth)
        if isinstance(expression, ast.Await):
            return self._evaluate(expression.value, scope, depth + 1)
        if isinstance(expression, ast.NamedExpr):
            return self._evaluate(expression.value, scope, depth + 1)
        if isinstance(expression, (ast.BoolOp, ast.IfExp)):
            options = expression.values if isinstance(expression, ast.BoolOp) else [expression.body, expression.orelse]
            known = [self.of(option, scope, depth + 1) for option in options[:4] if not is_none(option)]
            first = next((value for value in known if value is not None), None)
            # What stands before `or` is what is meant, the rest its substitute.
            is_one = isinstance(expression, ast.BoolOp) or len({value for value in known if value is not None}) == 1
            return first if is_one else None
        if isinstance(expression, ast.Subscript):
            value = self.of(expression.value, scope, depth + 1)
            # A class with type arguments is the class; an element of anything else is unknown.
            return value if value is not None and not value.is_instance and is_class_like(value) else None
        return None

    def _self_or_name(self, name: str, scope: Scope, depth: int) -> Value | None:
        owner = method_of(scope)
        if owner is not None and name == owner.self_name and self.binding_scope(name, scope) in (None, owner):
            class_scope = owner.class_scope
            if class_scope is not None and class_scope.symbol is not None and len(owner.bound.get(name, ())) < 2:
                value = class_value(self.file.module, class_scope.symbol)
                return value if owner.is_classmethod else instance_of(value)
        return self.name(name, scope, depth)

    def _call(self, call: ast.Call, scope: Scope, depth: int) -> Value | _Super | None:
        if isinstance(call.func, ast.Name) and call.func.id == "super":
            owner = method_of(scope)
            return _Super(owner.class_scope) if owner is not None and owner.class_scope is not None else None
        value = self.of(call.func, scope, depth + 1)
        if value is None or value.resolution == "builtin":
            return None
        if value.symbol is None:
            if value.resolution == "import" and call.args and value.ref.rpartition(".")[2] == "cast":
                return self.annotated(call.args[0], scope, depth + 1)
            if value.is_instance and not value.ref.endswith("()"):
                return Value(value.resolution, f"{value.ref}.__call__()", is_instance=True)
            return Value(value.resolution, f"{value.ref}()", is_instance=True)
        if value.symbol.kind == "class":
            return None if value.is_instance else instance_of(value)
        return self.returned(value.symbol, depth + 1) if value.symbol.kind in ("function", "method") else None

    def _attribute(self, value: Value | _Super | None, name: str, depth: int) -> Value | None:
        if isinstance(value, _Super):
            symbol = value.owner.symbol
            return self.member(symbol, name, depth + 1, skip_own=True) if symbol is not None else None
        if value is None or value.resolution == "builtin":
            return None
        if value.symbol is None:
            return Value(value.resolution, f"{value.ref}.{name}")
        return self.member(value.symbol, name, depth + 1) if value.symbol.kind == "class" else None

    def _member(self, owner: Symbol, name: str, depth: int, *, skip_own: bool) -> Value | None:
        if depth > MAX_DEPTH:
            return None
        scope = self._classes.get(owner)
        if scope is None:
            return None
        if not skip_own:
            if name in scope.bound:
                return self._own(owner, scope, name, depth)
            if name in scope.members:
                return self._joined(scope.members[name], depth)
        unseen: list[Value | None] = []
        for base in bases_of(owner):
            value = self.of(base, scope.parent or self.file.top, depth + 1)
            if value is None or value.symbol is None:
                if value is None or value.resolution != "builtin":
                    unseen.append(value)
            elif value.symbol is not owner:
                found = self.member(value.symbol, name, depth + 1)
                if found is not None and not found.is_inherited:
                    return found
                if found is not None:
                    unseen.append(Value(found.resolution, found.ref.rpartition(".")[0]))
        if len(unseen) == 1 and unseen[0] is not None:
            return Value(unseen[0].resolution, f"{unseen[0].ref}.{name}", is_inherited=True)
        suffix = f"super().{name}" if skip_own else name
        if not unseen:
            return None
        return Value("unresolved", f"{symbol_ref(self.file.module, owner)}.{suffix}", is_inherited=True)

    def _own(self, owner: Symbol, scope: Scope, name: str, depth: int) -> Value | None:
        items = scope.bound[name]
        first = items[0]
        if isinstance(first, Symbol):
            if first.kind == "property":
                return self.returned(first, depth + 1)
            return Value("local", symbol_ref(self.file.module, first), first)
        typed = self._joined([*((item, scope) for item in items), *scope.members.get(name, ())], depth)
        field = self._fields.get((owner, name))
        return typed or (Value("local", symbol_ref(self.file.module, field), field) if field else None)

    def _joined(self, bound: Iterable[tuple[Bound | Annotation, Scope]], depth: int) -> Value | None:
        """The one value of several bindings; symbols and imports win by coming first, differing types are unknown."""
        module = self.file.module
        variable: Symbol | None = None
        known: dict[Value, None] = {}
        for item, scope in bound:
            if isinstance(item, Symbol) and item.definition is None:
                variable = item
            elif isinstance(item, Symbol):
                return Value("local", symbol_ref(module, item), item)
            elif isinstance(item, str):
                return Value("import", item)
            else:
                value = self._of_binding(item, scope, depth + 1)
                if value is not None:
                    known[value] = None
                elif not (item is not None and is_blank(item)):
                    return None if variable is None else Value("local", symbol_ref(module, variable), variable)
        if len(known) == 1:
            return next(iter(known))
        return Value("local", symbol_ref(module, variable), variable) if variable is not None else None

    def _of_binding(self, item: ast.expr | Annotation | None, scope: Scope, depth: int) -> Value | None:
        if item is None:
            return None
        return (
            self.annotated(item.expression, scope, depth)
            if isinstance(item, Annotation)
            else self.of(item, scope, depth)
        )

    def _is_global(self, name: str, scope: Scope) -> bool:
        """Whether no function around the scope binds the name."""
        current = scope.parent
        while current is not None and current.kind != "module":
            if current.kind == "function" and name in current.bound and name not in current.outer:
                return False
            current = current.parent
        return True
