"""What a run is worth: retrieval metrics through `ir_measures`, routing metrics against what was expected.

Metrics are never computed by hand where a reference exists: a famous workbench once shipped wrong nDCG and MAP. A
judged question without an answer counts as zero; one without judgements counts for routing alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
from ir_measures import AP, RR, Judged, P, Qrel, R, ScoredDoc, Success, nDCG

from evals.dataset import Case
from evals.run import Digest
from ragkit.retrieval.public_id import Located

Values = Mapping[str, float]
"""Question id → value."""

RETRIEVAL: Mapping[str, Any] = {
    "hit@1": Success @ 1,
    "hit@5": Success @ 5,
    "hit@10": Success @ 10,
    "recall@10": R @ 10,
    "precision@5": P @ 5,
    "mrr@10": RR @ 10,
    "map": AP,
    "ndcg@10": nDCG @ 10,
    "judged@10": Judged @ 10,
}
"""Name → measure. Source: trec_eval, as `ir_measures` (MacAvaney et al. 2022) calls it."""

PRIMARY = "ndcg@10"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Values of one run."""

    per_query: Mapping[str, Values]
    """Metric → question → value; a question that a metric cannot judge is missing from it."""

    def mean(self, metric: str) -> float | None:
        """Over the questions that the metric judges; None where there is none."""
        values = self.per_query.get(metric, {})
        return statistics.fmean(values.values()) if values else None

    def means(self) -> dict[str, dict[str, float | int | None]]:
        """Metric → `{mean, n}`, rounded to 6 decimals."""
        found: dict[str, dict[str, float | int | None]] = {}
        for metric, values in self.per_query.items():
            mean = self.mean(metric)
            found[metric] = {"mean": None if mean is None else round(mean, 6), "n": len(values)}
        return found


def measure(cases: Sequence[Case], digests: Mapping[str, Digest], located: Mapping[str, Located]) -> Measured:
    """All metrics of a run; cases that the health check set apart must not be among them."""
    return Measured(
        per_query={**_retrieval(cases, digests, located), **_routing(cases, digests), **_answers(cases, digests)}
    )


def ranked_items(case: Case, digest: Digest, located: Mapping[str, Located]) -> list[str]:
    """The answer as a ranking of items, each once.

    Where all judgements name files, the ranking is that of files. Otherwise a row stands for the judged items that it
    shows and no row above has shown, and for itself where it shows none.
    """
    items = [located[item.id] for item in case.relevant if item.id in located]
    if all(item.level == "file" for item in items):
        return list(dict.fromkeys(row.path for row in digest.rows))
    ranking: dict[str, None] = {}
    for row in digest.rows:
        shown = [item.id for item in items if item.is_shown_by(row.path, row.line_start, row.line_end)]
        ranking |= dict.fromkeys(shown or [row.id])
    return list(ranking)


def _retrieval(
    cases: Sequence[Case], digests: Mapping[str, Digest], located: Mapping[str, Located]
) -> dict[str, dict[str, float]]:
    judged = [case for case in cases if any(item.grade for item in case.relevant)]
    if not judged:
        return {}
    qrels = [Qrel(case.id, item.id, item.grade) for case in judged for item in case.relevant]
    run = [
        ScoredDoc(case.id, item, float(-place))
        for case in judged
        for place, item in enumerate(ranked_items(case, digests[case.id], located))
    ]
    names = {measure: name for name, measure in RETRIEVAL.items()}
    # Sorted by name and question: ir_measures gives values in an order of its own.
    found = {name: {case.id: 0.0 for case in judged} for name in RETRIEVAL}
    for value in ir_measures.iter_calc(list(RETRIEVAL.values()), qrels, run):
        found[names[value.measure]][value.query_id] = float(value.value)
    return found


def _routing(cases: Sequence[Case], digests: Mapping[str, Digest]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {
        "intent": {c.id: digests[c.id].intent in (c.intent, *c.alt_intents) for c in cases if c.intent},
        "mode": {c.id: digests[c.id].mode == c.mode for c in cases if c.mode},
        "subintent": {c.id: digests[c.id].subintent == c.subintent for c in cases if c.subintent},
        "profile": {c.id: digests[c.id].profiles[:1] == (c.profile,) for c in cases if c.profile},
        "anchors_f1": {c.id: _f1(c, digests[c.id]) for c in cases if c.anchors is not None},
    }
    return {name: {key: float(value) for key, value in values.items()} for name, values in found.items() if values}


def _f1(case: Case, digest: Digest) -> float:
    """F1 over (type, value) of paths, symbols, document names and endpoints; 1 where none is expected or found."""
    expected = {(anchor.type, anchor.value) for anchor in case.anchors or ()}
    found = {
        (kind, value) for kind, subtype, value in digest.anchors if kind != "KEY_TERM" or "endpoint" in (subtype or "")
    }
    right = len(expected & found)
    return 2 * right / (len(expected) + len(found)) if expected or found else 1.0


def anchor_scores(cases: Sequence[Case], digests: Mapping[str, Digest]) -> dict[str, dict[str, float]]:
    """Anchor type → precision, recall and F1 over all questions (micro)."""
    scores: dict[str, dict[str, float]] = {}
    judged = [case for case in cases if case.anchors is not None]
    for kind in ("FILE_PATH", "SYMBOL", "DOC_REF", "KEY_TERM"):
        right = found = expected = 0
        for case in judged:
            wanted = {a.value for a in case.anchors or () if a.type == kind}
            got = {
                value
                for type_, subtype, value in digests[case.id].anchors
                if type_ == kind and (kind != "KEY_TERM" or "endpoint" in (subtype or ""))
            }
            right, found, expected = right + len(wanted & got), found + len(got), expected + len(wanted)
        if found or expected:
            scores[kind] = {
                "precision": right / found if found else 0.0,
                "recall": right / expected if expected else 0.0,
                "f1": 2 * right / (found + expected),
            }
    return scores


def _answers(cases: Sequence[Case], digests: Mapping[str, Digest]) -> dict[str, dict[str, float]]:
    return {
        "zero_results": {case.id: float(not digests[case.id].rows) for case in cases},
        "evidence_satisfied": {
            case.id: float(bool(digests[case.id].evidence_satisfied))
            for case in cases
            if digests[case.id].evidence_satisfied is not None
        },
    }


def percentile(times: Iterable[float], percent: int) -> float:
    """By linear interpolation; 0 for no times."""
    ordered = sorted(times)
    if not ordered:
        return 0.0
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
