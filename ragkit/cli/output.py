"""What commands print: one JSON document on stdout, tables and progress for people."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TextIO, cast

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text
from typer.exceptions import TyperException

from ragkit import bundle
from ragkit.messages import Language, shortened
from ragkit.service.job_record import Progress as JobProgress

POWERFUL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]")
"""Control characters, and invisible ones that turn or break a line of text."""
CONTROLS = re.compile("[\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]")
"""Those that JSON leaves as they are inside its strings."""
LEFT_OUT_SHOWN = 5
"""Paths named for each reason; the job keeps more."""


def speak_utf8() -> None:
    """UTF-8 on both streams whatever the locale says; what cannot be written is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def stderr() -> TextIO:
    """Where progress goes."""
    return sys.stderr


def to_json(body: object, *, indent: int | None = None) -> str:
    """One JSON document; readable letters, but escapes for what UTF-8 cannot hold or a terminal would obey."""
    text = json.dumps(body, ensure_ascii=False, indent=indent)
    text = CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(body, ensure_ascii=True, indent=indent)
    return text


def print_json(body: object) -> None:
    """One document, indented."""
    sys.stdout.write(to_json(body, indent=2) + "\n")


def visible(text: str) -> str:
    """The text on one line, without power over a terminal: control and reversing characters as escapes.

    Titles, paths and texts come from files of others; what they hold may move the cursor, rename the window or hide
    what follows.
    """
    return POWERFUL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def print_line(text: str) -> None:
    """One line of a result."""
    sys.stdout.write(visible(text) + "\n")


def print_text(text: str) -> None:
    """Several lines of a result, as they are parted."""
    for line in text.split("\n"):
        print_line(line)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table without markup: cells are data. Into a pipe a row is one line, however long it gets."""
    shown = [[visible(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _print_unwrapped([list(columns), *shown])
        return
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in shown:
        table.add_row(*[Text(cell) for cell in row])
    Console(file=sys.stdout, markup=False, highlight=False).print(table)


def _print_unwrapped(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        sys.stdout.write(" ".join(padded).rstrip() + "\n")


def complain(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(visible(" ".join(sentence.split())) + "\n")


def usage_problem(misused: TyperException) -> str:
    """What was wrong with the command line, and where to look."""
    message = getattr(misused, "format_message", None)
    problem = cast("Callable[[], str]", message)() if message else str(misused)
    return f"{shortened(problem.rstrip('.'))}; see `ragkit --help`, or `ragkit COMMAND --help`."


@contextmanager
def job_progress(language: Language, *, quiet: bool) -> Generator[Callable[[JobProgress], None]]:
    """A progress bar on stderr that takes a job's reports: what is done, files, rows, time left."""
    if quiet:
        yield lambda _: None
        return
    sentences = bundle.messages()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rows]}"),
    )
    screen = Console(file=sys.stderr, markup=False)  # nothing is drawn into a file or pipe: an error is one line there
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(sentences.sentence("progress.listing", language), total=None, rows="")

        def show(progress: JobProgress) -> None:
            bar.update(
                task,
                description=sentences.sentence(f"progress.{progress.stage}", language),
                total=progress.files_total or None,
                completed=progress.files_done,
                rows=_pace(progress),
            )

        yield show


def _pace(progress: JobProgress) -> str:
    """Rows so far, their rate, and the time left by the job's own reckoning."""
    told = [f"{progress.rows} rows, {progress.rows / progress.elapsed_s:.0f}/s"] if progress.rows else []
    if progress.left_s is not None and progress.stage != "done":
        told.append(f"~{progress.left_s:.0f} s left")
    return ", ".join(told)


def print_job(job: Mapping[str, object], language: Language) -> None:
    """What a job did, in a sentence, and what it left out."""
    sentences = bundle.messages()
    files = cast("Mapping[str, object]", job["files"])
    timings = cast("Mapping[str, int]", job["timings"])
    print_line(
        sentences.sentence(
            "cli.indexed",
            language,
            session=job["session"],
            revision=job["revision"],
            indexed=files["indexed"],
            unchanged=files["unchanged"],
            deleted=files["deleted"],
            rows=job["rows_written"],
            texts=job["texts_embedded"],
            seconds=f"{timings.get('total_ms', 0) / 1000:.1f}",
        )
    )
    left_out = cast("Mapping[str, int]", files["left_out"])
    paths = cast("Mapping[str, Sequence[str]]", files["left_out_paths"])
    if left_out:
        print_line(sentences.sentence("cli.left_out_title", language))
        for reason, count in left_out.items():
            shown = sentences.sentence(f"left_out.{reason}", language)
            print_line("  " + sentences.sentence("cli.left_out", language, count=count, reason=shown))
            named = paths.get(reason, [])
            for path in named[:LEFT_OUT_SHOWN]:
                print_line(f"      {path}")
            if count > LEFT_OUT_SHOWN:
                print_line("      " + sentences.sentence("cli.left_out_more", language, count=count - LEFT_OUT_SHOWN))
    warnings = cast("Sequence[Mapping[str, object]]", job["warnings"])
    if warnings:
        print_line(sentences.sentence("cli.warnings_title", language))
        for warning in warnings:
            params = cast("Mapping[str, object]", warning["params"])
            print_line("  " + sentences.sentence(f"warning.{warning['code']}", language, **params))


def print_jobs(jobs: Sequence[Mapping[str, object]], language: Language) -> None:
    """Jobs for people: what each does or did, and why it failed."""
    sentences = bundle.messages()
    if not jobs:
        print_line(sentences.sentence("cli.no_jobs", language))
        return
    rows: list[Sequence[object]] = []
    for job in jobs:
        progress = cast("Mapping[str, object]", job["progress"])
        error = cast("Mapping[str, object] | None", job.get("error"))
        told = ""
        if error is not None:
            told = sentences.sentence(
                f"error.{error['code']}", language, **cast("Mapping[str, object]", error["params"])
            )
        done = f"{progress['files_done']}/{progress['files_total']}" if progress else ""
        left = f"{progress['left_s']} s" if job["status"] == "running" and progress.get("left_s") is not None else ""
        shown = f"{job['status']}: {job['stage']}" if job["status"] == "running" else job["status"]
        started = str(job.get("created_at", ""))[:19]
        rows.append((str(job["job_id"])[:8], shown, job["kind"], done, job["rows_written"], left, started, told))
    print_table(("job", "status", "kind", "files", "rows", "left", "started", "reason"), rows)


def flattened(body: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Leaves of a nested document under dotted names, in its order."""
    for name, value in body.items():
        if isinstance(value, Mapping):
            yield from flattened(cast("Mapping[str, object]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def print_routing(body: Mapping[str, object], language: Language) -> None:
    """A routing for people: intent, mode, reasons, anchors."""
    sentences = bundle.messages()
    contract = cast("Mapping[str, object]", body["contract"])
    print_line(f"{contract['intent']} · {contract['conversation_mode']}")
    for reason in cast("Sequence[Mapping[str, object]]", body["reasons"]):
        params = cast("Mapping[str, object]", reason["params"])
        print_line("  " + sentences.sentence(str(reason["code"]), language, **params))
    plan = cast("Mapping[str, object]", contract["query_plan"])
    for anchor in cast("Sequence[Mapping[str, object]]", plan["anchors"]):
        subtype = f" ({anchor['subtype']})" if anchor["subtype"] else ""
        print_line(f"  {anchor['type']}{subtype}: {anchor['value']}")


def print_rows(trace: Mapping[str, object], language: Language) -> None:
    """An answer for people: intent, plans, ranked rows."""
    contract = cast("Mapping[str, object]", trace["contract"])
    plans = cast("Sequence[Mapping[str, object]]", trace["plans"])
    print_line(f"{contract['intent']} · {', '.join(str(plan['profile']) for plan in plans)}")
    rows = cast("Sequence[Mapping[str, object]]", trace["rows"])
    if not rows:
        print_line(bundle.messages().sentence("cli.no_rows", language))
        return
    print_table(
        ("rank", "score", "layer", "path", "title"),
        [
            (
                row["rank"],
                f"{row['score']:.3f}",
                row["layer"],
                f"{row['path']}:{row['line_start']}-{row['line_end']}",
                row["title"],
            )
            for row in rows
        ],
    )
