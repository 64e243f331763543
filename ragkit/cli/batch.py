"""Batches: one JSON document a line in, one a line out, in order; a line that fails answers and the batch goes on.

Whether lines failed is told by the answers, not by the exit status: that is 0 as long as the batch was read to its end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn, cast

from ragkit import bundle
from ragkit.cli import output
from ragkit.errors import InvalidInput, RagkitError
from ragkit.messages import Language

Answer = Callable[[Mapping[str, object]], dict[str, object]]


def run_batch(source: str, answer: Answer, language: Language) -> None:
    """Answer every line of a file (`-`: standard input). An answer repeats the line's `id` where it has one.

    Raises: InvalidInput when the file cannot be read. A line that fails gives `{id, line, error, code}`, lines counted
    from 1, blank ones too.
    """
    for number, text in enumerate(_lines(source), start=1):
        if text.strip():
            sys.stdout.write(output.to_json(_answered(text, number, answer, language)) + "\n")
            sys.stdout.flush()


def read_json(path: str, what: str) -> object:
    """The JSON document of a file (`-`: standard input); `what` it is, for messages.

    Raises: InvalidInput `file_unreadable`, `json_invalid`, naming the file.
    """
    return parse_json("\n".join(_lines(path)), f"{what} {shown_source(path)}")


def shown_source(path: str) -> str:
    """What messages call a file."""
    return "from standard input" if path == "-" else f"'{path}'"


def reject(name: str, found: object, *allowed: str) -> NoReturn:
    """Refuse a field of a line.

    Raises: InvalidInput `batch_field`.
    """
    raise InvalidInput("batch_field", field=name, found=repr(found)[:80], allowed=list(allowed))


def parse_json(text: str, what: str) -> object:
    """One JSON document.

    Raises: InvalidInput `json_invalid`.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as broken:
        raise InvalidInput("json_invalid", what=what, problem=str(broken).split(":")[0]) from broken


def _answered(text: str, number: int, answer: Answer, language: Language) -> dict[str, object]:
    key: dict[str, object] = {}
    try:
        line = parse_json(text, f"line {number}")
        if not isinstance(line, dict):
            raise InvalidInput("json_invalid", what=f"line {number}", problem="it is no object")
        body = cast("dict[str, object]", line)
        key = {"id": body["id"]} if "id" in body else {}
        return {**key, **answer(body)}
    except RagkitError as error:
        key = key or {"id": None}
        return {**key, "line": number, "error": bundle.messages().error(error, language), "code": error.code}


def _lines(source: str) -> Iterator[str]:
    if source == "-":
        yield from _decoded(sys.stdin.buffer)
        return
    try:
        with Path(source).open("rb") as file:
            yield from _decoded(file)
    except OSError as missing:
        raise InvalidInput(
            "file_unreadable", what="file", path=source, problem=missing.strerror or "unreadable"
        ) from missing


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        yield text if number else text.removeprefix("\ufeff")
