"""The commands, as architecture.md names them. Each reads its arguments, calls the service once, and prints."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
import typer.main
from pydantic import ValidationError

from ragkit import bundle
from ragkit.cli import diagnosis, output, upkeep
from ragkit.cli.batch import read_json, run_batch, shown_source
from ragkit.cli.batch_line import intent_of, limit_of, policy_of, query_of, state_of
from ragkit.cli.engine import opened_engine
from ragkit.errors import InvalidInput, WrongUse
from ragkit.policy.code_plan import plans
from ragkit.policy.plan import check_limit
from ragkit.policy.policy import Policy
from ragkit.policy.resolver import RetrievalPolicyResolver
from ragkit.routing.contract import ConversationState, Intent, RouterContract
from ragkit.routing.conversation import conversation_state_from_json
from ragkit.routing.route import route_from_json
from ragkit.routing.router import Routing
from ragkit.settings import Settings

if TYPE_CHECKING:
    pass

Route = Callable[[str, ConversationState | None, Intent | None], Routing]

DEMO_SESSION = "demo"
DEFAULT_PORT = 8501

app = typer.Typer(
    name="ragkit",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ask a project's documentation and code, and see why each answer is what it is.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Batch = Annotated[str | None, typer.Option(help="A file with one JSON document a line ('-': standard input).")]
PolicyName = Annotated[str, typer.Option("--policy", help="Name of a policy, or path of a .toml file.")]
State = Annotated[str | None, typer.Option("--state", help="A file with the conversation's state as JSON.")]
Forced = Annotated[str | None, typer.Option("--intent", help="Force the intent; the answer says so.")]
Port = Annotated[int, typer.Option(help="Port of the browser UI.")]
Address = Annotated[str, typer.Option(help="Address that the UI listens on.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")]


def command_line() -> Any:
    """The parser of all commands."""
    return typer.main.get_command(app)


app.command()(upkeep.sessions)
app.command()(upkeep.jobs)
app.add_typer(upkeep.database, name="db")


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and logs.")] = False,
) -> None:
    """`--debug` is taken off the command line before this is reached; it stands here for `--help`."""


@app.command()
def demo(port: Port = DEFAULT_PORT, address: Address = "127.0.0.1", no_browser: NoBrowser = False) -> None:
    """Start everything, index the bundled corpus once, and open the browser UI."""
    from ragkit.cli.browser import refuse_taken, serve

    settings = Settings.from_env()
    refuse_taken(address, port)
    with opened_engine(settings) as engine, output.job_progress(settings.language, quiet=False) as report:
        engine.index_snapshot(DEMO_SESSION, bundle.demo_corpus(), report=report)
    ready = bundle.messages().sentence("cli.demo_ready", settings.language, session=DEMO_SESSION)
    output.complain(ready)
    serve(settings, address=address, port=port, open_browser=not no_browser, query=f"?session={DEMO_SESSION}")


@app.command()
def serve(
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every write.")] = False,
    port: Port = DEFAULT_PORT,
    address: Address = "127.0.0.1",
    no_browser: NoBrowser = False,
) -> None:
    """Open the browser UI on what is indexed."""
    from ragkit.cli.browser import serve as serve_browser

    settings = Settings.from_env()
    settings = replace(settings, read_only=read_only or settings.read_only)
    with opened_engine(settings):
        pass  # a database that cannot serve is told here, not in the browser
    serve_browser(settings, address=address, port=port, open_browser=not no_browser)


@app.command()
def index(
    path: Annotated[Path, typer.Argument(help="A git work tree or any folder.")],
    session: Annotated[str, typer.Option("--session", help="Session that takes it; made if there is none.")],
    changes: Annotated[str | None, typer.Option("--changes", help="Only what differs from this git revision.")] = None,
    changed: Annotated[list[str] | None, typer.Option("--changed", help="Only index this file anew.")] = None,
    deleted: Annotated[list[str] | None, typer.Option("--deleted", help="Only take this path out.")] = None,
    replace_: Annotated[
        bool, typer.Option("--replace", help="Put this folder in the place of another project's.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on after a kill (what was staged is always used).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Index a folder into a session, with a progress bar."""
    from ragkit.service import job_json

    settings = Settings.from_env()
    if changes is not None and (deleted or changed):
        raise WrongUse("options_conflict", first="--changes", second="--deleted" if deleted else "--changed")
    if replace_ and (deleted or changed):
        raise WrongUse("options_conflict", first="--replace", second="--deleted" if deleted else "--changed")
    with opened_engine(settings) as engine, output.job_progress(settings.language, quiet=as_json) as report:
        if changes is not None:
            job = engine.index_changes(session, path, changes, replace=replace_, report=report)
        elif changed:
            job = engine.index_paths(session, path, changed, deleted or (), report=report)
        elif deleted:
            job = engine.indexing.delete_paths(session, path, deleted, report=report)
        else:
            job = engine.index_snapshot(session, path, replace=replace_, report=report)
    body = job_json(job, session)
    if as_json:
        output.print_json(body)
    else:
        output.print_job(body, settings.language)


@app.command()
def layers(session: str, as_json: Json = False) -> None:
    """Count the rows of a session by layer."""
    with opened_engine(Settings.from_env()) as engine:
        found = {layer.value: rows for layer, rows in engine.layers(session).items()}
    if as_json:
        output.print_json(found)
    else:
        output.print_table(("layer", "rows"), list(found.items()))


@app.command()
def show(session: str, path: str, as_json: Json = False) -> None:
    """Show the rows of one file by layer."""
    with opened_engine(Settings.from_env()) as engine:
        found = engine.show(session, path)
    if as_json:
        output.print_json(found)
    else:
        rows = cast("list[dict[str, object]]", found["rows"])
        output.print_table(
            ("layer", "lines", "title"),
            [(row["layer"], f"{row['line_start']}–{row['line_end']}", row["title"]) for row in rows],
        )


@app.command()
def route(
    query: Annotated[str | None, typer.Argument(help="The question.")] = None,
    state: State = None,
    session: Annotated[str | None, typer.Option("--session", help="Use its layers and names.")] = None,
    intent: Forced = None,
    batch: Batch = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the contract as JSON Schema.")] = False,
    as_json: Json = False,
) -> None:
    """Say how a question is understood, and why."""
    if schema:
        output.print_json(RouterContract.model_json_schema())
        return
    settings = Settings.from_env()
    forced = _intent(intent)
    _refuse_beside(batch, query=query, state=state)
    with _routing(settings, session) as answer:
        if batch is not None:
            run_batch(
                batch,
                lambda line: answer(query_of(line), state_of(line), intent_of(line, forced)).to_json(),
                settings.language,
            )
            return
        body = answer(_needed(query, "QUERY"), _state_file(state), forced).to_json()
    if as_json:
        output.print_json(body)
    else:
        output.print_routing(body, settings.language)


@app.command()
def plan(
    source: Annotated[str | None, typer.Argument(help="A file with a route as JSON ('-': standard input).")] = None,
    policy: PolicyName = "spec",
    batch: Batch = None,
    as_json: Json = False,
) -> None:
    """Give the retrieval plan of a RouteResult, or all plans of what `ragkit route --json` printed."""
    settings = Settings.from_env()
    chosen = bundle.policy(policy, settings.data_dir).policy
    _refuse_beside(batch, source=source)
    if batch is not None:
        run_batch(batch, lambda line: _planned_line(line, policy, settings), settings.language)
        return
    origin = source or "-"
    with _naming(origin):
        output.print_json(_planned(read_json(origin, "route"), chosen))


@app.command()
def query(
    session: Annotated[str, typer.Argument(help="Session to ask.")],
    query: Annotated[str | None, typer.Argument(help="The question.")] = None,
    policy: PolicyName = "spec",
    state: State = None,
    limit: Annotated[int | None, typer.Option(help="Replaces the limit of each plan.")] = None,
    intent: Forced = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add SQL, filters with their rows, EXPLAIN, and what leads elsewhere.")
    ] = False,
    expect: Annotated[
        list[str] | None,
        typer.Option("--expect", help="A document that ought to be found; more than once: several."),
    ] = None,
    batch: Batch = None,
    as_json: Json = False,
) -> None:
    """Ask a session: ranked rows, and the whole Trace with --json."""
    from ragkit.service import Ask

    settings = Settings.from_env()
    forced = _intent(intent)
    check_limit(limit)
    _refuse_beside(batch, query=query, state=state)
    with opened_engine(settings) as engine:
        if batch is not None:
            bundle.policy(policy, settings.data_dir)
            engine.layers(session)

            def one(line: Mapping[str, object]) -> dict[str, object]:
                ask = Ask(
                    query=query_of(line),
                    session=session,
                    policy=policy_of(line, policy),
                    state=state_of(line),
                    limit=limit_of(line, limit),
                    intent=intent_of(line, forced),
                    explain=explain,
                    expected=tuple(expect or ()),
                )
                return engine.answer(ask).to_json()

            run_batch(batch, one, settings.language)
            return
        text, given = _needed(query, "QUERY"), _state_file(state)
        ask = Ask(
            query=text,
            session=session,
            policy=policy,
            state=given,
            limit=limit,
            intent=forced,
            explain=explain,
            expected=tuple(expect or ()),
        )
        trace = engine.answer(ask).to_json()
    if as_json:
        output.print_json(trace)
    else:
        output.print_rows(trace, settings.language)
        diagnosis.print_expected(trace, settings.language)
        diagnosis.print_explanation(trace, settings.language)


@app.command()
def why(
    session: Annotated[str, typer.Argument(help="Session to ask.")],
    query: Annotated[str, typer.Argument(help="The question.")],
    path: Annotated[str, typer.Argument(help="A path, or an id such as path#heading or path::name.")],
    policy: PolicyName = "spec",
    state: State = None,
    limit: Annotated[int | None, typer.Option(help="Replaces the limit of each plan.")] = None,
    intent: Forced = None,
    as_json: Json = False,
) -> None:
    """Say why a document is in the answer or not, and what would bring it in; exit status 1 where it is not."""
    from ragkit.service import Ask

    settings = Settings.from_env()
    ask = Ask(
        query=query,
        session=session,
        policy=policy,
        state=_state_file(state),
        limit=limit,
        intent=_intent(intent),
    )
    with opened_engine(settings) as engine:
        found = engine.why(ask, path)
    if as_json:
        output.print_json(diagnosis.why_json(found, settings.language))
    else:
        diagnosis.print_why(diagnosis.why_json(found, settings.language), settings.language)
    if not found.verdict.is_found:
        raise typer.Exit(1)


@app.command(name="eval")
def evaluate(
    dataset: Annotated[Path, typer.Argument(help="A .jsonl or .csv file, or a BEIR or TREC folder.")],
    session: Annotated[list[str], typer.Option("--session", help="Session to ask; twice: two states of a corpus.")],
    policy: Annotated[
        list[str] | None, typer.Option("--policy", help="More than once: A, and others against it.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Replaces the limit of each plan.")] = None,
    intent: Forced = None,
    ragas: Annotated[bool, typer.Option("--ragas", help="Add Ragas' metrics that need no language model.")] = False,
    rerun: Annotated[bool, typer.Option("--rerun", help="Ask again, and compare with the kept run.")] = False,
    trec_run: Annotated[Path | None, typer.Option("--trec-run", help="Write the first run in TREC's form.")] = None,
    as_json: Json = False,
) -> None:
    """Ask every question of a dataset, and say what the answers are worth."""
    from ragkit.cli import evaluation

    check_limit(limit)
    policies = policy or ["spec"]
    if len(session) > 1 and len(policies) > 1:
        raise WrongUse("options_conflict", first="a second --session", second="a second --policy")
    request = evaluation.Request(
        dataset=dataset,
        variants=[(name, chosen) for name in session for chosen in policies],
        limit=limit,
        intent=_intent(intent),
        ragas=ragas,
        rerun=rerun,
        trec_run=trec_run,
        as_json=as_json,
    )
    if not evaluation.run(Settings.from_env(), request):
        raise typer.Exit(1)


@app.command()
def dataset(
    source: Annotated[Path, typer.Argument(help="A .jsonl or .csv file, or a BEIR or TREC folder.")],
    target: Annotated[Path, typer.Argument(help="File (jsonl, csv) or folder (beir, trec) to write.")],
    form: Annotated[str, typer.Option("--to", help="jsonl, csv, beir or trec.")] = "jsonl",
) -> None:
    """Write a dataset in another format; ids, grades, tags and order stay."""
    from ragkit.cli import evaluation

    evaluation.convert(source, target, form)


@contextmanager
def _routing(settings: Settings, session: str | None) -> Generator[Route]:
    """Something that routes: with a session the engine, without one the bare router, which needs no database."""
    from ragkit import service

    if session is None:
        router = service.router(settings)
        yield lambda text, state, forced: router.route(text, state, None, intent=forced)
        return
    with opened_engine(settings) as engine:
        yield lambda text, state, forced: engine.route(text, session=session, state=state, intent=forced)


def _planned(body: object, policy: Policy, limit: int | None = None) -> dict[str, object]:
    """RouteResult → its one plan; `{contract, route, …}` → `{plans: […]}`."""
    if isinstance(body, dict) and "contract" in body:
        document = cast("Mapping[str, object]", body)
        try:
            contract = RouterContract.model_validate(document["contract"])
        except ValidationError as invalid:
            first = invalid.errors(include_url=False)[0]
            field = ".".join(str(part) for part in ("contract", *first["loc"]))
            raise InvalidInput("route_field", field=field, found=first["type"], allowed=[first["msg"]]) from invalid
        both = frozenset({"DOCS", "CODE"})
        made, _ = plans(contract, route_from_json(document.get("route")), policy, families=both, limit=limit)
        return {"plans": [plan.to_json() for plan in made]}
    plan = RetrievalPolicyResolver(policy).resolve(route_from_json(cast("object", body)))
    return (plan if limit is None else replace(plan, limit=limit)).to_json()


def _planned_line(line: Mapping[str, object], policy: str, settings: Settings) -> dict[str, object]:
    """As `_planned`, by the line's own policy and limit; its `intent` is that of the route."""
    chosen = bundle.policy(policy_of(line, policy), settings.data_dir).policy
    return _planned(line, chosen, limit_of(line, None))


def _refuse_beside(batch: str | None, **single: str | None) -> None:
    """Refuse what a batch would pass over: each line brings its own.

    Raises: WrongUse `options_conflict`.
    """
    shown = {"query": "QUERY", "source": "ROUTE", "state": "--state"}
    for name, value in single.items():
        if batch is not None and value is not None:
            raise WrongUse("options_conflict", first="--batch", second=shown[name])


@contextmanager
def _naming(path: str) -> Generator[None]:
    """Says which file a wrong field stands in."""
    try:
        yield
    except InvalidInput as wrong:
        if wrong.code not in ("route_field", "state_field"):
            raise
        raise InvalidInput(f"{wrong.code}_of", origin=shown_source(path), **wrong.params) from wrong


def _intent(name: str | None) -> Intent | None:
    known = get_args(Intent)
    if name is not None and name not in known:
        raise WrongUse("choice_invalid", name="--intent", found=name, allowed=list(known))
    return cast("Intent | None", name)


def _needed(value: str | None, name: str) -> str:
    if value is None:
        raise WrongUse("argument_missing", name=name)
    return value


def _state_file(path: str | None) -> ConversationState | None:
    if path is None:
        return None
    with _naming(path):
        return conversation_state_from_json(read_json(path, "state"))
