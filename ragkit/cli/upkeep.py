"""Commands that look after what is there: sessions, jobs, the database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import typer

from ragkit import bundle
from ragkit.cli import output
from ragkit.cli.engine import opened_engine
from ragkit.errors import WrongUse
from ragkit.settings import Settings

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]

database = typer.Typer(no_args_is_help=True, help="Look after the database.")


def sessions(
    delete: Annotated[str | None, typer.Option("--delete", help="Delete this session, with all its rows.")] = None,
    rename: Annotated[
        tuple[str, str] | None, typer.Option("--rename", help="Old and new name.", metavar="OLD NEW")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what is indexed; delete or rename a session."""
    if delete is not None and rename is not None:
        raise WrongUse("options_conflict", first="--delete", second="--rename")
    settings = Settings.from_env()
    with opened_engine(settings) as engine:
        if delete is not None:
            engine.sessions.delete(delete)
        if rename is not None:
            engine.sessions.rename(*rename)
        found = [summary.to_json() for summary in engine.list_sessions()]
    if as_json:
        output.print_json(found)
    elif not found:
        output.print_line(bundle.messages().sentence("cli.no_sessions", settings.language))
    else:
        columns = ("session", "revision", "rows", "indexed_at", "root")
        output.print_table(columns, [[row[name] for name in columns] for row in found])


def jobs(
    session: Annotated[str | None, typer.Argument(help="Session whose jobs to list.")] = None,
    cancel: Annotated[str | None, typer.Option("--cancel", help="Stop this job (id, or its first letters).")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Carry out this queued job.")] = None,
    as_json: Json = False,
) -> None:
    """List the indexing jobs of a session, the newest first; stop one, or carry out a queued one."""
    from ragkit.service import job_json

    if len([one for one in (session, cancel, run) if one is not None]) != 1:
        raise WrongUse("argument_missing", name="SESSION, --cancel JOB or --run JOB")
    settings = Settings.from_env()
    with opened_engine(settings) as engine:
        if session is not None:
            found = [job_json(job, session) for job in engine.indexing.jobs(session)]
        elif cancel is not None:
            job = engine.indexing.cancel(cancel)
            found = [job_json(job, engine.session_name(job.rag_session_id))]
        else:
            with output.job_progress(settings.language, quiet=as_json) as report:
                job = engine.indexing.run(cast("str", run), report=report)
            found = [job_json(job, engine.session_name(job.rag_session_id))]
    if as_json:
        output.print_json(found if session is not None else found[0])
    else:
        output.print_jobs(found, settings.language)


@database.command()
def status(as_json: Json = False) -> None:
    """Say what the database holds: versions, sizes, sessions, caches, jobs."""
    with opened_engine(Settings.from_env()) as engine:
        found = engine.database_status().to_json()
    if as_json:
        output.print_json(found)
    else:
        output.print_table(("what", "value"), list(output.flattened(found)))


@database.command()
def migrate(as_json: Json = False) -> None:
    """Bring the schema up to date (every command that writes does so by itself)."""
    with opened_engine(Settings.from_env()) as engine:
        found = engine.database_status()
    body = {"schema_version": found.schema_version}
    _print(body, as_json)


@database.command()
def dump(
    target: Annotated[Path, typer.Argument(help="File to write.")],
    as_json: Json = False,
) -> None:
    """Write all sessions into one file."""
    with opened_engine(Settings.from_env()) as engine:
        _print({"file": str(target), "bytes": engine.dump(target)}, as_json)


@database.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A file that `ragkit db dump` wrote.")],
    as_json: Json = False,
) -> None:
    """Put a dump into a database that holds no session."""
    with opened_engine(Settings.from_env()) as engine:
        _print({"schema_version": engine.restore(source), "sessions": len(engine.list_sessions())}, as_json)


@database.command()
def clean(
    megabytes: Annotated[
        int | None, typer.Option("--megabytes", min=0, help="What each cache may keep; 0 empties both.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Give up what the content caches used longest ago (each job does so beyond RAGKIT_CACHE_MB)."""
    settings = Settings.from_env()
    with opened_engine(settings) as engine:
        bound = settings.cache_mb if megabytes is None else megabytes
        _print({"deleted": engine.clean_caches(bound * 1_000_000)}, as_json)


def _print(body: Mapping[str, object], as_json: bool) -> None:
    if as_json:
        output.print_json(body)
    else:
        output.print_table(("what", "value"), list(output.flattened(body)))
