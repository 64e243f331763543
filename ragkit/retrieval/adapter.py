"""Execution of one RetrievalPlan, to the letter of POLICY §11.

Hints of the plan → rows of exactly those files → for missing hints, files whose path holds them → semantic retrieval →
merge. The strategy depends on the plan alone; no rule of a route hides here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ragkit.layers import Layer
from ragkit.messages import Reason
from ragkit.policy.plan import HARD_FILTERS, RetrievalPlan
from ragkit.policy.policy import Ranking
from ragkit.postgres.database import Connection
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import Candidate, SessionRow
from ragkit.retrieval.scoring import (
    Key,
    MergedRow,
    ScoredRow,
    ScoringContext,
    Seed,
    key_of,
    merge_duplicates,
    outranked_reason,
    rank,
)
from ragkit.retrieval.search_query import SearchQuery
from ragkit.retrieval.session_retriever import PlanSearch, RagSessionRetriever
from ragkit.retrieval.stopwatch import Stopwatch
from ragkit.retrieval.trace import DROPPED_ROWS_AT_MOST, DroppedRow, Hit, Step, WordView

POINTED_AT = frozenset({Layer.C1_SYMBOL_CATALOG, Layer.D1_DOCUMENT_CATALOG, Layer.D3_ENTITY_CATALOG})
"""Layers whose public ids other rows hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedRows:
    """What one plan gave, and all that it was made from: what a verdict or a counterfactual judges again."""

    rows: tuple[Hit, ...]
    """Ranked from 1 within the plan."""
    steps: tuple[Step, ...]
    words: tuple[WordView, ...]
    search: PlanSearch
    context: ScoringContext
    candidates: tuple[Candidate, ...]
    seeds: Mapping[Key, Seed]
    kept: tuple[ScoredRow, ...]
    """One row a content, best first: the answer's rows and those below the limit."""
    merged: tuple[MergedRow, ...]
    hints: tuple[str, ...]
    """Documents that the plan names."""
    missing_hints: tuple[str, ...]
    nodes: tuple[str, ...]
    """Public ids of the rows that a step along the graph started from."""


class RagRetrievalAdapter:
    """Executes plans. Shared by threads."""

    def __init__(self, repository: RagRepository, matched_forms: Callable[[str, SearchQuery], tuple[str, ...]]) -> None:
        self._repository = repository
        self._retriever = RagSessionRetriever(repository)
        self._matched_forms = matched_forms

    def fetch_rows(
        self,
        connection: Connection,
        session: SessionRow,
        plan: RetrievalPlan,
        query: SearchQuery,
        *,
        ranking: Ranking,
        depths: Mapping[Layer, int],
        watch: Stopwatch | None = None,
    ) -> FetchedRows:
        """Ranked rows of a plan, at most `plan.limit`, with every step's counts and reasons."""
        lap = (watch or Stopwatch()).lap
        search = self._retriever.prepare(connection, session, plan, query, ranking, depths)
        lap("words")
        seeds, found, seed_steps, missing = self._seed(search)
        if seed_steps:
            lap("seeds")
        semantic = self._retriever.retrieve(search)
        lap("search")
        merged = _merge_candidates(found, semantic)
        context = ScoringContext(
            ranking=ranking,
            layers=plan.layers,
            query_language=query.language,
            idf_mass=search.idf_mass,
            prefer_non_tests=bool(plan.filters.prefer_non_tests),
        )
        ranked = rank(merged, seeds, context)
        lap("rank")
        neighbours, graph_steps, nodes = self._neighbours(search, ranked, context)
        if graph_steps:
            lap("graph")
        if neighbours:
            merged = _with_neighbours(merged, neighbours)
            ranked = rank(merged, seeds, context)
        kept, duplicates = merge_duplicates(ranked)
        lap("rank")
        shown, below = kept[: plan.limit], kept[plan.limit :]
        ids = self._public_ids(search, below, duplicates)
        hits = self._hits(search, shown, query)
        steps = (
            *seed_steps,
            _semantic_step(search, semantic),
            *graph_steps,
            _merge_step(plan, len(found) + len(semantic) + len(neighbours), len(kept), duplicates, ids),
            _limit_step(plan, kept, below, ids),
        )
        lap("read")
        return FetchedRows(
            rows=hits,
            steps=steps,
            words=search.words,
            search=search,
            context=context,
            candidates=tuple(merged),
            seeds=seeds,
            kept=kept,
            merged=duplicates,
            hints=plan.filters.target_doc_hints or (),
            missing_hints=missing,
            nodes=nodes,
        )

    def _seed(self, search: PlanSearch) -> tuple[dict[Key, Seed], list[Candidate], tuple[Step, ...], tuple[str, ...]]:
        """Rows of the documents that the plan names, and which names no file has exactly; costs a round trip only where
        it names some."""
        hints = search.plan.filters.target_doc_hints or ()
        if not hints:
            return {}, [], (), ()
        exact = self._retriever.retrieve_exact_files(search, hints)
        there = {candidate.path for candidate in exact}
        missing = tuple(hint for hint in hints if hint.lower() not in there)
        steps = [_seed_step("exact_files", search.plan, hints, exact, missing)]
        partly: list[Candidate] = []
        if missing:
            partly = self._retriever.retrieve_chunks_by_path_substrings(search, missing)
            lost = tuple(hint for hint in missing if not any(hint.lower() in c.path for c in partly))
            steps.append(_seed_step("path_substrings", search.plan, missing, partly, lost))
        seeds: dict[Key, Seed] = {key_of(candidate): "path_substring" for candidate in partly}
        seeds |= {key_of(c): "exact_path" if c.path_named else "exact_title" for c in exact}
        return seeds, [*exact, *partly], tuple(steps), missing

    def _neighbours(
        self, search: PlanSearch, ranked: Sequence[ScoredRow], context: ScoringContext
    ) -> tuple[list[Candidate], tuple[Step, ...], tuple[str, ...]]:
        """Rows that point to the best rows which the query names, and those rows' ids; costs round trips only where the
        weight is not 0."""
        if not context.ranking.parts.graph:
            return [], (), ()
        named = [
            key_of(row.candidate)
            for row in ranked
            if row.candidate.layer in POINTED_AT and (row.candidate.name_defined or row.candidate.path_named)
        ][: context.ranking.graph_rows]
        if not named:
            return [], (), ()
        ids = self._repository.public_ids(search.connection, search.session, named)
        nodes = [ids[key] for key in named]
        found = self._retriever.retrieve_neighbours(search, nodes)
        reason = Reason(code="step.graph_from", params={"nodes": nodes})
        step = Step(
            name="graph",
            plan=search.plan.profile,
            came_in=len(nodes),
            went_out=len(found),
            dropped={},
            notes=(reason,),
        )
        return found, (step,), tuple(nodes)

    def _hits(self, search: PlanSearch, shown: Sequence[ScoredRow], query: SearchQuery) -> tuple[Hit, ...]:
        documents = self._repository.document_rows(
            search.connection, search.session, [key_of(row.candidate) for row in shown]
        )
        return tuple(
            Hit(
                rank=place,
                plan=search.plan.profile,
                id=document.public_id,
                path=document.path,
                line_start=document.line_start,
                line_end=document.line_end,
                layer=document.layer,
                title=document.title,
                score=row.score,
                parts=row.parts,
                found_by=row.found_by,
                text=document.text,
                words=self._matched_forms(document.text, query),
            )
            for place, row in enumerate(shown, start=1)
            for document in (documents[key_of(row.candidate)],)
        )

    def _public_ids(
        self, search: PlanSearch, below: Sequence[ScoredRow], duplicates: Sequence[MergedRow]
    ) -> dict[Key, str]:
        wanted = [key_of(row.candidate) for row in below[:DROPPED_ROWS_AT_MOST]]
        for pair in duplicates[:DROPPED_ROWS_AT_MOST]:
            wanted += [key_of(pair.row.candidate), key_of(pair.into.candidate)]
        return self._repository.public_ids(search.connection, search.session, list(dict.fromkeys(wanted)))


def _with_neighbours(merged: Sequence[Candidate], neighbours: Sequence[Candidate]) -> list[Candidate]:
    """Each row once; one that was found before gains its place in the graph."""
    found = {key_of(candidate): candidate for candidate in merged}
    for neighbour in neighbours:
        key = key_of(neighbour)
        known = found.get(key, replace(neighbour, named_rank=None))
        found[key] = replace(known, graph_place=neighbour.graph_place)
    return list(found.values())


def _merge_candidates(seeded: Sequence[Candidate], semantic: Sequence[Candidate]) -> list[Candidate]:
    """Each row once; a seed that a leg found too keeps the leg's places."""
    merged = {key_of(candidate): replace(candidate, named_rank=None) for candidate in seeded}
    merged |= {key_of(candidate): candidate for candidate in semantic}
    return list(merged.values())


def _seed_step(
    name: str, plan: RetrievalPlan, hints: Sequence[str], found: Sequence[Candidate], missing: Sequence[str]
) -> Step:
    notes = (Reason(code=f"step.{name}_missing", params={"hints": list(missing)}),) if missing else ()
    return Step(name=name, plan=plan.profile, came_in=len(hints), went_out=len(found), notes=notes)


def _semantic_step(search: PlanSearch, found: Sequence[Candidate]) -> Step:
    notes: list[Reason] = []
    if search.request.vector is None:
        notes.append(Reason(code="step.words_alone"))
    common = list(dict.fromkeys(view.word for view in search.words if view.use == "scores"))
    if common:
        notes.append(Reason(code="step.common_words", params={"words": common}))
    if search.request.words.paths and not any(candidate.path_named for candidate in found):
        notes.append(
            Reason(code="step.path_scope_unmatched", params={"paths": list(search.plan.filters.path_scope or ())})
        )
    if not found and search.rows_in_layers:
        notes.append(Reason(code="step.nothing_left", params={"filters": _hard_names(search.plan)}))
    if not search.rows_in_layers:
        notes.append(Reason(code="step.layers_empty", params={"layers": [layer.value for layer in search.plan.layers]}))
    return Step(
        name="semantic",
        plan=search.plan.profile,
        came_in=search.rows_in_layers,
        went_out=len(found),
        dropped={"drop.not_in_pool": search.rows_in_layers - len(found)},
        notes=tuple(notes),
    )


def _hard_names(plan: RetrievalPlan) -> list[str]:
    return [name for name in plan.filters.to_json() if name in HARD_FILTERS]


def _merge_step(
    plan: RetrievalPlan, came_in: int, went_out: int, duplicates: Sequence[MergedRow], ids: Mapping[Key, str]
) -> Step:
    dropped = tuple(
        DroppedRow(
            id=ids[key_of(pair.row.candidate)],
            reason=Reason(code="drop.same_text", params={"into": ids[key_of(pair.into.candidate)]}),
        )
        for pair in duplicates[:DROPPED_ROWS_AT_MOST]
    )
    counts = Counter({"drop.same_text": len(duplicates), "drop.found_twice": came_in - went_out - len(duplicates)})
    return Step(
        name="merge",
        plan=plan.profile,
        came_in=came_in,
        went_out=went_out,
        dropped={code: count for code, count in counts.items() if count},
        dropped_rows=dropped,
    )


def _limit_step(
    plan: RetrievalPlan, kept: Sequence[ScoredRow], below: Sequence[ScoredRow], ids: Mapping[Key, str]
) -> Step:
    return Step(
        name="limit",
        plan=plan.profile,
        came_in=len(kept),
        went_out=len(kept) - len(below),
        dropped={"drop.below_limit": len(below)} if below else {},
        dropped_rows=tuple(
            DroppedRow(id=ids[key_of(row.candidate)], reason=outranked_reason(row, plan.limit))
            for row in below[:DROPPED_ROWS_AT_MOST]
        ),
    )
