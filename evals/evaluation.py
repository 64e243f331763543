"""The whole of an evaluation: health, one run a policy, metrics, and the comparison of the first two.

The door for the command line and for the screen; what they show is in what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.compare import Comparison, Pair, Side, compare_runs, verdict_sentence
from evals.dataset import Case, Dataset
from evals.health import Health, check, check_layers
from evals.metrics import Measured, anchor_scores, measure, percentile
from evals.run import Manifest, answer_all, make_manifest
from evals.statistics import bootstrap_interval
from evals.store import Run, RunStore, rerun_difference
from ragkit.errors import InvalidInput
from ragkit.messages import Reason
from ragkit.retrieval.public_id import Located
from ragkit.routing.contract import Intent
from ragkit.service import RagService

Report = Callable[["Variant", int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What a run is made with: two policies on one session, or one policy on two states of a corpus."""

    session: str
    policy: str
    """Name, or path of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One run and what it is worth."""

    run: Run
    health: Health
    """Of the dataset in the run's session."""
    measured: Measured
    """Over the questions that some ranking could answer."""
    located: Mapping[str, Located]
    layers_not_asked: tuple[str, ...]
    """Questions all of whose answers lie in layers that their plans did not ask."""

    @property
    def manifest(self) -> Manifest:
        """Of the run."""
        return self.run.manifest

    @property
    def side(self) -> Side:
        """As a comparison takes it."""
        return Side(manifest=self.run.manifest, digests=self.run.digests, measured=self.measured, located=self.located)

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Metric → 95 % confidence interval of its mean."""
        return {
            name: bootstrap_interval(np.array(list(values.values())))
            for name, values in self.measured.per_query.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything that is shown."""

    dataset: Dataset
    runs: tuple[Evaluated, ...]
    """In the order of the variants asked for."""
    comparisons: tuple[Comparison, ...]
    """Each further run against the first."""

    @property
    def health(self) -> Health:
        """Of the dataset in the first run's session, layers that its plans did not ask included."""
        return self.runs[0].health

    @property
    def comparison(self) -> Comparison | None:
        """Of the second run against the first."""
        return self.comparisons[0] if self.comparisons else None

    @property
    def verdict(self) -> Reason | None:
        """That comparison in one sentence."""
        return None if self.comparison is None else verdict_sentence(self.comparison)

    def to_json(self) -> dict[str, object]:
        """As `ragkit eval --json` prints it."""
        return {
            "dataset": {"name": self.dataset.name, "hash": self.dataset.hash, "questions": len(self.dataset.cases)},
            "health": {
                "counts": self.health.counts(),
                "problems": [{"id": p.case, "reason": p.reason.to_json()} for p in self.health.problems],
            },
            "runs": [_run_json(run, self.dataset.cases) for run in self.runs],
            "comparisons": [_comparison_json(comparison) for comparison in self.comparisons],
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }


def evaluate(
    engine: RagService,
    dataset: Dataset,
    variants: Sequence[Variant],
    *,
    limit: int | None = None,
    intent: Intent | None = None,
    with_ragas: bool = False,
    report: Report = lambda variant, done, total: None,
) -> Evaluation:
    """Run a dataset under each variant; `report(variant, done, total)` after each answer.

    `with_ragas` adds Ragas' metrics that need no language model.

    Raises: UnknownName, InvalidInput, WrongUse before anything is asked; EnvironmentFault for a data folder that cannot
    be written.
    """
    _refuse_unknown_profiles(engine, dataset, variants)
    manifests = [
        make_manifest(engine, dataset, session=variant.session, policy=variant.policy, limit=limit, intent=intent)
        for variant in variants
    ]
    runs = tuple(
        _evaluated(engine, dataset, variant, manifest, report, with_ragas=with_ragas)
        for variant, manifest in zip(variants, manifests, strict=True)
    )
    judged = [case for case in dataset.cases if not any(case.id in run.health.unwinnable for run in runs)]
    comparisons = tuple(compare_runs(judged, runs[0].side, run.side) for run in runs[1:])
    return Evaluation(dataset=dataset, runs=runs, comparisons=comparisons)


def _refuse_unknown_profiles(engine: RagService, dataset: Dataset, variants: Sequence[Variant]) -> None:
    """A profile that none of the policies has can never be met: a slip of the pen, not a loss of the policy.

    Raises: InvalidInput `dataset_profile`.
    """
    known = sorted({name for variant in variants for name in engine.policy(variant.policy).policy.profiles})
    for case in dataset.cases:
        if case.profile is not None and case.profile not in known:
            raise InvalidInput("dataset_profile", dataset=dataset.name, id=case.id, profile=case.profile, known=known)


def rerun(engine: RagService, dataset: Dataset, evaluated: Evaluated, policy: str) -> str | None:
    """Ask everything again; the first field that differs from the kept run, as `question.field`, or None."""
    answers = answer_all(engine, dataset.cases, evaluated.manifest, policy=policy)
    return rerun_difference(evaluated.run.digests, {answered.digest.id: answered.digest for answered in answers})


def _evaluated(
    engine: RagService,
    dataset: Dataset,
    variant: Variant,
    manifest: Manifest,
    report: Report,
    *,
    with_ragas: bool,
) -> Evaluated:
    located = engine.locate(variant.session, [item.id for case in dataset.cases for item in case.relevant])
    health = check(dataset, located)
    judged = [case for case in dataset.cases if case.id not in health.unwinnable]
    store = RunStore(engine.settings.data_dir)
    run = store.carry_out(
        engine,
        dataset,
        manifest,
        policy=variant.policy,
        report=lambda done, total: report(variant, done, total),
    )
    measured = measure(judged, run.digests, located)
    if with_ragas:
        from evals.ragas_metrics import ragas_metrics

        extra = ragas_metrics(engine, variant.session, judged, run.digests, located)
        measured = Measured(per_query={**measured.per_query, **extra})
    store.keep_metrics(manifest.id, measured.means())
    unasked = check_layers(judged, run.digests, located)
    return Evaluated(
        run=run,
        health=Health(problems=(*health.problems, *unasked)),
        measured=measured,
        located=located,
        layers_not_asked=tuple(problem.case for problem in unasked),
    )


def _run_json(evaluated: Evaluated, cases: Sequence[Case]) -> dict[str, object]:
    run, measured = evaluated.run, evaluated.measured
    metrics: dict[str, dict[str, object]] = {}
    for name, values in measured.means().items():
        low, high = evaluated.intervals[name]
        metrics[name] = {**values, "low": round(low, 6), "high": round(high, 6)}
    return {
        "id": run.manifest.id,
        "manifest": run.manifest.to_json(),
        "metrics": metrics,
        "anchors": anchor_scores(cases, run.digests),
        "layers_not_asked": list(evaluated.layers_not_asked),
        "errors": {key: digest.error for key, digest in run.digests.items() if digest.error is not None},
        "taken_up": run.taken_up,
        "timings": {
            "p50_ms": round(percentile(run.times_ms.values(), 50), 3),
            "p95_ms": round(percentile(run.times_ms.values(), 95), 3),
        },
    }


def _comparison_json(comparison: Comparison) -> dict[str, object]:
    return {
        "metric": comparison.metric,
        "outcomes": comparison.outcomes(),
        "differences": [{name: getattr(d, name) for name in d.__slots__} for d in comparison.differences],
        "queries": [_pair_json(pair) for pair in comparison.pairs],
        "warnings": [warning.to_json() for warning in comparison.warnings],
    }


def _pair_json(pair: Pair) -> dict[str, object]:
    return {
        "id": pair.case.id,
        "query": pair.case.query,
        "outcome": pair.outcome,
        "a": pair.value_a,
        "b": pair.value_b,
        "delta": pair.delta,
        "items": [{name: getattr(item, name) for name in item.__slots__} for item in pair.items],
        "route_a": {"intent": pair.route_a[0], "profiles": list(pair.route_a[1])},
        "route_b": {"intent": pair.route_b[0], "profiles": list(pair.route_b[1])},
    }
