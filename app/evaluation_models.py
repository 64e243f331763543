"""Evaluation → what the screen shows: rounded, labelled, in the reader's language. Pure; no Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from app.view_models import Say
from evals.compare import Pair
from evals.dataset import Case
from evals.evaluation import Evaluated, Evaluation
from evals.metrics import PRIMARY, percentile

RANK_MISSING = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricView:
    """One metric of each run, and the difference of the first two."""

    name: str
    n: int
    means: tuple[float | None, ...]
    low: float | None
    high: float | None
    p: float | None
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """One question of the dataset."""

    id: str
    query: str
    link: str
    outcome: str
    values: tuple[float, ...]
    ranks: str
    route: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationView:
    """Everything that the Evaluate screen shows."""

    verdict: str | None
    warnings: tuple[str, ...]
    policies: tuple[str, ...]
    metrics: tuple[MetricView, ...]
    outcomes: tuple[tuple[str, int], ...]
    questions: tuple[QuestionView, ...]
    """Greatest loss first; with one run the worst first."""
    health: tuple[tuple[str, int], ...]
    latency: str


def to_evaluation(found: Evaluation, say: Say) -> EvaluationView:
    """The whole screen."""
    comparison = found.comparison
    return EvaluationView(
        verdict=None if found.verdict is None else say.reason(found.verdict),
        warnings=() if comparison is None else tuple(say.reason(warning) for warning in comparison.warnings),
        policies=tuple(run.manifest.policy for run in found.runs),
        metrics=_metrics(found, say),
        outcomes=()
        if comparison is None
        else tuple((say(f"ui.outcome_{name}"), count) for name, count in comparison.outcomes().items()),
        questions=_pairs(found, say) if comparison is not None else _alone(found, say),
        health=tuple(
            (say(f"ui.health_{code.removeprefix('health.')}"), count) for code, count in found.health.counts().items()
        ),
        latency="; ".join(_latency(run, say) for run in found.runs),
    )


def _metrics(found: Evaluation, say: Say) -> tuple[MetricView, ...]:
    differences = {} if found.comparison is None else {d.metric: d for d in found.comparison.differences}
    means = [run.measured.means() for run in found.runs]
    views: list[MetricView] = []
    for name, first in means[0].items():
        difference = differences.get(name)
        low, high = found.runs[0].intervals[name] if difference is None else (difference.low, difference.high)
        views.append(
            MetricView(
                name=name,
                n=int(first["n"] or 0),
                means=tuple(_rounded(mean.get(name, {}).get("mean")) for mean in means),
                low=round(low, 3),
                high=round(high, 3),
                p=None if difference is None else round(difference.p_holm, 3),
                verdict="" if difference is None else say(f"ui.verdict_{difference.verdict}"),
            )
        )
    return tuple(views)


def _pairs(found: Evaluation, say: Say) -> tuple[QuestionView, ...]:
    if found.comparison is None:
        return ()
    manifest = found.runs[1].manifest
    return tuple(
        QuestionView(
            id=pair.case.id,
            query=pair.case.query,
            link=query_link(manifest.session, manifest.policy, pair.case.query, manifest.limit),
            outcome=say(f"ui.outcome_{pair.outcome}"),
            values=(round(pair.value_a, 3), round(pair.value_b, 3)),
            ranks=", ".join(f"{_rank(i.rank_a)} → {_rank(i.rank_b)}" for i in pair.items if i.grade),
            route=_route(pair),
        )
        for pair in found.comparison.pairs
    )


def _alone(found: Evaluation, say: Say) -> tuple[QuestionView, ...]:
    run = found.runs[0]
    values = run.measured.per_query.get(PRIMARY, {})
    cases = {case.id: case for case in found.dataset.cases}
    views = [
        QuestionView(
            id=key,
            query=cases[key].query,
            link=query_link(run.manifest.session, run.manifest.policy, cases[key].query, run.manifest.limit),
            outcome=say("ui.outcome_failed") if value == 0 else "",
            values=(round(value, 3),),
            ranks=_ranks(run, cases[key]),
            route=" ".join((run.run.digests[key].intent or "", *run.run.digests[key].profiles)),
        )
        for key, value in sorted(values.items(), key=lambda item: (item[1], item[0]))
    ]
    return tuple(views)


def _ranks(run: Evaluated, case: Case) -> str:
    places = run.side.ranks(case)
    return ", ".join(_rank(places.get(item.id)) for item in case.relevant if item.grade)


def query_link(session: str, policy: str, query: str, limit: int | None) -> str:
    """Address of the Query screen on a question."""
    parts: Mapping[str, str] = {"session": session, "policy": policy, "q": query}
    return "./?" + urlencode(parts | ({"limit": str(limit)} if limit else {}))


def _route(pair: Pair) -> str:
    a, b = (" ".join((intent or "", *profiles)) for intent, profiles in (pair.route_a, pair.route_b))
    return a if a == b else f"{a} → {b}"


def _rank(rank: int | None) -> str:
    return RANK_MISSING if rank is None else str(rank)


def _rounded(value: float | int | None) -> float | None:
    return None if value is None else round(value, 3)


def _latency(run: Evaluated, say: Say) -> str:
    times = list(run.run.times_ms.values())
    return say(
        "ui.latency",
        policy=run.manifest.policy,
        p50=round(percentile(times, 50), 1),
        p95=round(percentile(times, 95), 1),
        n=len(times),
    )
