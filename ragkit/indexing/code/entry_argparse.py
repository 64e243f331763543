"""Argparse parsers and their sub-commands; and how a parameter of any command is described."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ragkit.indexing.code.entries import Entry, EntrySource, argument, keyword, last_part
from ragkit.indexing.code.evidence import call_span
from ragkit.indexing.code.scopes import Scope
from ragkit.indexing.code.symbols import Symbol

_SHOWN = ("type", "default", "help", "choices", "required", "nargs", "action")


def parser_entries(source: EntrySource) -> Iterator[Entry]:
    """Argparse: a parser or a sub-command with what `add_argument` adds to the name it is bound to."""
    added: dict[tuple[int, str], dict[str, object]] = {}
    handlers: dict[tuple[int, str], tuple[Symbol | None, str | None]] = {}
    for call, scope in source.file.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            owner = source.values.binding_scope(func.value.id, scope)
            key = (id(owner), func.value.id)
            if func.attr == "add_argument":
                flags = [text for item in call.args if (text := source.string(item, scope)) is not None]
                if flags:
                    kind = "option" if flags[0].startswith("-") else "argument"
                    added.setdefault(key, {})[destination(flags)] = {
                        "kind": kind,
                        "flags": flags,
                        **described(source, call),
                    }
            elif func.attr == "set_defaults":
                given = keyword(call, "func", "handler", "command", "fn", "run", "callback")
                handlers[key] = source.reference(given, scope)
    for call, scope in source.file.calls:
        name = last_part(call)
        value = source.values.of(call.func, scope) if name in ("ArgumentParser", "add_parser") else None
        if name == "ArgumentParser" and value is not None and value.ref.startswith("argparse."):
            route = source.string(keyword(call, "prog"), scope) or source.file.path.rpartition("/")[2]
        elif name == "add_parser" and isinstance(call.func, ast.Attribute):
            route = source.string(argument(call, 0, "name"), scope) or ""
        else:
            continue
        key = _bound_to(source, call, scope)
        symbol, ref = handlers.get(key, (None, None)) if key else (None, None)
        words = (source.string(keyword(call, item), scope) for item in ("help", "description"))
        if route:
            yield Entry(
                entry_type="cli_command",
                framework="argparse",
                name=route,
                handler=symbol or (scope.symbol if ref is None else None),
                span=call_span(call),
                args_schema=added.get(key, {}) if key else {},
                words=" ".join(filter(None, words)),
                payload={"handler_ref": ref} if ref is not None and symbol is None else {},
            )


def _bound_to(source: EntrySource, call: ast.Call, scope: Scope) -> tuple[int, str] | None:
    for name, bound in scope.bound.items():
        if any(item is call for item in bound):
            return (id(source.values.binding_scope(name, scope)), name)
    return None


def described(source: EntrySource, call: ast.Call) -> dict[str, object]:
    """The keywords that describe a parameter; literals as their text."""
    found: dict[str, object] = {}
    for item in call.keywords:
        if item.arg in _SHOWN:
            literal = source.string(item.value, source.file.top)
            found[item.arg] = literal if literal is not None else source.shown(item.value)
    return found


def destination(flags: list[str]) -> str:
    """What a parameter is called inside: a plain name, else the first long flag, else the first flag."""
    plain = [flag for flag in flags if not flag.startswith("-")]
    long = [flag for flag in flags if flag.startswith("--")]
    return (plain or long or flags)[0].partition("/")[0].strip("-").replace("-", "_")
