"""`ragkit eval`: run a dataset, say what it is worth, compare two policies."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ragkit import bundle
from ragkit.cli import output
from ragkit.errors import InvalidInput, WrongUse
from ragkit.messages import Language
from ragkit.routing.contract import Intent
from ragkit.settings import Settings

if TYPE_CHECKING:
    from evals.evaluation import Evaluation

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be evaluated and how it is to be told."""

    dataset: Path
    variants: list[tuple[str, str]]
    """(session, policy); the first is what others are compared with."""
    limit: int | None
    intent: Intent | None
    ragas: bool
    rerun: bool
    trec_run: Path | None
    as_json: bool


def run(settings: Settings, request: Request) -> bool:
    """Evaluate and print; whether what was asked holds (a rerun that differs does not)."""
    from evals import evaluation, formats
    from evals.formats.trec import run_lines
    from evals.metrics import ranked_items
    from ragkit import service

    loaded = formats.load(request.dataset)
    variants = [evaluation.Variant(session=session, policy=policy) for session, policy in request.variants]
    with service.opened(settings) as engine, _progress(settings.language, quiet=request.as_json) as report:
        found = evaluation.evaluate(
            engine,
            loaded,
            variants,
            limit=request.limit,
            intent=request.intent,
            with_ragas=request.ragas,
            report=lambda variant, done, total: report(variant.policy, done, total),
        )
        first = found.runs[0]
        differs = evaluation.rerun(engine, loaded, first, variants[0].policy) if request.rerun else None
    if request.trec_run is not None:
        ranked = {case.id: ranked_items(case, first.run.digests[case.id], first.located) for case in loaded.cases}
        _write(request.trec_run, "".join(run_lines(ranked, first.manifest.id)))
    _tell(found, differs, request, settings.language)
    return differs is None


def convert(source: Path, target: Path, form: str) -> None:
    """Write a dataset in another format.

    Raises: WrongUse for an unknown format; InvalidInput for a source that cannot be read or a target that cannot be
    written.
    """
    from evals import formats

    kinds: dict[str, formats.Kind] = {kind: kind for kind in formats.KINDS}
    if form not in kinds:
        raise WrongUse("choice_invalid", name="--to", found=form, allowed=list(formats.KINDS))
    loaded = formats.load(source)
    try:
        formats.save(loaded, target, kinds[form])
    except OSError as refused:
        raise InvalidInput("file_unwritable", path=str(target), problem=refused.strerror or "unwritable") from refused


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as refused:
        raise InvalidInput("file_unwritable", path=str(path), problem=refused.strerror or "unwritable") from refused


def _tell(found: Evaluation, differs: str | None, request: Request, language: Language) -> None:
    if request.as_json:
        rerun = {"rerun": {"identical": differs is None, "first_difference": differs}} if request.rerun else {}
        output.print_json(found.to_json() | rerun)
        return
    _print(found, language)
    if request.rerun:
        code = "eval.rerun_identical" if differs is None else "eval.rerun_differs"
        output.print_line(bundle.messages().sentence(code, language, field=differs))


def _print(found: Evaluation, language: Language) -> None:
    from evals.compare import verdict_sentence

    sentences = bundle.messages()
    for code, count in found.health.counts().items():
        example = next(problem for problem in found.health.problems if problem.reason.code == code)
        output.print_line(f"{count} × {sentences.render(example.reason, language)} ({example.case} …)")
    means = [run.measured.means() for run in found.runs]
    output.print_table(
        ("metric", "n", *(f"{run.manifest.policy} on {run.manifest.session}" for run in found.runs)),
        [
            (name, values["n"], *(_mean(mean.get(name, {}).get("mean")) for mean in means))
            for name, values in means[0].items()
        ],
    )
    for comparison in found.comparisons:
        for warning in comparison.warnings:
            output.print_line(sentences.render(warning, language))
        output.print_line(sentences.render(verdict_sentence(comparison), language))


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


@contextmanager
def _progress(language: Language, *, quiet: bool) -> Generator[Report]:
    if quiet:
        yield lambda policy, done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    screen = Console(file=output.stderr(), markup=False)  # nothing is drawn into a file or pipe
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def show(policy: str, done: int, total: int) -> None:
            sentence = bundle.messages().sentence("eval.progress", language, policy=policy, done=done, total=total)
            bar.update(task, description=sentence, completed=done, total=total)

        yield show
