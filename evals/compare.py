"""Two runs of one dataset, question by question: what was won, what was lost, and by which route. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from evals.dataset import Case
from evals.metrics import PRIMARY, Measured, ranked_items
from evals.run import Digest, Manifest
from evals.statistics import Difference, compare
from ragkit.messages import Reason
from ragkit.retrieval.public_id import Located

Outcome = Literal["won", "lost", "equal", "both_failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRanks:
    """Where one expected item stands."""

    id: str
    grade: int
    rank_a: int | None
    """From 1; None: not in the answer."""
    rank_b: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One question in both runs."""

    case: Case
    outcome: Outcome
    value_a: float
    value_b: float
    delta: float
    items: tuple[ItemRanks, ...]
    route_a: tuple[str | None, tuple[str, ...]]
    """(intent, profiles)."""
    route_b: tuple[str | None, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One run of a comparison."""

    manifest: Manifest
    digests: Mapping[str, Digest]
    measured: Measured
    located: Mapping[str, Located]
    """Expected items in the run's own session."""

    def ranks(self, case: Case) -> dict[str, int]:
        """Item → rank from 1, of the items that the answer shows."""
        ranking = ranked_items(case, self.digests[case.id], self.located)
        return {item: place for place, item in enumerate(ranking, start=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """B against A."""

    metric: str
    """That outcomes and order are judged by."""
    pairs: tuple[Pair, ...]
    """Greatest loss first, then by question."""
    differences: tuple[Difference, ...]
    warnings: tuple[Reason, ...]

    def outcomes(self) -> dict[Outcome, int]:
        """How many questions of each kind."""
        counts = Counter(pair.outcome for pair in self.pairs)
        return {outcome: counts[outcome] for outcome in get_args(Outcome)}


def compare_runs(cases: Sequence[Case], a: Side, b: Side, *, metric: str = PRIMARY) -> Comparison:
    """Compare the questions that both runs judge by `metric`."""
    values_a, values_b = a.measured.per_query.get(metric, {}), b.measured.per_query.get(metric, {})
    pairs = [
        _pair(case, a, b, values_a[case.id], values_b[case.id])
        for case in cases
        if case.id in values_a and case.id in values_b
    ]
    pairs.sort(key=lambda pair: (pair.delta, pair.case.id))
    return Comparison(
        metric=metric,
        pairs=tuple(pairs),
        differences=compare(a.measured.per_query, b.measured.per_query),
        warnings=_warnings(a.manifest, b.manifest),
    )


def verdict_sentence(comparison: Comparison) -> Reason:
    """The whole comparison in one sentence, by its metric."""
    found = next((d for d in comparison.differences if d.metric == comparison.metric), None)
    if found is None:
        return Reason(code="eval.verdict_nothing", params={"metric": comparison.metric})
    counts = comparison.outcomes()
    params = {
        "metric": found.metric,
        "n": found.n,
        "a": f"{found.mean_a:.3f}",
        "b": f"{found.mean_b:.3f}",
        "delta": f"{found.delta:+.3f}",
        "low": f"{found.low:+.3f}",
        "high": f"{found.high:+.3f}",
        "p": f"{found.p_holm:.3f}",
        "won": counts["won"],
        "lost": counts["lost"],
    }
    return Reason(code=f"eval.verdict_{found.verdict}", params=params)


def _pair(case: Case, a: Side, b: Side, value_a: float, value_b: float) -> Pair:
    ranks_a, ranks_b = a.ranks(case), b.ranks(case)
    digest_a, digest_b = a.digests[case.id], b.digests[case.id]
    return Pair(
        case=case,
        outcome=_outcome(value_a, value_b),
        value_a=round(value_a, 6),
        value_b=round(value_b, 6),
        delta=round(value_b - value_a, 6),
        items=tuple(
            ItemRanks(id=item.id, grade=item.grade, rank_a=ranks_a.get(item.id), rank_b=ranks_b.get(item.id))
            for item in case.relevant
        ),
        route_a=(digest_a.intent, digest_a.profiles),
        route_b=(digest_b.intent, digest_b.profiles),
    )


def _outcome(a: float, b: float) -> Outcome:
    if a == b:
        return "both_failed" if a == 0 else "equal"
    return "won" if b > a else "lost"


def _warnings(a: Manifest, b: Manifest) -> tuple[Reason, ...]:
    found: list[Reason] = []
    if a.corpus_fingerprint != b.corpus_fingerprint:
        params = {"a": a.corpus_fingerprint, "b": b.corpus_fingerprint}
        found.append(Reason(code="eval.corpora_differ", params=params))
    if a.dataset_hash != b.dataset_hash:
        found.append(Reason(code="eval.datasets_differ", params={"a": a.dataset_hash, "b": b.dataset_hash}))
    return tuple(found)
