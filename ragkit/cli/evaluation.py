"""`ragkit eval`: run a dataset, say what it is worth, compare two policies."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ragkit import bundle
from ragkit.cli import output
from ragkit.messages import Language
from ragkit.routing.contract import Intent
from ragkit.settings import Settings

if TYPE_CHECKING:
    from evals.evaluation import Evaluation

Report = Callable[[str, int, int], None]


def run_evaluation(
    settings: Settings,
    dataset: Path,
    *,
    session: str,
    policies: list[str],
    limit: int | None,
    intent: Intent | None,
    as_json: bool,
) -> None:
    """Evaluate and print."""
    from evals import formats
    from evals.evaluation import evaluate
    from ragkit import service

    loaded = formats.load(dataset)
    with service.opened(settings) as engine, _progress(settings.language, quiet=as_json) as report:
        found = evaluate(engine, loaded, session=session, policies=policies, limit=limit, intent=intent, report=report)
    if as_json:
        output.print_json(found.to_json())
    else:
        _print(found, settings.language)


def _print(found: Evaluation, language: Language) -> None:
    sentences = bundle.messages()
    for code, count in found.health.counts().items():
        example = next(problem for problem in found.health.problems if problem.reason.code == code)
        output.print_line(f"{count} × {sentences.render(example.reason, language)} ({example.case} …)")
    columns = ("metric", "n", *(run.manifest.policy for run in found.runs))
    means = [run.measured.means() for run in found.runs]
    output.print_table(
        columns,
        [
            (name, values["n"], *(f"{mean[name]['mean']:.3f}" if name in mean else "–" for mean in means))
            for name, values in means[0].items()
        ],
    )
    for warning in found.comparison.warnings if found.comparison else ():
        output.print_line(sentences.render(warning, language))
    if found.verdict is not None:
        output.print_line(sentences.render(found.verdict, language))


@contextmanager
def _progress(language: Language, *, quiet: bool) -> Generator[Report]:
    if quiet:
        yield lambda policy, done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=output.stderr(), markup=False), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(policy: str, done: int, total: int) -> None:
            sentence = bundle.messages().sentence("eval.progress", language, policy=policy, done=done, total=total)
            bar.update(task, description=sentence, completed=done, total=total)

        yield show
