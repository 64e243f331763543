"""Why is this document in the answer, or not: one verdict of a closed list, with the first stage that lost it. Pure.

`judge` reads facts that `expected.py` collected in the answer's own snapshot. A document may be a whole file, a
section, a symbol or a span (public ids); its rows are those that show it. The stages are those of the pipeline, in its
order; a verdict names the stage at which the last of the document's rows went.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from ragkit.layers import Layer
from ragkit.messages import Language, Messages, Reason
from ragkit.policy.counterfactual import ProfileChange
from ragkit.policy.origin import FilterOrigin
from ragkit.policy.plan import RetrievalPlan
from ragkit.postgres.inspection import IndexedRow, ProbedRow
from ragkit.retrieval.public_id import Located
from ragkit.retrieval.rank_change import Change
from ragkit.retrieval.scoring import Key, MergedRow, ScoredRow, key_of

VerdictCode = Literal[
    "unknown_path",
    "not_indexed",
    "stale",
    "layer_not_asked",
    "hard_filter",
    "no_leg",
    "lost_by_index",
    "below_leg",
    "merged",
    "below_limit",
    "found",
]
"""In the order of the pipeline: of two plans, the one whose verdict stands later got further."""

Stage = Literal["index", "plan", "filter", "semantic", "merge", "limit", "answer"]

STAGE_OF: Mapping[VerdictCode, Stage] = {
    "unknown_path": "index",
    "not_indexed": "index",
    "stale": "index",
    "layer_not_asked": "plan",
    "hard_filter": "filter",
    "no_leg": "semantic",
    "lost_by_index": "semantic",
    "below_leg": "semantic",
    "merged": "merge",
    "below_limit": "limit",
    "found": "answer",
}

ABOVE_NAMED = 3
"""Rows just above an outranked one that a verdict names, beside the last row of the answer."""
Leg = Literal["dense", "lexical", "named"]

FRAGMENT_OF: Mapping[str, str] = {"metadata.domain": "metadata_domain", "metadata.subdomain": "metadata_subdomain"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one expected document."""

    code: VerdictCode
    params: Mapping[str, object]
    """Values of the sentence `why.<code>`, and more for those who count or draw; JSON types only."""
    plan: str | None
    """Profile of the plan that got furthest; None where the document is lost before any plan."""
    reasons: tuple[Reason, ...] = ()
    """What else there is to know: rows above, places in the legs, further filters, other plans."""

    @property
    def stage(self) -> Stage:
        """Where it was lost, or `answer`."""
        return STAGE_OF[self.code]

    @property
    def is_found(self) -> bool:
        """Whether the answer shows the document."""
        return self.code == "found"

    def to_json(self) -> dict[str, object]:
        """`{code, params}`, as `ragkit why` prints it."""
        return {"code": self.code, "params": dict(self.params)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Changes after which the document is in the answer: one, or one and a larger limit."""

    changes: tuple[Change, ...]
    plan: str
    rank: int
    """Within the plan, seen by running it."""

    def to_json(self) -> dict[str, object]:
        """All fields."""
        return {"changes": [change.to_json() for change in self.changes], "plan": self.plan, "rank": self.rank}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """An expected document and what became of it."""

    id: str
    verdict: Verdict
    remedies: tuple[Remedy, ...] = ()
    """The least change first within each kind; empty too where nobody asked for them."""
    profiles: tuple[ProfileChange, ...] = ()
    """Where no plan asks its layers: what would lead to a profile that does, the smallest change first."""

    def to_json(self) -> dict[str, object]:
        """`{id, verdict, stage, plan, reasons, remedies, profiles}`."""
        return {
            "id": self.id,
            "verdict": self.verdict.to_json(),
            "stage": self.verdict.stage,
            "plan": self.verdict.plan,
            "reasons": [reason.to_json() for reason in self.verdict.reasons],
            "remedies": [remedy.to_json() for remedy in self.remedies],
            "profiles": [change.to_json() for change in self.profiles],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An expected document and what the index holds of it."""

    id: str
    located: Located
    rows: tuple[IndexedRow, ...]
    """Rows that show it, of all layers."""
    left_out: str | None = None
    """Reason for which the last job left its file out; `no_rows` where the file is known and gave none."""
    near: tuple[str, ...] = ()
    """Indexed files of the same name elsewhere."""
    left_out_unnamed: int = 0
    """Files that the last job left out and did not name: the path may be one of them."""

    @property
    def keys(self) -> frozenset[Key]:
        """Identities of its rows."""
        return frozenset((row.file_id, row.row_no) for row in self.rows)

    @property
    def file_ids(self) -> tuple[int, ...]:
        """Of its rows, ascending."""
        return tuple(sorted({row.file_id for row in self.rows}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFacts:
    """What one plan did, as far as one item needs it."""

    plan: RetrievalPlan
    depths: Mapping[Layer, int]
    kept: Sequence[ScoredRow]
    merged: Sequence[MergedRow]
    probed: Sequence[ProbedRow]
    """The item's rows in the plan's layers."""
    origins: Mapping[str, FilterOrigin]
    words: tuple[str, ...]
    """Words of the question that may find rows."""
    has_vector: bool
    """The question has one."""
    ids: Mapping[Key, str]
    """Public ids of the rows that a verdict may name."""
    ranks_before: int = 0
    """Rows of the plans before this one in the answer."""


def judge(item: Item, plans: Sequence[PlanFacts]) -> Verdict:
    """The one verdict: that of the plan that got furthest, the first of several."""
    lost = _judge_index(item)
    if lost is not None:
        return lost
    verdicts = [_judge_plan(item, facts) for facts in plans]
    order = get_args(VerdictCode)
    best = max(verdicts, key=lambda verdict: order.index(verdict.code))
    others = tuple(
        Reason(code="why.other_plan", params={"plan": verdict.plan, "verdict": verdict.code})
        for verdict in verdicts
        if verdict is not best
    )
    return replace(best, reasons=(*best.reasons, *others))


def best_row(facts: PlanFacts, keys: frozenset[Key]) -> tuple[int, ScoredRow] | None:
    """The item's first row among those that were ranked and kept, and its place from 1."""
    for place, row in enumerate(facts.kept, start=1):
        if key_of(row.candidate) in keys:
            return place, row
    return None


def rows_above(kept: Sequence[ScoredRow], place: int, limit: int) -> list[int]:
    """Places (from 1) of rows that a verdict names: the last of the answer, and those just above."""
    return sorted({min(limit, place - 1), *range(max(1, place - ABOVE_NAMED), place)} - {0})


def named_keys(facts: PlanFacts, item: Item) -> list[Key]:
    """Rows whose public ids a verdict on the item needs."""
    found = best_row(facts, item.keys)
    keys = (
        [key_of(facts.kept[place - 1].candidate) for place in rows_above(facts.kept, found[0], facts.plan.limit)]
        if (found)
        else []
    )
    keys += [key_of(pair.into.candidate) for pair in facts.merged if key_of(pair.row.candidate) in item.keys]
    return keys


def verdict_sentence(verdict: Verdict, messages: Messages, language: Language) -> str:
    """The verdict as a person reads it."""
    return reason_sentence(Reason(code=f"why.{verdict.code}", params=verdict.params), messages, language)


def reason_sentence(reason: Reason, messages: Messages, language: Language) -> str:
    """A reason of a verdict as a person reads it: values of closed lists get their own words."""
    params = dict(reason.params)
    for name, table in (("reason", "left_out"), ("lacks", "lacks"), ("leg", "ui.found"), ("verdict", "verdict")):
        value = params.get(name)
        if isinstance(value, str):
            mark = "_" if "." in table else "."
            params[name] = messages.sentence(f"{table}{mark}{value}", language)
    missing = params.get("missing")
    if isinstance(missing, list):
        params["missing"] = [messages.sentence(f"evidence.{flag}", language) for flag in cast("list[str]", missing)]
    origin = params.get("origin")
    if isinstance(origin, Mapping):
        told = cast("Mapping[str, object]", origin)
        params["origin"] = messages.sentence(f"origin.{told['kind']}", language, by=told["by"])
    wins = params.get("wins")
    if isinstance(wins, Mapping):
        params["wins"] = [
            f"{messages.sentence(f'ui.part_{part}', language)} +{gain}"
            for part, gain in cast("Mapping[str, float]", wins).items()
        ]
    return messages.sentence(reason.code, language, **params)


def remedy_reasons(remedy: Remedy) -> tuple[Reason, ...]:
    """Each change as a sentence."""
    return tuple(
        Reason(
            code=f"remedy.{change.kind}",
            params={"name": change.name, "was": change.was, "becomes": change.becomes},
        )
        for change in remedy.changes
    )


def _judge_index(item: Item) -> Verdict | None:
    if item.located.status == "unknown":
        if item.left_out is not None:
            return Verdict(code="not_indexed", params={"path": item.located.path, "reason": item.left_out}, plan=None)
        return Verdict(
            code="unknown_path",
            params={"path": item.located.path, "near": list(item.near), "unnamed": item.left_out_unnamed},
            plan=None,
            reasons=(
                *((Reason(code="why.near", params={"paths": list(item.near)}),) if item.near else ()),
                *(
                    (Reason(code="why.unnamed", params={"count": item.left_out_unnamed}),)
                    if item.left_out_unnamed
                    else ()
                ),
            ),
        )
    if item.located.status == "stale":
        return _stale(item, "item")
    return None


def _stale(item: Item, lacks: str, plan: str | None = None) -> Verdict:
    return Verdict(code="stale", params={"id": item.id, "path": item.located.path, "lacks": lacks}, plan=plan)


def _judge_plan(item: Item, facts: PlanFacts) -> Verdict:
    return (
        _ranked(item, facts)
        or _lacking(item, facts)
        or _unasked(item, facts)
        or _filtered(item, facts)
        or _unfound(item, facts)
    )


def _ranked(item: Item, facts: PlanFacts) -> Verdict | None:
    """Found, merged or below the limit, by the best of the document's rows that became a candidate."""
    kept, profile, limit = best_row(facts, item.keys), facts.plan.profile, facts.plan.limit
    pairs = [pair for pair in facts.merged if key_of(pair.row.candidate) in item.keys]
    places = {key_of(row.candidate): place for place, row in enumerate(facts.kept, start=1)}
    if kept is not None and kept[0] <= limit:
        place, row = kept
        params = {"id": _id(item, row), "path": item.located.path, "rank": facts.ranks_before + place}
        return Verdict(code="found", params=params, plan=profile)
    if pairs:
        pair = min(pairs, key=lambda p: places[key_of(p.into.candidate)])
        into = places[key_of(pair.into.candidate)]
        if kept is None or into < kept[0]:
            params = {
                "id": _id(item, pair.row),
                "path": item.located.path,
                "into": facts.ids[key_of(pair.into.candidate)],
                "into_rank": into,
                "shown": into <= limit,
            }
            return Verdict(code="merged", params=params, plan=profile)
    if kept is None:
        return None
    place, row = kept
    above = [_beaten_by(facts.kept[above - 1], row, above, facts.ids) for above in rows_above(facts.kept, place, limit)]
    params = {
        "id": _id(item, row),
        "path": item.located.path,
        "rank": place,
        "limit": limit,
        "score": row.score,
        "parts": dict(row.parts),
        "above": above,
    }
    reasons = tuple(Reason(code="why.outranked_by" if one["wins"] else "why.tied_with", params=one) for one in above)
    return Verdict(code="below_limit", params=params, plan=profile, reasons=reasons)


def _beaten_by(winner: ScoredRow, row: ScoredRow, place: int, ids: Mapping[Key, str]) -> dict[str, object]:
    names = dict.fromkeys((*winner.parts, *row.parts))
    gains = {name: round(winner.parts.get(name, 0.0) - row.parts.get(name, 0.0), 6) for name in names}
    wins = dict(sorted(((n, g) for n, g in gains.items() if g > 0), key=lambda pair: (-pair[1], pair[0])))
    return {"id": ids[key_of(winner.candidate)], "rank": place, "score": winner.score, "wins": wins}


def _unasked(item: Item, facts: PlanFacts) -> Verdict | None:
    asked = facts.plan.layers
    if any(row.layer in asked for row in item.rows):
        return None
    layers = sorted({row.layer.value for row in item.rows})
    params = {
        "id": item.id,
        "path": item.located.path,
        "layers": layers,
        "asked": [layer.value for layer in asked],
    }
    return Verdict(code="layer_not_asked", params=params, plan=facts.plan.profile)


def _lacking(item: Item, facts: PlanFacts) -> Verdict | None:
    """Stale where every row that the plan could have found lacks its words, or the vector that it once had."""
    rows = [row for row in item.rows if row.layer in facts.plan.layers]
    if not rows or any(row.has_words and (row.is_whole or not facts.has_vector) for row in rows):
        return None
    lacks = "words" if not any(row.has_words for row in rows) else "vector"
    return _stale(item, lacks, facts.plan.profile)


def _filtered(item: Item, facts: PlanFacts) -> Verdict | None:
    """The first filter after which no row is left, filters taken in the order of the table."""
    left = list(facts.probed)
    values = facts.plan.filters.to_json()
    removing = _removing(facts.probed)
    for fragment in _fragments(facts.probed):
        left = [row for row in left if row.passes[fragment]]
        if left:
            continue
        name = filter_name(fragment)
        others = [filter_name(other) for other in removing if other != fragment]
        params = {
            "id": item.id,
            "path": item.located.path,
            "filter": name,
            "value": values[name],
            "origin": facts.origins[name].to_json(),
            "rows": len(facts.probed),
            "alone": fragment in removing,
            "others": others,
        }
        reasons = tuple(
            Reason(
                code="why.filter_too",
                params={"filter": other, "value": values[other], "origin": facts.origins[other].to_json()},
            )
            for other in others
        )
        return Verdict(code="hard_filter", params=params, plan=facts.plan.profile, reasons=reasons)
    return None


def _unfound(item: Item, facts: PlanFacts) -> Verdict:
    """Rows that pass every filter, and are no candidates: beyond each leg's limit, or in no leg at all."""
    rows = [row for row in facts.probed if all(row.passes.values())]
    placed = [(place, facts.depths[row.candidate.layer], leg, row) for row in rows for leg, place in _places(row)]
    common = {"id": item.id, "path": item.located.path}
    ids = {(row.file_id, row.row_no): row.public_id for row in item.rows}
    if not placed:
        has_vector = any(row.candidate.cosine is not None for row in rows)
        params = {**common, "words": list(facts.words), "has_vector": has_vector, "rows": len(rows)}
        reasons = () if facts.has_vector else (Reason(code="step.words_alone"),)
        return Verdict(code="no_leg", params=params, plan=facts.plan.profile, reasons=reasons)
    place, depth, leg, row = min(placed, key=lambda p: (p[0] / p[1], p[2], p[3].candidate.row_no))
    legs = {name: {"rank": at, "limit": facts.depths[row.candidate.layer]} for name, at in _places(row)}
    params = {
        **common,
        "id": ids[key_of(row.candidate)],
        "layer": row.candidate.layer.value,
        "leg": leg,
        "rank": place,
        "limit": depth,
        "legs": legs,
    }
    code: VerdictCode = "lost_by_index" if place <= depth else "below_leg"
    reasons = tuple(
        Reason(code="why.leg_rank", params={"leg": name, **numbers}) for name, numbers in legs.items() if name != leg
    )
    return Verdict(code=code, params=params, plan=facts.plan.profile, reasons=reasons)


def _places(row: ProbedRow) -> list[tuple[Leg, int]]:
    c = row.candidate
    legs: tuple[tuple[Leg, int | None], ...] = (
        ("dense", c.dense_rank),
        ("lexical", c.lexical_rank),
        ("named", c.named_rank),
    )
    return [(leg, place) for leg, place in legs if place is not None]


def filter_name(fragment: str) -> str:
    """The plan's name of the filter that a predicate of the table serves."""
    if fragment in ("tests_excluded", "tests_only"):
        return "test_policy"
    return next((name for name, other in FRAGMENT_OF.items() if other == fragment), fragment)


def _fragments(rows: Sequence[ProbedRow]) -> Iterable[str]:
    return rows[0].passes if rows else ()


def _removing(rows: Sequence[ProbedRow]) -> list[str]:
    """Predicates that no row passes, each by itself."""
    return [fragment for fragment in _fragments(rows) if not any(row.passes[fragment] for row in rows)]


def _id(item: Item, row: ScoredRow) -> str:
    key = key_of(row.candidate)
    return next(r.public_id for r in item.rows if (r.file_id, r.row_no) == key)
