"""C3_ENTRYPOINTS: the ways into a program and what handles them. Spec: MODULE §5.2.

Finders (`entry_*.py`) give entries, this module makes rows of them. A row is found by the words of its route or
command, of its handler and of the first sentence of what the handler says of itself. Prefixes that other files add are
not known here: such a row says `prefixes_elsewhere`, and the link step joins them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ragkit.document import RagDocument
from ragkit.indexing.code.c0_chunks import SourceUnit
from ragkit.indexing.code.entries import Entry, EntrySource
from ragkit.indexing.code.entry_cli import cli_entries, script_entries
from ragkit.indexing.code.entry_http import http_entries
from ragkit.indexing.code.entry_tasks import task_entries
from ragkit.indexing.code.evidence import shown
from ragkit.indexing.context import Split, distinct_words
from ragkit.indexing.passages import Lines
from ragkit.layers import C3Attributes, Layer

_NAMED: dict[str, str] = {
    "http_route": "http endpoint route handler",
    "websocket": "websocket endpoint route handler",
    "cli_command": "cli command",
    "task": "background task",
    "schedule": "scheduled task",
    "message_handler": "message event handler",
    "main": "main script entry point",
}
"""What people call an entry of a type."""
_MAX_DESCRIPTION_WORDS = 30
_MAX_WORDS = 30
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n\s*\n")
_WORD = re.compile(r"[^\W_]+")


def entry_rows(source: EntrySource, lines: Lines, unit: SourceUnit) -> list[RagDocument]:
    """Rows in the order of the source."""
    found = [*http_entries(source), *cli_entries(source), *task_entries(source)]
    return list(_rows(lines, found, unit, source.split))


def script_rows(text: str, source: Lines, unit: SourceUnit, split: Split) -> list[RagDocument]:
    """The console scripts of a `pyproject.toml`, in its order."""
    return list(_rows(source, script_entries(text, source), unit, split))


def _rows(source: Lines, entries: Iterable[Entry], unit: SourceUnit, split: Split) -> Iterator[RagDocument]:
    taken: dict[str, int] = {}
    ordered = sorted(entries, key=lambda entry: (entry.span.start, entry.entry_type, entry.name))
    for entry in ordered:
        row = _row(source, entry, unit, split, taken)
        if row is not None:
            yield row


def _row(source: Lines, entry: Entry, unit: SourceUnit, split: Split, taken: dict[str, int]) -> RagDocument | None:
    span, text = shown(source, entry.span)
    if not text.strip():
        return None
    label = f"{','.join(entry.methods)} {entry.name}".strip()
    qname = entry.handler.qname if entry.handler else ""
    entry_id = f"{unit.path}::{qname}@{entry.entry_type}:{label}"
    count = taken.get(entry_id, 0) + 1
    taken[entry_id] = count
    entry_id = entry_id if count == 1 else f"{entry_id}~{count}"
    attributes: C3Attributes = {
        "lang": unit.language,
        "entry_id": entry_id,
        "entry_type": entry.entry_type,
        "framework": entry.framework,
        "route_or_command": entry.name,
        "handler_symbol_id": entry.handler.symbol_id if entry.handler else None,
        "evidence.path": unit.path,
        "evidence.start_line": span.start + 1,
        "evidence.end_line": span.end,
        "http.methods": list(entry.methods),
        "http.auth": entry.auth,
        "request_model": entry.request_model,
        "response_model": entry.response_model,
        "cli.args_schema": dict(entry.args_schema) if entry.args_schema is not None else None,
        "task.queue": entry.queue,
        "task.cron": entry.cron,
        "tags": list(dict.fromkeys(entry.tags)),
        "lang_payload": dict(entry.payload),
    }
    return RagDocument(
        layer=Layer.C3_ENTRYPOINTS,
        path=unit.path,
        public_id=entry_id,
        title=label,
        text=text,
        context=_context(entry, label, qname, split),
        line_start=span.start + 1,
        line_end=span.end,
        names=_names(entry),
        attributes=attributes,
        lang="code",
        is_test=unit.is_test,
    )


def _names(entry: Entry) -> tuple[str, ...]:
    if entry.entry_type in ("http_route", "websocket"):
        return (*(f"{method} {entry.name}" for method in entry.methods), entry.name)
    # `parcel` or `show` alone would be the name of half the project's questions.
    return () if entry.entry_type == "main" or entry.name.isalpha() else (entry.name,)


def _context(entry: Entry, label: str, qname: str, split: Split) -> str:
    """What it is, its route or command, its handler's words, and the first sentence about it."""
    models = [name for name in (entry.request_model, entry.response_model) if name]
    named = distinct_words([*_WORD.findall(entry.name), qname, *entry.tags, *models, *(entry.args_schema or ())], split)
    definition = entry.handler.definition if entry.handler else None
    docstring = (ast.get_docstring(definition) or "") if definition is not None else ""
    description = _SENTENCE.split(docstring.strip(), maxsplit=1)[0] or entry.words
    parts = [
        entry.framework or "",
        _NAMED[entry.entry_type],
        label,
        " ".join(named[:_MAX_WORDS]),
        " ".join(description.split()[:_MAX_DESCRIPTION_WORDS]),
        entry.cron or "",
    ]
    return " ".join(part for part in parts if part)
