"""The one walk over a parsed file that finds its scopes, bindings and uses.

The walk records and decides nothing: a name may be bound below its use, so values (`values.py`) are worked out after.
Its stack is a list, not Python's: nesting of any depth that `ast` itself accepts is walked.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from ragkit.indexing.code.scopes import (
    Annotation,
    Bound,
    FileScopes,
    Scope,
    Use,
    UseKind,
    Write,
    WriteKind,
    absolute_name,
    is_chain,
    is_mutation,
    method_of,
)
from ragkit.indexing.code.symbols import Symbol

_LEAVES = frozenset(
    {ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue, ast.operator, ast.alias}
)


def read_scopes(tree: ast.Module, symbols: Sequence[Symbol], path: str, module: str) -> FileScopes:
    """Scopes, uses and writes of a parsed file."""
    is_package = path.rpartition("/")[2].startswith("__init__.")
    walk = _Walk(symbols, module, is_package)
    walk.run(tree)
    return FileScopes(
        path=path,
        module=module,
        is_package=is_package,
        tree=tree,
        symbols=tuple(symbols),
        top=walk.top,
        scopes=walk.scopes,
        uses=tuple(walk.uses),
        writes=tuple(walk.writes),
        attributes=tuple(walk.attributes),
        calls=tuple(walk.calls),
    )


class _Walk:
    """The state of one walk; children of a node are visited in no promised order."""

    def __init__(self, symbols: Sequence[Symbol], module: str, is_package: bool) -> None:
        self._symbols = {symbol.node: symbol for symbol in symbols if symbol.definition}
        self._module = module
        self._is_package = is_package
        self.top = Scope("module", None, None)
        for symbol in symbols:
            if symbol.definition is None and symbol.parent is None:
                self.top.bound.setdefault(symbol.name, []).append(symbol)
        self.scopes: dict[Symbol, Scope] = {}
        self.uses: list[Use] = []
        self.writes: list[Write] = []
        self.attributes: list[tuple[ast.Attribute, Scope]] = []
        self.calls: list[tuple[ast.Call, Scope]] = []
        self._stack: list[tuple[ast.AST, Scope]] = []
        self._awaited: set[int] = set()

    def run(self, tree: ast.Module) -> None:
        stack = self._stack
        stack.extend((statement, self.top) for statement in reversed(tree.body))
        visitors, leaves = _VISITORS, _LEAVES
        while stack:
            node, scope = stack.pop()
            visit = visitors.get(node.__class__)
            if visit is not None:
                visit(self, node, scope)
                continue
            for name in node._fields:
                child = getattr(node, name, None)
                if isinstance(child, list):
                    inner = cast("list[object]", child)
                    stack.extend((item, scope) for item in inner if isinstance(item, ast.AST))
                elif isinstance(child, ast.AST) and child.__class__ not in leaves:
                    stack.append((child, scope))

    def push(self, nodes: Sequence[ast.AST | None], scope: Scope) -> None:
        self._stack.extend((node, scope) for node in reversed(nodes) if node is not None)

    # Definitions

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        symbol = self._symbols.get(node)
        self._decorators(node, scope, symbol)
        _bind(scope, node.name, symbol)
        inner = Scope("function", scope, symbol or scope.symbol)
        if symbol is not None:
            self.scopes[symbol] = inner
        names = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        if scope.kind == "class" and first is not None and "staticmethod" not in names:
            inner.self_name = first.arg
            inner.is_classmethod = "classmethod" in names or node.name in ("__new__", "__init_subclass__")
        _bind_parameters(node.args, inner)
        self.push([*node.args.defaults, *node.args.kw_defaults], scope)
        self.push(node.body, inner)

    def class_(self, node: ast.ClassDef, scope: Scope) -> None:
        symbol = self._symbols.get(node)
        self._decorators(node, scope, symbol)
        _bind(scope, node.name, symbol)
        inner = Scope("class", scope, symbol)
        if symbol is not None:
            self.scopes[symbol] = inner
        for base in node.bases:
            self.uses.append(Use("base", base, base, scope, symbol))
            self.push([base], scope)
        for keyword in node.keywords:
            if keyword.arg == "metaclass":
                self.uses.append(Use("metaclass", keyword.value, keyword.value, scope, symbol))
            self.push([keyword.value], scope)
        self.push(node.body, inner)

    def _decorators(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope, symbol: Symbol | None
    ) -> None:
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            self.uses.append(Use("decorator", target, decorator, scope, symbol))
            if isinstance(decorator, ast.Call):
                self.push([*decorator.args, *(keyword.value for keyword in decorator.keywords)], scope)
            if not isinstance(target, ast.Name):
                self.push([target], scope)

    def lambda_(self, node: ast.Lambda, scope: Scope) -> None:
        inner = Scope("lambda", scope, scope.symbol)
        _bind_parameters(node.args, inner)
        self.push([*node.args.defaults, *node.args.kw_defaults], scope)
        self.push([node.body], inner)

    # Bindings

    def import_(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            _bind(scope, alias.asname or top, alias.name if alias.asname else top)
            self.uses.append(Use("import", alias.name, node, scope, scope.symbol, alias.asname or top))

    def import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = absolute_name(self._module, self._is_package, node.level, node.module)
        for alias in node.names:
            target = f"{module}.{alias.name}" if module else alias.name
            if alias.name != "*":
                _bind(scope, alias.asname or alias.name, target)
            self.uses.append(Use("from_import", target, node, scope, scope.symbol, alias.asname or alias.name))

    def assign(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._store(target, node.value, scope, "assignment")
        self.push([node.value], scope)

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        self._store(node.target, Annotation(node.annotation), scope, "assignment", written=node.value is not None)
        self.push([node.value], scope)

    def augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        self._store(node.target, None, scope, "augmented")
        self.push([node.value], scope)

    def with_(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self._store(item.optional_vars, item.context_expr, scope, "assignment")
            self.push([item.context_expr], scope)
        self.push(node.body, scope)

    def handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            _bind(scope, node.name, Annotation(node.type) if node.type and is_chain(node.type) else None)
        self.push([node.type, *node.body], scope)

    def walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        self._store(node.target, node.value, scope, "assignment")
        self.push([node.value], scope)

    def outer_names(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        scope.outer.update(node.names)

    def delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            self._store(target, None, scope, "delete")

    def _store(
        self, target: ast.expr, value: Bound | Annotation, scope: Scope, kind: WriteKind, *, written: bool = True
    ) -> None:
        waiting: list[tuple[ast.expr, Bound | Annotation]] = [(target, value)]
        while waiting:
            target, value = waiting.pop()
            if isinstance(target, (ast.Tuple, ast.List)):
                waiting.extend((element, None) for element in target.elts)
            elif isinstance(target, ast.Starred):
                waiting.append((target.value, None))
            elif isinstance(target, ast.Name):
                _bind(scope, target.id, value)
                if target.id in scope.outer and written:
                    self.writes.append(Write(kind, target, scope))
            elif isinstance(target, ast.Attribute):
                self._store_attribute(target, value, scope, kind)
            elif isinstance(target, ast.Subscript):
                if is_chain(target.value):
                    self.writes.append(Write(kind if kind == "delete" else "item", target.value, scope))
                self.push([target.slice, *([] if is_chain(target.value) else [target.value])], scope)

    def _store_attribute(self, target: ast.Attribute, value: Bound | Annotation, scope: Scope, kind: WriteKind) -> None:
        owner = method_of(scope)
        if isinstance(target.value, ast.Name) and owner is not None and target.value.id == owner.self_name:
            class_scope = owner.class_scope
            if class_scope is not None:
                class_scope.members.setdefault(target.attr, []).append((value, scope))
        elif is_chain(target):
            self.writes.append(Write(kind if kind == "delete" else "attribute", target, scope))
        if not is_chain(target.value):
            self.push([target.value], scope)

    # Uses

    def call(self, node: ast.Call, scope: Scope) -> None:
        self.calls.append((node, scope))
        kind: UseKind = "await" if id(node) in self._awaited else "call"
        self.uses.append(Use(kind, node.func, node, scope, scope.symbol))
        if not isinstance(node.func, ast.Name) and not is_mutation(node):
            self.push([node.func], scope)
        self.push([*node.args, *(keyword.value for keyword in node.keywords)], scope)

    def await_(self, node: ast.Await, scope: Scope) -> None:
        if isinstance(node.value, ast.Call):
            self._awaited.add(id(node.value))
        self.push([node.value], scope)

    def name(self, node: ast.Name, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Load):
            scope.reads.setdefault(node.id, node)
        else:
            _bind(scope, node.id, None)

    def attribute(self, node: ast.Attribute, scope: Scope) -> None:
        if node.attr.isupper() and is_chain(node):
            self.attributes.append((node, scope))
        self.push([node.value], scope)


def _bind(scope: Scope, name: str, value: Bound | Annotation) -> None:
    scope.bound.setdefault(name, []).append(value)


def _bind_parameters(arguments: ast.arguments, scope: Scope) -> None:
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        if argument.arg != scope.self_name or argument.annotation is not None:
            _bind(scope, argument.arg, Annotation(argument.annotation) if argument.annotation else None)
    for argument in (arguments.vararg, arguments.kwarg):
        if argument is not None:
            _bind(scope, argument.arg, None)


_Visit = Callable[[_Walk, ast.AST, Scope], None]
_VISITORS = cast(
    "Mapping[type[ast.AST], _Visit]",
    {
        ast.FunctionDef: _Walk.function,
        ast.AsyncFunctionDef: _Walk.function,
        ast.ClassDef: _Walk.class_,
        ast.Lambda: _Walk.lambda_,
        ast.Import: _Walk.import_,
        ast.ImportFrom: _Walk.import_from,
        ast.Assign: _Walk.assign,
        ast.AnnAssign: _Walk.annotated,
        ast.AugAssign: _Walk.augmented,
        ast.With: _Walk.with_,
        ast.AsyncWith: _Walk.with_,
        ast.ExceptHandler: _Walk.handler,
        ast.NamedExpr: _Walk.walrus,
        ast.Global: _Walk.outer_names,
        ast.Nonlocal: _Walk.outer_names,
        ast.Delete: _Walk.delete,
        ast.Call: _Walk.call,
        ast.Await: _Walk.await_,
        ast.Name: _Walk.name,
        ast.Attribute: _Walk.attribute,
    },
)
