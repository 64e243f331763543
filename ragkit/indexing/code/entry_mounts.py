"""Routers under routers: what a file knows to stand before a route, and what it says of other files' routers.

Routers of one file are joined here; what other files mount is a `Mount` that the link step follows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ragkit.document import Mount
from ragkit.indexing.code.entries import EntrySource, argument, keyword, last_part
from ragkit.indexing.code.entry_words import APPLICATIONS, INCLUDES
from ragkit.indexing.code.scopes import Scope, is_chain

_DJANGO_PATHS = frozenset({"path", "re_path", "url"})
_MAX_DEPTH = 8


class Before(NamedTuple):
    """What stands before the routes of a router."""

    text: str
    router: str | None
    """The outermost router that the file knows, as it writes it, which other files may mount; empty: the module."""
    own: str = ""
    """The part of `text` that the router's own constructor gives."""
    is_whole: bool = False
    """Nothing is expected from other files, though they may mount an application too."""

    @property
    def payload(self) -> Mapping[str, object]:
        """As a C3 row carries it."""
        found: dict[str, object] = {} if self.is_whole else {"prefixes_elsewhere": True}
        if self.router is not None:
            found["router"] = self.router
        if self.own:
            found["router_prefix"] = self.own
        return found


MODULE = Before("", "")
"""Routes that belong to the module, as Django's do."""
WHOLE = Before("", None, is_whole=True)


def router_before(source: EntrySource, owner: ast.expr, scope: Scope, depth: int = 0) -> Before:
    """What a file knows of the prefixes of a router."""
    constructor = source.constructor(owner, scope)
    name = _dotted(owner)
    if constructor is None:
        return Before("", name)
    own = source.string(keyword(constructor, "prefix", "url_prefix", "path"), scope) or ""
    for call, where in source.file.calls if depth < _MAX_DEPTH and isinstance(owner, ast.Name) else ():
        child = _child(call)
        if isinstance(child, ast.Name) and isinstance(owner, ast.Name) and child.id == owner.id:
            mount = _mount(source, call, where, depth + 1)
            if mount is not None:
                outer, replaces = mount
                text = outer.text if replaces else join_route(outer.text, own) if own else outer.text
                return outer._replace(text=text, own="")
    if last_part(constructor) in APPLICATIONS:
        return Before("", name, is_whole=True)
    return Before(own, name, own=own)


def mounts(source: EntrySource) -> tuple[Mount, ...]:
    """Prefixes that the file puts before the routers of other files, in the order of the source."""
    found = [mount for call, scope in source.file.calls for mount in _mounts(source, call, scope)]
    return tuple(dict.fromkeys(found))


def _mounts(source: EntrySource, call: ast.Call, scope: Scope) -> Iterator[Mount]:
    child = _child(call)
    if child is not None and source.constructor(child, scope) is None:
        ref, before = _reference(source, child, scope), _mount(source, call, scope, 0)
        if ref is not None and before is not None:
            yield Mount(ref, before[0].text, before[0].router, before[1])
    elif last_part(call) == "Mount" and (target := argument(call, 1, "app")) is not None:
        ref = _reference(source, target, scope)
        if ref is not None:
            yield Mount(ref, source.string(argument(call, 0, "path"), scope) or "", "")
    elif last_part(call) in _DJANGO_PATHS:
        inner = argument(call, 1, "view")
        if isinstance(inner, ast.Call) and last_part(inner) == "include" and inner.args:
            module = source.string(inner.args[0], scope) or _reference(source, inner.args[0], scope)
            prefix = source.string(argument(call, 0, "route", "regex"), scope)
            if module and prefix is not None:
                yield Mount(module, join_route("", prefix.lstrip("^").rstrip("$")) if prefix else "", "")


def _child(call: ast.Call) -> ast.expr | None:
    """The router that a call puts under another; the path comes first or not at all."""
    if last_part(call) not in INCLUDES or not isinstance(call.func, ast.Attribute):
        return None
    return next((item for item in call.args[:2] if is_chain(item)), None)


def _mount(source: EntrySource, call: ast.Call, scope: Scope, depth: int) -> tuple[Before, bool] | None:
    """What stands before the routers that a call mounts, and whether in place of their own prefix."""
    if not isinstance(call.func, ast.Attribute):
        return None
    first = call.args[0] if call.args and not is_chain(call.args[0]) else None
    given = keyword(call, "prefix", "url_prefix") or first
    before = router_before(source, call.func.value, scope, depth) if depth < _MAX_DEPTH else MODULE
    text = source.string(given, scope) or ""
    replaces = last_part(call) == "register_blueprint" and given is not None
    return before._replace(text=join_route(before.text, text) if text else before.text), replaces


def _reference(source: EntrySource, node: ast.expr, scope: Scope) -> str | None:
    """The dotted name of a router: absolute where the file imports it, else as written."""
    value = source.values.of(node, scope)
    if value is not None and value.resolution == "import":
        return value.ref.replace("()", "")
    return _dotted(node)


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def join_route(prefix: str, path: str) -> str:
    """`/v1` and `/orders` → `/v1/orders`; slashes are neither lost nor doubled."""
    if not path:
        return prefix or "/"
    return f"{prefix.rstrip('/')}/{path.lstrip('/')}"
