"""Reads what an answer costs and hides: runnable SQL, filters with their rows, EXPLAIN. In the answer's own snapshot.

Statements are composed again from what the plan was run with, by the same builder, so that the default depth pays
nothing for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkit.policy.plan import HARD_FILTERS
from ragkit.postgres.inspection import FilteredRows, Inspection, runnable
from ragkit.postgres.retrieval_statement import RetrievalStatementBuilder, Statement
from ragkit.retrieval.diagnosis import filter_name
from ragkit.retrieval.expected import PlanRun, Snapshot
from ragkit.retrieval.explanation import FilterView, PlanExplanation, RowsLeft
from ragkit.retrieval.session_retriever import NEIGHBOURS_PER_LAYER, node_marks


def explain_plan(inspection: Inspection, snapshot: Snapshot, run: PlanRun) -> PlanExplanation:
    """Statements, filters and cost of one plan."""
    request = run.fetched.search.request
    rows, filtered = inspection.filtered_rows(snapshot.connection, request)
    predicates = inspection.predicates(snapshot.connection, request)
    built = _statements(snapshot, run)
    return PlanExplanation(
        plan=run.plan.profile,
        rows_in_layers=rows,
        depths=request.layers,
        filters=_filters(run, rows, filtered, predicates),
        statements={name: runnable(snapshot.connection, statement) for name, statement in built.items()},
        analyzed=inspection.analyzed(snapshot.connection, built["semantic"]),
    )


def _statements(snapshot: Snapshot, run: PlanRun) -> dict[str, Statement]:
    """Step → statement, in the order in which they ran."""
    builder, fetched = RetrievalStatementBuilder(), run.fetched
    request = fetched.search.request
    built: dict[str, Statement] = {}
    if fetched.hints:
        built["exact_files"] = builder.build_exact_files(request, fetched.hints)
    if fetched.missing_hints:
        built["path_substrings"] = builder.build_path_substrings(request, fetched.missing_hints)
    built["semantic"] = builder.build_retrieve(request)
    if fetched.nodes:
        marks = node_marks(snapshot.session, fetched.nodes)
        built["graph"] = builder.build_neighbours(request, marks, per_layer=NEIGHBOURS_PER_LAYER)
    return built


def _filters(
    run: PlanRun, rows: int, filtered: Sequence[FilteredRows], predicates: Mapping[str, str]
) -> tuple[FilterView, ...]:
    """In the order of the table of fragments, which is that of the cumulative counts; preferences after them."""
    values = run.plan.filters.to_json()
    before = [rows, *(left.cumulative for left in filtered)]
    counts = {filter_name(left.fragment): (left, before[place]) for place, left in enumerate(filtered)}
    texts = {filter_name(fragment): text for fragment, text in predicates.items()}
    names = [*counts, *(n for n in HARD_FILTERS if n in values and n not in counts)]
    names += [name for name in values if name not in HARD_FILTERS]
    return tuple(
        FilterView(
            name=name,
            value=values[name],
            is_hard=name in HARD_FILTERS,
            origin=run.origins[name],
            sql=texts.get(name),
            alone=RowsLeft(before=rows, after=counts[name][0].alone) if name in counts else None,
            cumulative=RowsLeft(before=counts[name][1], after=counts[name][0].cumulative) if name in counts else None,
        )
        for name in names
    )
