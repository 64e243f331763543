"""HTTP routes of a file: decorators of routers, `add_route` calls, route objects, Django's `urlpatterns`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ragkit.indexing.code.entries import Entry, EntrySource, argument, keyword, last_part, root
from ragkit.indexing.code.entry_models import dependencies_auth, handler_auth, request_model, response_model
from ragkit.indexing.code.entry_mounts import MODULE, WHOLE, Before, join_route, router_before
from ragkit.indexing.code.entry_words import (
    ADD_ROUTE,
    DJANGO_ROUTES,
    HTTP_METHODS,
    MUTE_OWNERS,
    ROUTE_CLASSES,
    ROUTE_DECORATORS,
    ROUTER_NAMES,
    WEB,
    WEBSOCKET_DECORATORS,
)
from ragkit.indexing.code.evidence import call_span, header_span
from ragkit.indexing.code.scopes import Scope
from ragkit.indexing.code.symbols import Symbol

_AIOHTTP_ADD = frozenset(f"add_{method}" for method in HTTP_METHODS)


def http_entries(source: EntrySource) -> Iterator[Entry]:
    """Routes in no promised order."""
    imported = source.imported(WEB)
    for use in source.file.uses:
        if use.kind == "decorator" and isinstance(use.node, ast.Call) and use.source is not None:
            entry = _decorated(source, use.node, use.scope, use.source, imported)
            if entry is not None:
                yield entry
    for call, scope in source.file.calls:
        yield from _called(source, call, scope, imported)


def _decorated(
    source: EntrySource, call: ast.Call, scope: Scope, handler: Symbol, imported: str | None
) -> Entry | None:
    func = call.func
    if not isinstance(func, ast.Attribute):
        return None
    is_socket = func.attr in WEBSOCKET_DECORATORS
    if func.attr not in HTTP_METHODS and func.attr not in ROUTE_DECORATORS and not is_socket:
        return None
    framework, is_known = _framework(source, func.value, scope, imported)
    if framework is None:
        return None
    written = argument(call, 0, "path", "rule", "uri")
    path = source.string(written, scope)
    if path is None:
        if written is None or not is_known:
            return None
        path = "{" + source.shown(written) + "}"
    if not is_known and not path.startswith("/"):
        return None
    methods = (func.attr.upper(),) if func.attr in HTTP_METHODS else source.strings(keyword(call, "methods"), scope)
    if not methods and not is_socket:
        methods = ("GET",)
    before = router_before(source, func.value, scope)
    constructor = source.constructor(func.value, scope)
    calls = [call, *([constructor] if constructor else [])]
    is_fastapi = framework in ("fastapi", "django-ninja", "litestar")
    return Entry(
        entry_type="websocket" if is_socket else "http_route",
        framework=framework,
        name=join_route(before.text, path),
        handler=handler,
        span=header_span(handler, call),
        methods=tuple(dict.fromkeys(method.upper() for method in methods)),
        auth=handler_auth(source, handler, scope)
        or next(filter(None, (dependencies_auth(source, item) for item in calls)), None),
        request_model=request_model(source, handler, path) if is_fastapi and not is_socket else None,
        response_model=response_model(source, call, handler) if is_fastapi and not is_socket else None,
        tags=tuple(tag for item in reversed(calls) for tag in source.strings(keyword(item, "tags"), scope)),
        words=" ".join(
            filter(None, (source.string(keyword(call, name), scope) for name in ("summary", "description")))
        ),
        payload=before.payload,
    )


def _framework(source: EntrySource, owner: ast.expr, scope: Scope, imported: str | None) -> tuple[str | None, bool]:
    """The framework of a router, and whether the router is known to be its; by import when it comes from elsewhere."""
    value = source.values.of(owner, scope)
    if value is not None and value.resolution == "import":
        framework = WEB.get(root(value.ref))
        if framework is not None:
            return framework, True
        if root(value.ref) in MUTE_OWNERS:
            return None, False
    words = source.split(last_part(owner))
    if words and words[-1] in ROUTER_NAMES:
        return imported, False
    return None, False


def _called(source: EntrySource, call: ast.Call, scope: Scope, imported: str | None) -> Iterator[Entry]:
    name = last_part(call)
    if name in ADD_ROUTE or (name in _AIOHTTP_ADD and imported == "aiohttp"):
        yield from _added(source, call, scope, name, imported)
    elif (
        name in ROUTE_CLASSES or name in ("path", "re_path", "url") or (imported == "aiohttp" and name in HTTP_METHODS)
    ):
        yield from _object(source, call, scope, name)


def _added(source: EntrySource, call: ast.Call, scope: Scope, name: str, imported: str | None) -> Iterator[Entry]:
    if not isinstance(call.func, ast.Attribute):
        return
    framework, is_known = _framework(source, call.func.value, scope, imported)
    framework = framework or (imported if name in _AIOHTTP_ADD else None)
    # aiohttp's `add_route` has the method before the path.
    is_aiohttp_route = framework == "aiohttp" and name == "add_route"
    path = source.string(argument(call, 1 if is_aiohttp_route else 0, "path", "rule"), scope)
    if framework is None or path is None or not (is_known or path.startswith("/")):
        return
    place = 2 if is_aiohttp_route or name == "add_url_rule" else 1
    target = argument(call, place, "endpoint", "route", "view_func", "handler")
    if is_aiohttp_route:
        methods: Sequence[str] = source.strings(call.args[0], scope)
    elif name in _AIOHTTP_ADD:
        methods = (name.removeprefix("add_"),)
    else:
        methods = source.strings(keyword(call, "methods"), scope) or ("GET",)
    before = router_before(source, call.func.value, scope)
    if framework == "aiohttp":
        before = before._replace(is_whole=True)
    route = join_route(before.text, path)
    yield _of_call(source, call, scope, framework, route, target, methods, "websocket" in name, before)


def _object(source: EntrySource, call: ast.Call, scope: Scope, name: str) -> Iterator[Entry]:
    value = source.values.of(call.func, scope)
    framework = WEB.get(root(value.ref)) if value is not None and value.resolution == "import" else None
    if value is None or framework is None:
        return
    written = argument(call, 0, "path", "route", "regex")
    path = source.string(written, scope)
    target = argument(call, 1, "endpoint", "view", "handler")
    if path is None and written is not None and name in ROUTE_CLASSES:
        path = "{" + source.shown(written) + "}"
    if path is None or target is None:
        return
    if framework == "django":
        if value.ref not in DJANGO_ROUTES or last_part(target) == "include":
            return
        yield _of_call(source, call, scope, framework, join_route("", path.lstrip("^")), target, (), False, MODULE)
    elif name in ROUTE_CLASSES:
        methods = source.strings(keyword(call, "methods"), scope) or (() if "WebSocket" in name else ("GET",))
        before = MODULE._replace(is_whole=not _is_mounted(source, call))
        yield _of_call(source, call, scope, framework, path, target, methods, "WebSocket" in name, before)
    elif framework == "aiohttp" and value.ref == f"aiohttp.web.{name}":
        yield _of_call(source, call, scope, framework, path, target, (name,), False, WHOLE)


def _is_mounted(source: EntrySource, route: ast.Call) -> bool:
    """Whether a route object stands in the `routes` of a mount, whose path comes before."""
    return any(
        last_part(call) == "Mount" and call.lineno <= route.lineno <= (call.end_lineno or 0)
        for call, _ in source.file.calls
        if call is not route
    )


def _of_call(
    source: EntrySource,
    call: ast.Call,
    scope: Scope,
    framework: str,
    path: str,
    target: ast.expr | None,
    methods: Sequence[str],
    is_socket: bool,
    before: Before,
) -> Entry:
    is_view = isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and target.func.attr == "as_view"
    named = (
        target.func.value
        if is_view and isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute)
        else target
    )
    handler, ref = source.reference(named, scope)
    payload = dict(before.payload)
    if ref is not None and handler is None:
        payload["handler_ref"] = ref
    return Entry(
        entry_type="websocket" if is_socket else "http_route",
        framework=framework,
        name=path,
        handler=handler,
        span=call_span(call),
        methods=() if is_socket else tuple(dict.fromkeys(method.upper() for method in methods)),
        auth=handler_auth(source, handler, scope) if handler is not None else None,
        words=source.string(keyword(call, "name", "summary"), scope) or "",
        payload=payload,
    )
