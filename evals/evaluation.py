"""The whole of an evaluation: health, one run a policy, metrics, and the comparison of the first two.

The door for the command line and for the screen; what they show is in what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.compare import Comparison, Pair, compare_runs, verdict_sentence
from evals.dataset import Case, Dataset
from evals.health import Health, check, check_layers
from evals.metrics import Measured, anchor_scores, measure, percentile, ranked_items
from evals.run import Manifest, make_manifest
from evals.statistics import bootstrap_interval
from evals.store import Run, RunStore
from ragkit.messages import Reason
from ragkit.retrieval.public_id import Located
from ragkit.routing.contract import Intent
from ragkit.service import RagService


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One run and what it is worth."""

    run: Run
    measured: Measured
    """Over the questions that some ranking could answer."""
    layers_not_asked: tuple[str, ...]
    """Questions all of whose answers lie in layers that their plans did not ask."""

    @property
    def manifest(self) -> Manifest:
        """Of the run."""
        return self.run.manifest

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Metric → 95 % confidence interval of its mean."""
        return {
            name: bootstrap_interval(np.array(list(values.values())))
            for name, values in self.measured.per_query.items()
        }

    def ranks(self, case: Case, located: Mapping[str, Located]) -> list[int | None]:
        """Rank of each item that answers the question, in the order of its judgements; None: not in the answer."""
        ranking = ranked_items(case, self.run.digests[case.id], located)
        places = {item: place for place, item in enumerate(ranking, start=1)}
        return [places.get(item.id) for item in case.relevant if item.grade]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything that is shown."""

    dataset: Dataset
    health: Health
    located: Mapping[str, Located]
    runs: tuple[Evaluated, ...]
    """In the order of the policies asked for."""
    comparison: Comparison | None
    """Of the first two runs."""

    @property
    def verdict(self) -> Reason | None:
        """The comparison in one sentence."""
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
            "comparison": None if self.comparison is None else _comparison_json(self.comparison),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }


def evaluate(
    engine: RagService,
    dataset: Dataset,
    *,
    session: str,
    policies: Sequence[str],
    limit: int | None = None,
    intent: Intent | None = None,
    report: Callable[[str, int, int], None] = lambda policy, done, total: None,
) -> Evaluation:
    """Run a dataset under each policy; `report(policy, done, total)` after each answer.

    Raises: UnknownName, InvalidInput, WrongUse before anything is asked; EnvironmentFault for a data folder that cannot
    be written.
    """
    manifests = [
        make_manifest(engine, dataset, session=session, policy=policy, limit=limit, intent=intent)
        for policy in policies
    ]
    located = engine.locate(session, [item.id for case in dataset.cases for item in case.relevant])
    health = check(dataset, located)
    judged = [case for case in dataset.cases if case.id not in health.unwinnable]
    store = RunStore(engine.settings.data_dir)
    runs: list[Evaluated] = []
    for policy, manifest in zip(policies, manifests, strict=True):
        run = store.carry_out(
            engine, dataset, manifest, policy=policy, report=lambda done, total, name=policy: report(name, done, total)
        )
        runs.append(_evaluated(run, judged, located))
        store.keep_metrics(manifest.id, runs[-1].measured.means())
    comparison = (
        compare_runs(
            judged,
            located,
            (runs[0].manifest, runs[0].run.digests, runs[0].measured),
            (runs[1].manifest, runs[1].run.digests, runs[1].measured),
        )
        if len(runs) > 1
        else None
    )
    return Evaluation(dataset=dataset, health=health, located=located, runs=tuple(runs), comparison=comparison)


def _evaluated(run: Run, judged: Sequence[Case], located: Mapping[str, Located]) -> Evaluated:
    return Evaluated(
        run=run,
        measured=measure(judged, run.digests, located),
        layers_not_asked=tuple(problem.case for problem in check_layers(judged, run.digests, located)),
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
