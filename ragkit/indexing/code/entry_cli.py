"""Commands of a file: typer and click decorators, argparse parsers, Django management commands, `__main__`; and the
console scripts of a `pyproject.toml`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import cast

from ragkit.indexing.code.entries import Entry, EntrySource, argument, keyword, last_part, root
from ragkit.indexing.code.entry_argparse import described, destination, parser_entries
from ragkit.indexing.code.entry_models import parameters
from ragkit.indexing.code.entry_words import COMMAND_DECORATORS, COMMAND_LINE
from ragkit.indexing.code.evidence import Span, header_span
from ragkit.indexing.code.scopes import Scope
from ragkit.indexing.code.symbols import Symbol
from ragkit.indexing.passages import Lines

_MAX_NESTING = 8
_FLAGS = frozenset({"option", "argument"})
_NO_ARGUMENTS = frozenset({"Context"})
_SCRIPT_TABLES = (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"))

_DECORATING = {module: framework for module, framework in COMMAND_LINE.items() if framework != "argparse"}
"""A file that imports `argparse` too has no decorators from there."""


def cli_entries(source: EntrySource) -> Iterator[Entry]:
    """Commands in no promised order."""
    if source.imported(COMMAND_LINE) is not None:
        imported = source.imported(_DECORATING)
        for use in source.file.uses:
            if use.kind == "decorator" and isinstance(use.node, ast.expr) and use.source is not None:
                entry = _decorated(source, use.node, use.scope, use.source, imported)
                if entry is not None:
                    yield entry
        yield from parser_entries(source)
    yield from _management_commands(source)
    yield from _main(source)


def _decorated(
    source: EntrySource, decorator: ast.expr, scope: Scope, handler: Symbol, imported: str | None
) -> Entry | None:
    word = last_part(decorator)
    if word not in COMMAND_DECORATORS:
        return None
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    value = source.values.of(func, scope)
    framework = COMMAND_LINE.get(root(value.ref)) if value is not None and value.resolution == "import" else None
    if framework is None:
        # An application or a group from elsewhere, or a group that is a function of this file.
        if not isinstance(func, ast.Attribute) or (value is not None and value.resolution == "builtin"):
            return None
        framework = imported
    if framework is None or framework == "argparse" or (word == "callback" and framework != "typer"):
        return None
    owner = func.value if isinstance(func, ast.Attribute) else None
    call = decorator if isinstance(decorator, ast.Call) else None
    own = source.string(argument(call, 0, "name"), scope) if call is not None else None
    name = own or handler.name.strip("_").replace("_", "-").lower()
    before = _group_name(source, owner, scope, 0) if owner is not None else ""
    if word == "callback":
        name = before or own or handler.name
        before = ""
    help_text = source.string(keyword(call, "help", "short_help"), scope) if call is not None else None
    return Entry(
        entry_type="cli_command",
        framework=framework,
        name=f"{before} {name}".strip(),
        handler=handler,
        span=header_span(handler, decorator),
        args_schema=_click_schema(source, handler)
        if framework in ("click", "flask")
        else _typer_schema(source, handler),
        words=help_text or "",
        payload={"group": True} if word in ("group", "callback") else {},
    )


def _group_name(source: EntrySource, owner: ast.expr, scope: Scope, depth: int) -> str:
    """The words before the commands of a group, as far as the file says: of `app.add_typer(locker, name="locker")`
    that name, of a click group its own.
    """
    if depth > _MAX_NESTING or not isinstance(owner, ast.Name):
        return ""
    value = source.values.of(owner, scope)
    if value is not None and value.symbol is not None and value.symbol.kind == "function":
        return _click_group(source, value.symbol, scope, depth)
    for call, where in source.file.calls:
        if last_part(call) in ("add_typer", "add_command") and isinstance(call.func, ast.Attribute):
            given = argument(call, 0)
            if isinstance(given, ast.Name) and given.id == owner.id:
                name = source.string(keyword(call, "name"), where)
                name = name or _constructed_name(source, owner, scope)
                return f"{_group_name(source, call.func.value, where, depth + 1)} {name}".strip()
    return ""


def _click_group(source: EntrySource, group: Symbol, scope: Scope, depth: int) -> str:
    """The words of a group that is a function; the outermost, which is the program itself, has none of its own."""
    for decorator in group.definition.decorator_list if group.definition else ():
        if last_part(decorator) not in ("group", "command"):
            continue
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        outer = func.value if isinstance(func, ast.Attribute) else None
        own = source.string(argument(decorator, 0, "name"), scope) if isinstance(decorator, ast.Call) else None
        if not isinstance(outer, ast.Name) or _is_module(source, outer, scope):
            return own or ""
        before = _group_name(source, outer, scope, depth + 1)
        return f"{before} {own or group.name.replace('_', '-')}".strip()
    return ""


def _is_module(source: EntrySource, node: ast.expr, scope: Scope) -> bool:
    """Whether a name is an imported module (`click.group`) or unknown, and no group."""
    value = source.values.of(node, scope)
    return value is None or (value.resolution == "import" and not value.is_instance)


def _constructed_name(source: EntrySource, owner: ast.expr, scope: Scope) -> str:
    constructor = source.constructor(owner, scope)
    return (source.string(keyword(constructor, "name"), scope) or "") if constructor is not None else ""


def _typer_schema(source: EntrySource, handler: Symbol) -> dict[str, object]:
    """Parameter → its type, default and help as written."""
    schema: dict[str, object] = {}
    for parameter, default in parameters(handler):
        annotation = parameter.annotation
        kind = "argument" if default is None else "option"
        shown: dict[str, object] = {}
        marks: list[ast.expr] = [default] if default is not None else []
        if isinstance(annotation, ast.Subscript) and last_part(annotation.value) == "Annotated":
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            annotation, marks = (inner[0] if inner else None), [*inner[1:], *marks]
        if annotation is not None and last_part(annotation) in _NO_ARGUMENTS:
            continue
        for mark in marks:
            if isinstance(mark, ast.Call) and last_part(mark) in ("Option", "Argument", "Parameter"):
                kind = last_part(mark).lower()
                shown.update(described(source, mark))
        is_plain = default is not None and not isinstance(default, ast.Call)
        if annotation is not None:
            shown["type"] = source.shown(annotation)
        if is_plain and default is not None:
            shown["default"] = source.shown(default)
        schema[parameter.arg] = {"kind": kind, **shown}
    return schema


def _click_schema(source: EntrySource, handler: Symbol) -> dict[str, object]:
    """Name of a parameter → flags, type, default and help as written in `option` and `argument` decorators."""
    schema: dict[str, object] = {}
    for decorator in handler.definition.decorator_list if handler.definition else ():
        if isinstance(decorator, ast.Call) and last_part(decorator) in _FLAGS:
            flags = [text for item in decorator.args if (text := source.string(item, source.file.top)) is not None]
            if flags:
                schema[destination(flags)] = {
                    "kind": last_part(decorator),
                    "flags": flags,
                    **described(source, decorator),
                }
    return schema


def _management_commands(source: EntrySource) -> Iterator[Entry]:
    for use in source.file.uses:
        if (
            use.kind == "base"
            and use.source is not None
            and use.source.name == "Command"
            and isinstance(use.node, ast.expr)
        ):
            value = source.values.of(use.node, use.scope)
            if value is not None and value.ref.startswith("django.") and value.ref.endswith("Command"):
                handle = next((item for item in source.file.symbols if item.qname == "Command.handle"), use.source)
                yield Entry(
                    entry_type="cli_command",
                    framework="django",
                    name=source.file.path.rpartition("/")[2].removesuffix(".py"),
                    handler=handle,
                    span=header_span(use.source),
                    args_schema={},
                )


def _main(source: EntrySource) -> Iterator[Entry]:
    for statement in source.file.tree.body:
        if isinstance(statement, ast.If) and _is_main_test(statement.test):
            start = statement.lineno - 1
            end = min(statement.end_lineno or statement.lineno, start + 6)
            called = [
                found
                for call, scope in source.file.calls
                if statement.lineno <= call.lineno <= (statement.end_lineno or 0)
                and scope.kind == "module"
                and (found := source.reference(call, scope))[1] is not None
            ]
            yield Entry(
                entry_type="main",
                framework=None,
                name=f"python {source.file.path}",
                handler=called[0][0] if called else None,
                span=Span(start, end),
                payload={"handler_ref": called[0][1]} if called and called[0][0] is None else {},
            )


def _is_main_test(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = [test.left, test.comparators[0]]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    literals = [side.value for side in sides if isinstance(side, ast.Constant)]
    return names == ["__name__"] and literals == ["__main__"]


def script_entries(text: str, source: Lines) -> Iterator[Entry]:
    """Console scripts that a `pyproject.toml` declares; none where it is no TOML."""
    try:
        document: object = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for table in _SCRIPT_TABLES:
        scripts = document
        for key in table:
            scripts = cast("Mapping[str, object]", scripts).get(key) if isinstance(scripts, dict) else None
        if not isinstance(scripts, dict):
            continue
        for name, target in cast("Mapping[str, object]", scripts).items():
            line = _line_of(source, name, str(target))
            if isinstance(target, str) and line is not None:
                yield Entry(
                    entry_type="cli_command",
                    framework="console_script",
                    name=name,
                    handler=None,
                    span=Span(line, line + 1),
                    words=target.replace(":", " "),
                    payload={"handler_ref": target.replace(":", ".")},
                )


def _line_of(source: Lines, name: str, target: str) -> int | None:
    pattern = re.compile(rf"[^#]*[\"']?{re.escape(name)}[\"']?\s*=")
    for line, text in enumerate(source.lines):
        if target in text and pattern.match(text):
            return line
    return None
