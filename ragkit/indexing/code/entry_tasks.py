"""Tasks, schedules and message handlers of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ragkit.indexing.code.entries import Entry, EntrySource, EntryType, argument, keyword, last_part, root
from ragkit.indexing.code.entry_words import (
    HANDLER_DECORATORS,
    MESSAGING,
    MUTE_OWNERS,
    OWNER_WORDS,
    QUEUE_ARGUMENTS,
    ROW_ARGUMENTS,
    SCHEDULE_ARGUMENTS,
    SCHEDULE_DECORATORS,
    TASK_DECORATORS,
    TASK_QUEUES,
    UNSURE_DECORATORS,
    WEB,
)
from ragkit.indexing.code.evidence import MAX_LINES, Span, call_span, header_span
from ragkit.indexing.code.scopes import Scope
from ragkit.indexing.code.symbols import Symbol

_FRAMEWORKS: Mapping[str, str] = {**WEB, **MESSAGING, **TASK_QUEUES}
_WORKERS: Mapping[str, str] = {**MESSAGING, **TASK_QUEUES}


def task_entries(source: EntrySource) -> Iterator[Entry]:
    """Tasks, schedules and handlers in no promised order."""
    imported = source.imported(_WORKERS)
    for use in source.file.uses:
        if use.kind == "decorator" and isinstance(use.node, ast.expr) and use.source is not None:
            entry = _decorated(source, use.node, use.scope, use.source, imported)
            if entry is not None:
                yield entry
    for call, scope in source.file.calls:
        entry = _called(source, call, scope, imported)
        if entry is not None:
            yield entry
    yield from _beat_schedule(source)


def _decorated(
    source: EntrySource, decorator: ast.expr, scope: Scope, handler: Symbol, imported: str | None
) -> Entry | None:
    word = last_part(decorator)
    kind = _kind(word)
    if kind is None or (handler.definition is not None and isinstance(handler.definition, ast.ClassDef)):
        return None
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    value = source.values.of(func, scope)
    if value is not None and (value.resolution == "builtin" or root(value.ref) in MUTE_OWNERS):
        return None
    framework = _FRAMEWORKS.get(root(value.ref)) if value is not None and value.resolution == "import" else None
    if framework is None and word in UNSURE_DECORATORS and not (imported and _is_owned(source, func)):
        return None
    call = decorator if isinstance(decorator, ast.Call) else None
    name = (_named(source, call, scope) if call is not None else None) or handler.name
    queue = _first_text(source, call, scope, QUEUE_ARGUMENTS)
    if kind == "message_handler" and queue is None and call is not None and call.args:
        queue = source.string(call.args[0], scope)
    return Entry(
        entry_type=kind,
        framework=framework or imported,
        name=(queue or name) if kind == "message_handler" else name,
        handler=handler,
        span=header_span(handler, decorator),
        queue=queue,
        cron=_schedule(source, call) if kind == "schedule" or word == "periodic_task" else None,
    )


def _kind(word: str) -> EntryType | None:
    if word in SCHEDULE_DECORATORS:
        return "schedule"
    if word in TASK_DECORATORS:
        return "task"
    return "message_handler" if word in HANDLER_DECORATORS else None


def _is_owned(source: EntrySource, func: ast.expr) -> bool:
    """Whether a decorator is an attribute of something that is named for a queue, a bus or a scheduler."""
    if isinstance(func, ast.Attribute):
        words = source.split(last_part(func.value))
        return bool(words) and words[-1] in OWNER_WORDS
    return False


def _named(source: EntrySource, call: ast.Call, scope: Scope) -> str | None:
    return source.string(keyword(call, "name", "id", "task_name", "actor_name"), scope)


def _first_text(source: EntrySource, call: ast.Call | None, scope: Scope, names: tuple[str, ...]) -> str | None:
    given = keyword(call, *names) if call is not None else None
    return source.string(given, scope) if given is not None else None


def _schedule(source: EntrySource, call: ast.Call | None) -> str | None:
    """The arguments that say when, as written."""
    if call is None:
        return None
    named = [item for item in call.keywords if item.arg and item.arg not in ("id", "name", "args", "kwargs", "queue")]
    parts = [source.shown(item) for item in call.args[:4]] + [
        f"{item.arg}={source.shown(item.value)}" for item in named[:8]
    ]
    return ", ".join(parts) or None


def _called(source: EntrySource, call: ast.Call, scope: Scope, imported: str | None) -> Entry | None:
    name = last_part(call)
    if name == "add_job" and call.args and imported is not None:
        return _job(source, call, scope, imported)
    if name == "do" and imported == "schedule" and call.args and isinstance(call.func, ast.Attribute):
        handler, ref = source.reference(call.args[0], scope)
        return _row(source, call, ref, handler, "schedule", source.shown(call.func.value)) if ref is not None else None
    if name == "add_event_handler" and len(call.args) > 1:
        event = source.string(call.args[0], scope)
        handler, ref = source.reference(call.args[1], scope)
        if event is None or ref is None:
            return None
        framework = source.imported(WEB)
        payload = {} if handler is not None else {"handler_ref": ref}
        return Entry(
            entry_type="message_handler",
            framework=framework,
            name=event,
            handler=handler,
            span=call_span(call),
            queue=event,
            payload=payload,
        )
    if scope.kind == "module":
        return _schedule_row(source, call, scope)
    return None


def _job(source: EntrySource, call: ast.Call, scope: Scope, imported: str) -> Entry | None:
    handler, ref = source.reference(call.args[0], scope)
    name = source.string(keyword(call, "id", "name"), scope) or (ref or source.shown(call.args[0])).rpartition(".")[2]
    whens = [source.shown(item) for item in call.args[1:4]]
    whens += [
        f"{item.arg}={source.shown(item.value)}"
        for item in call.keywords
        if item.arg and item.arg not in ("id", "name", "args", "kwargs", "func")
    ]
    return _row(source, call, ref, handler, imported, ", ".join(whens[:8]) or None, name)


def _row(
    source: EntrySource,
    call: ast.Call,
    ref: str | None,
    handler: Symbol | None,
    framework: str | None,
    cron: str | None,
    name: str | None = None,
) -> Entry:
    return Entry(
        entry_type="schedule",
        framework=framework,
        name=name or (ref or "").rpartition(".")[2],
        handler=handler,
        span=call_span(call),
        cron=cron,
        payload={"handler_ref": ref} if ref is not None and handler is None else {},
    )


def _schedule_row(source: EntrySource, call: ast.Call, scope: Scope) -> Entry | None:
    """`Task(name="purge", at=time(4, 0))` at the top of a module: a row of a schedule of the project's own making."""
    when = [item for item in call.keywords if item.arg in SCHEDULE_ARGUMENTS]
    if not any(item.arg in ROW_ARGUMENTS for item in when) or not last_part(call)[:1].isupper():
        return None
    name = source.string(argument(call, 0, "name", "task", "id", "job"), scope)
    if not name:
        return None
    shown = [
        f"{item.arg}={source.shown(item.value)}"
        for item in call.keywords
        if item.arg not in ("name", "task", "id", "job")
    ]
    return Entry(
        entry_type="schedule",
        framework=None,
        name=name,
        handler=None,
        span=call_span(call),
        cron=", ".join(shown[:8]),
    )


def _beat_schedule(source: EntrySource) -> Iterator[Entry]:
    """Celery's `beat_schedule = {"name": {"task": …, "schedule": …}}`."""
    for node in _dictionaries(source.file.tree):
        for key, value in zip(node.keys, node.values, strict=True):
            name = source.string(key, source.file.top) if key is not None else None
            if name is None or not isinstance(value, ast.Dict):
                continue
            fields = {
                source.string(inner, source.file.top): item
                for inner, item in zip(value.keys, value.values, strict=True)
                if inner is not None
            }
            task, when = fields.get("task"), fields.get("schedule")
            if task is not None and when is not None and key is not None:
                ref = source.string(task, source.file.top)
                yield Entry(
                    entry_type="schedule",
                    framework="celery",
                    name=name,
                    handler=None,
                    span=_dict_span(key, value),
                    cron=source.shown(when),
                    payload={"handler_ref": ref} if ref is not None else {},
                )


def _dictionaries(tree: ast.Module) -> Iterator[ast.Dict]:
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Dict):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any("beat_schedule" in last_part(target).lower() for target in targets):
                yield statement.value


def _dict_span(key: ast.expr, value: ast.expr) -> Span:
    return Span(key.lineno - 1, min(value.end_lineno or value.lineno, key.lineno - 1 + MAX_LINES))
