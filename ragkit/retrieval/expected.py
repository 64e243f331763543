"""Expected documents of one answer: their verdicts, and what would bring them in. Runs in the answer's own snapshot.

Facts are read here and judged in `diagnosis.py`. What would help is proposed from the verdict (that filter, that depth,
that layer, a weight, the limit) and then run as a search of its own: nothing is offered that was not seen to work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragkit.layers import Layer
from ragkit.policy.counterfactual import ProfileChange
from ragkit.policy.origin import FilterOrigin
from ragkit.policy.plan import RetrievalPlan
from ragkit.policy.policy import Ranking
from ragkit.postgres.database import Connection
from ragkit.postgres.inspection import DoneJob, ProbedRow
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import SessionRow
from ragkit.retrieval.adapter import FetchedRows, RagRetrievalAdapter
from ragkit.retrieval.diagnosis import (
    FRAGMENT_OF,
    Diagnosis,
    Item,
    PlanFacts,
    Remedy,
    Verdict,
    best_row,
    filter_name,
    judge,
    named_keys,
)
from ragkit.retrieval.public_id import PlacedRow, locate, paths_in
from ragkit.retrieval.rank_change import Change, WeightChange, weight_changes, with_weight
from ragkit.retrieval.scoring import key_of
from ragkit.retrieval.search_query import SearchQuery

LIMIT_AT_MOST = 1000
"""Of a profile; a remedy asks for no more."""
LIMITS_TRIED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Where and what was asked."""

    connection: Connection
    session: SessionRow
    query: SearchQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRun:
    """One plan, what it was run with, and what it gave."""

    plan: RetrievalPlan
    ranking: Ranking
    section: str
    """Key of the ranking in the policy file, such as `ranking.docs`."""
    depths: Mapping[Layer, int]
    """What the contract says of layers."""
    origins: Mapping[str, FilterOrigin]
    fetched: FetchedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Profiles that were not chosen."""

    changes: Callable[[], Sequence[ProfileChange]]
    """What would lead to each; resolves many plans, so it is asked only where it is needed."""
    layers: Mapping[str, Sequence[Layer]]
    """Profile → the layers that it asks."""

    def asking(self, item: Item) -> tuple[ProfileChange, ...]:
        """What leads to the profiles that ask a layer of the document, the smallest change first."""
        held = {row.layer for row in item.rows}
        asking = [change for change in self.changes() if not held.isdisjoint(self.layers[change.profile])]
        return tuple(sorted(asking, key=lambda change: change.size))


class ExpectedDocuments:
    """Diagnoses documents. Shared by threads."""

    def __init__(self, repository: RagRepository, adapter: RagRetrievalAdapter) -> None:
        self._repository = repository
        self._adapter = adapter

    def diagnose(
        self, snapshot: Snapshot, ids: Sequence[str], runs: Sequence[PlanRun], elsewhere: Elsewhere | None
    ) -> tuple[Diagnosis, ...]:
        """One diagnosis an id, in their order. Costs round trips for documents that are not in the answer.

        `elsewhere`: what is known of profiles that were not chosen; without it nobody asks what would help.
        """
        return tuple(self._diagnosis(snapshot, item, runs, elsewhere) for item in self._items(snapshot, ids))

    def _diagnosis(
        self, snapshot: Snapshot, item: Item, runs: Sequence[PlanRun], elsewhere: Elsewhere | None
    ) -> Diagnosis:
        facts: list[PlanFacts] = []
        before = 0
        for run in runs:
            facts.append(self._facts(snapshot, item, run, before))
            before += len(run.fetched.rows)
        verdict = judge(item, facts)
        if elsewhere is None:
            return Diagnosis(id=item.id, verdict=verdict)
        remedies = tuple(self._remedies(snapshot, item, verdict, runs, facts))
        profiles = elsewhere.asking(item) if verdict.code == "layer_not_asked" else ()
        return Diagnosis(id=item.id, verdict=verdict, remedies=remedies, profiles=profiles)

    # --- facts

    def _items(self, snapshot: Snapshot, ids: Sequence[str]) -> Iterator[Item]:
        inspection = self._repository.inspection
        rows = inspection.rows_of_paths(snapshot.connection, snapshot.session, paths_in(ids))
        located = locate(
            ids,
            [
                PlacedRow(
                    path=row.path,
                    public_id=row.public_id,
                    layer=row.layer,
                    line_start=row.line_start,
                    line_end=row.line_end,
                )
                for row in rows
            ],
        )
        for item in ids:
            place = located[item]
            shown = tuple(row for row in rows if place.is_shown_by(row.path, row.line_start, row.line_end))
            found = Item(id=item, located=place, rows=shown)
            yield self._absent(snapshot, found) if place.status == "unknown" else found

    def _absent(self, snapshot: Snapshot, item: Item) -> Item:
        """What jobs and files say of a path that has no rows."""
        inspection = self._repository.inspection
        jobs = inspection.done_jobs(snapshot.connection, snapshot.session)
        files = inspection.files_like(snapshot.connection, snapshot.session, item.located.path)
        reason = "no_rows" if item.located.path in files else left_out_reason(jobs, item.located.path)
        return replace(
            item,
            left_out=reason,
            near=tuple(path for path in files if path != item.located.path),
            left_out_unnamed=unnamed_files(jobs),
        )

    def _facts(self, snapshot: Snapshot, item: Item, run: PlanRun, before: int) -> PlanFacts:
        fetched, search = run.fetched, run.fetched.search
        facts = PlanFacts(
            plan=run.plan,
            depths=search.request.layers,
            kept=fetched.kept,
            merged=fetched.merged,
            probed=(),
            origins=run.origins,
            words=tuple(dict.fromkeys(view.word for view in fetched.words if view.use == "finds")),
            has_vector=search.request.vector is not None,
            ids={},
            ranks_before=before,
        )
        keys = named_keys(facts, item)
        if keys:
            ids = self._repository.public_ids(snapshot.connection, snapshot.session, list(dict.fromkeys(keys)))
            return replace(facts, ids=ids)
        if best_row(facts, item.keys) or not any(row.layer in run.plan.layers for row in item.rows):
            return facts
        probed = self._repository.inspection.probe(snapshot.connection, search.request, item.file_ids)
        return replace(facts, probed=[row for row in probed if _key(row) in item.keys])

    # --- what would help

    def _remedies(
        self,
        snapshot: Snapshot,
        item: Item,
        verdict: Verdict,
        runs: Sequence[PlanRun],
        facts: Sequence[PlanFacts],
    ) -> Iterator[Remedy]:
        for run, fact in zip(runs, facts, strict=True):
            if verdict.code == "layer_not_asked":
                proposals = _layers_added(item, run)
            elif verdict.plan != run.plan.profile:
                continue
            elif verdict.code == "hard_filter":
                proposals = _filters_dropped(fact, run)
            elif verdict.code == "below_leg":
                proposals = _depth_raised(verdict, run)
            elif verdict.code == "below_limit":
                proposals = _ranked_otherwise(item, verdict, run)
            else:
                continue
            for change, bent in proposals:
                found = self._tried(snapshot, item, change, bent, run.depths)
                if found is not None:
                    yield found

    def _tried(
        self, snapshot: Snapshot, item: Item, change: Change, run: PlanRun, depths: Mapping[Layer, int]
    ) -> Remedy | None:
        """Run a plan as changed; where that is not enough, also with a limit that lets the document in.

        A larger limit may also deepen the legs and let others in before it, so it is followed a few times. `depths`:
        those of the plan before the change.
        """
        with_limit: Change | None = None
        for _ in range(LIMITS_TRIED):
            place = self._place(snapshot, item, run)
            if place is None or place > LIMIT_AT_MOST:
                return None
            if place <= run.plan.limit:
                if with_limit is None:
                    return Remedy(changes=(change,), plan=run.plan.profile, rank=place)
                if change.kind == "depth" and self._place(snapshot, item, replace(run, depths=depths)) == place:
                    return Remedy(changes=(with_limit,), plan=run.plan.profile, rank=place)  # a limit deepens legs too
                return Remedy(changes=(change, with_limit), plan=run.plan.profile, rank=place)
            if change.kind == "weight":
                return None
            if change.kind == "limit":
                change = replace(change, becomes=place)
            else:
                was = run.plan.limit if with_limit is None else with_limit.was
                with_limit = Change(kind="limit", name=_limit_name(run.plan), was=was, becomes=place)
            run = _with_limit(run, place)
        return None

    def _place(self, snapshot: Snapshot, item: Item, run: PlanRun) -> int | None:
        """Of the document's first row, when the plan runs like this."""
        fetched = self._adapter.fetch_rows(
            snapshot.connection,
            snapshot.session,
            run.plan,
            snapshot.query,
            ranking=run.ranking,
            depths=run.depths,
        )
        return next((n for n, row in enumerate(fetched.kept, 1) if key_of(row.candidate) in item.keys), None)


def left_out_reason(jobs: Iterable[DoneJob], path: str) -> str | None:
    """Why the newest job that names a path left it out; a folder that was left out names all below it."""
    for job in jobs:
        for reason, paths in job.left_out_paths.items():
            if any(path == named or (named and path.startswith(f"{named.rstrip('/')}/")) for named in paths):
                return reason
    return None


def unnamed_files(jobs: Iterable[DoneJob]) -> int:
    """How many files the newest job over the whole folder left out without naming them."""
    for job in jobs:
        if job.kind == "snapshot":
            return sum(job.left_out.values()) - sum(len(paths) for paths in job.left_out_paths.values())
    return 0


def _layers_added(item: Item, run: PlanRun) -> Iterator[tuple[Change, PlanRun]]:
    """Each layer of the document, last in the plan: profiles hold layers of one family."""
    asked = [layer.value for layer in run.plan.layers]
    for layer in sorted({row.layer for row in item.rows if row.layer.family is run.plan.family}):
        if layer not in run.plan.layers:
            name = f"profiles.{run.plan.profile}.layers"
            change = Change(kind="layer", name=name, was=asked, becomes=[*asked, layer.value])
            yield change, replace(run, plan=replace(run.plan, layers=(*run.plan.layers, layer)))


def _filters_dropped(facts: PlanFacts, run: PlanRun) -> Iterator[tuple[Change, PlanRun]]:
    """Each single filter without which a row of the document is left."""
    values = run.plan.filters.to_json()
    for fragment in facts.probed[0].passes:
        if not any(all(passed for name, passed in row.passes.items() if name != fragment) for row in facts.probed):
            continue
        name = filter_name(fragment)
        change = Change(kind="filter", name=name, was=values[name], becomes=None)
        without: dict[str, Any] = {FRAGMENT_OF.get(name, name): None}
        yield change, replace(run, plan=replace(run.plan, filters=replace(run.plan.filters, **without)))


def _depth_raised(verdict: Verdict, run: PlanRun) -> Iterator[tuple[Change, PlanRun]]:
    """The depth of the leg in which the document stands nearest."""
    layer, place = Layer(str(verdict.params["layer"])), int(str(verdict.params["rank"]))
    was = run.fetched.search.request.layers[layer]
    change = Change(kind="depth", name=layer.value, was=was, becomes=place)
    yield change, replace(run, depths={**run.depths, layer: place})


def _ranked_otherwise(item: Item, verdict: Verdict, run: PlanRun) -> Iterator[tuple[Change, PlanRun]]:
    """A limit that reaches the row, and the least changes of one weight."""
    place = int(str(verdict.params["rank"]))
    if place <= LIMIT_AT_MOST:
        change = Change(kind="limit", name=_limit_name(run.plan), was=run.plan.limit, becomes=place)
        yield change, _with_limit(run, place)
    fetched = run.fetched
    for found in weight_changes(
        fetched.candidates,
        fetched.seeds,
        fetched.context,
        kept=fetched.kept,
        targets=item.keys,
        limit=run.plan.limit,
    ):
        bent = with_weight(run.ranking, found.weight, found.becomes)
        yield _weight_change(found, run), replace(run, ranking=bent)


def _weight_change(found: WeightChange, run: PlanRun) -> Change:
    return Change(kind="weight", name=f"{run.section}.{found.weight}", was=found.was, becomes=found.becomes)


def _limit_name(plan: RetrievalPlan) -> str:
    return f"profiles.{plan.profile}.limit"


def _with_limit(run: PlanRun, limit: int) -> PlanRun:
    return replace(run, plan=replace(run.plan, limit=limit))


def _key(row: ProbedRow) -> tuple[int, int]:
    return (row.candidate.file_id, row.candidate.row_no)
