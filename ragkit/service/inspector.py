"""What an answer adds about itself on demand: verdicts on expected documents, and an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.policy.counterfactual import ProfileChange, profile_changes
from ragkit.policy.policy import Policy
from ragkit.postgres.repository import RagRepository
from ragkit.retrieval.adapter import RagRetrievalAdapter
from ragkit.retrieval.diagnosis import Diagnosis
from ragkit.retrieval.expected import Elsewhere, ExpectedDocuments, PlanRun, Snapshot
from ragkit.retrieval.explainer import explain_plan
from ragkit.retrieval.explanation import Explanation
from ragkit.retrieval.stopwatch import Stopwatch
from ragkit.routing.router import Routing


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What was asked beside the answer."""

    explain: bool = False
    expected: tuple[str, ...] = ()
    remedies: bool = False
    """Also look for what would bring an expected document in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """What was found; empty where nothing was asked."""

    expected: tuple[Diagnosis, ...] = ()
    explanation: Explanation | None = None


class Inspector:
    """Inspects answers in their own snapshot. Shared by threads."""

    def __init__(self, repository: RagRepository, adapter: RagRetrievalAdapter) -> None:
        self._inspection = repository.inspection
        self._expected = ExpectedDocuments(repository, adapter)

    def inspect(
        self,
        demand: Demand,
        snapshot: Snapshot,
        runs: Sequence[PlanRun],
        routing: Routing,
        policy: Policy,
        families: frozenset[str],
        watch: Stopwatch,
    ) -> Inspected:
        """No statement is run that the demand does not need; without any demand none."""
        expected: tuple[Diagnosis, ...] = ()
        explanation = None

        def changes() -> tuple[ProfileChange, ...]:
            return profile_changes(routing.contract, routing.route, policy, families=families)

        if demand.expected:
            layers = {name: profile.layers for name, profile in policy.profiles.items()}
            elsewhere = Elsewhere(changes=changes, layers=layers) if demand.remedies else None
            expected = self._expected.diagnose(snapshot, demand.expected, runs, elsewhere)
            watch.lap("why")
        if demand.explain:
            explained = tuple(explain_plan(self._inspection, snapshot, run) for run in runs)
            explanation = Explanation(plans=explained, profiles=changes())
            watch.lap("explain")
        return Inspected(expected=expected, explanation=explanation)
