"""Which least change of one weight brings a row into the answer. Pure; spec and verification share `rank`.

A score is linear in each weight as long as the same rows support each other, so the values at which two rows change
places are known in closed form: no search over values. Ranking itself (which rows of a named document count as seeds,
which row supports which, one row a content) is not linear, so every value that is offered has been ranked again. The
pool of candidates does not depend on these weights; where it might (the step along the graph), whoever offers a change
to a person runs the plan again. It stands here and not in `ragkit.policy`, which knows no scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragkit.policy.policy import LexicalWeights, PartWeights, Ranking
from ragkit.postgres.rows import Candidate
from ragkit.retrieval.scoring import (
    SEEDS,
    Key,
    ScoredRow,
    ScoringContext,
    Seed,
    key_of,
    merge_duplicates,
    rank,
    score,
    supporters,
)

ChangeKind = Literal["weight", "limit", "filter", "depth", "layer"]
WEIGHTS_OFFERED = 3
TARGETS_TRIED = 3
"""Rows of the document, the best placed, that may come in."""
MARGIN = 2e-6
"""Parts are rounded to 6 decimals: two rows must differ by more than that to be sure of their order."""
MAX_WEIGHT = 100.0
DIGITS = (2, 3, 4, 6)
"""A value is offered with as few decimals as will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that would be different."""

    kind: ChangeKind
    name: str
    """Key of the policy, filter, layer or profile that changes."""
    was: object
    becomes: object

    def to_json(self) -> dict[str, object]:
        """All fields."""
        return {"kind": self.kind, "name": self.name, "was": self.was, "becomes": self.becomes}


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightChange:
    """A weight that brings the row in, by re-scoring."""

    weight: str
    """`dense`, `lexical.same`, `parts.path` …"""
    was: float
    becomes: float
    rank: int
    """Of the document within the plan, after the change."""

    @property
    def size(self) -> float:
        """How far the weight moves; weights share the units of a cosine, so sizes compare."""
        return abs(self.becomes - self.was)


WEIGHTS: tuple[str, ...] = (
    "dense",
    *(f"lexical.{name}" for name in LexicalWeights.model_fields if name != "expansions"),
    *(f"parts.{name}" for name in PartWeights.model_fields if name != "repeat"),
)
"""Weights that a score is linear in. `expansions` enters the words' IDF, `repeat` depends on the order itself."""


def weight_of(ranking: Ranking, weight: str) -> float:
    """The value of a weight by its dotted name."""
    group, _, name = weight.rpartition(".")
    return float(getattr(getattr(ranking, group) if group else ranking, name))


def with_weight(ranking: Ranking, weight: str, value: float) -> Ranking:
    """The ranking with one weight changed."""
    group, _, name = weight.rpartition(".")
    if not group:
        return ranking.model_copy(update={name: value})
    return ranking.model_copy(update={group: getattr(ranking, group).model_copy(update={name: value})})


def rank_under(
    candidates: Iterable[Candidate],
    seeds: Mapping[Key, Seed],
    context: ScoringContext,
    targets: frozenset[Key],
) -> int | None:
    """Place of the first target from 1, one row a content; None where no target is kept."""
    kept, _ = merge_duplicates(rank(candidates, seeds, context))
    return next((n for n, row in enumerate(kept, start=1) if key_of(row.candidate) in targets), None)


def weight_changes(
    candidates: Sequence[Candidate],
    seeds: Mapping[Key, Seed],
    context: ScoringContext,
    *,
    kept: Sequence[ScoredRow],
    targets: frozenset[Key],
    limit: int,
) -> tuple[WeightChange, ...]:
    """The least changes of one weight, the smallest first, at most `WEIGHTS_OFFERED`; each verified by `rank`."""
    rows = [row for row in kept if key_of(row.candidate) in targets][:TARGETS_TRIED]
    offers = sorted(
        (
            (abs(value - weight_of(context.ranking, weight)), place, weight, value)
            for place, weight in enumerate(WEIGHTS)
            for value in _values(weight, kept, rows, context, limit)
        )
    )
    found: dict[str, WeightChange] = {}
    for _, _, weight, value in offers:
        if weight in found:
            continue
        bent = replace(context, ranking=with_weight(context.ranking, weight, value))
        place = rank_under(candidates, seeds, bent, targets)
        if place is not None and place <= limit:
            was = weight_of(context.ranking, weight)
            found[weight] = WeightChange(weight=weight, was=was, becomes=value, rank=place)
            if len(found) == WEIGHTS_OFFERED:
                break
    return tuple(found.values())


def _values(
    weight: str, kept: Sequence[ScoredRow], rows: Sequence[ScoredRow], context: ScoringContext, limit: int
) -> Iterator[float]:
    """The nearest value of a weight below and above its own at which one of the rows comes in, were rows linear."""
    now = weight_of(context.ranking, weight)
    slopes = _slopes(weight, kept, context)
    for row in rows:
        slope = slopes[key_of(row.candidate)]
        gaps = [
            (other.score - row.score, slope - slopes[key_of(other.candidate)]) for other in kept if other is not row
        ]
        for sign in (1.0, -1.0):
            value = _nearest(gaps, now, sign, limit)
            if value is not None:
                yield value


def _slopes(weight: str, kept: Sequence[ScoredRow], context: ScoringContext) -> dict[Key, float]:
    """How fast each row's score grows with the weight: its own where this weight is 1 and all others are 0, and the
    share of it that the row which supports it now passes on.
    """
    bare = context.ranking
    if bare.seed_title is not None:
        bare = bare.model_copy(update={"seed_title": 0.0})
    for name in (*WEIGHTS, "parts.repeat"):
        bare = with_weight(bare, name, 0.0)
    unit = replace(context, ranking=with_weight(bare, weight, 1.0))
    own = {key_of(row.candidate): score(row.candidate, _seed_of(row), unit).score for row in kept}
    passed = {key_of(row.candidate): score(row.candidate, None, unit).score for row in kept}
    support = context.ranking.parts.support
    best = supporters((row.candidate, score(row.candidate, None, context).score) for row in kept)
    if weight == "parts.support":
        return {key: value for key, (_, value) in best.items()}
    return {key: own[key] + support * (passed[by] if by is not None else 0.0) for key, (by, _) in best.items()}


def _seed_of(row: ScoredRow) -> Seed | None:
    return next((seed for seed in SEEDS if seed in row.found_by), None)


def _nearest(gaps: Sequence[tuple[float, float]], now: float, sign: float, limit: int) -> float | None:
    """The least move in one direction after which fewer than `limit` rows stand above.

    `gaps`: of each other row, by how much it leads and how fast that lead shrinks as the weight grows. A row counts as
    above when it leads by more than nothing; ties are left to the verification.
    """
    room = now if sign < 0 else MAX_WEIGHT - now
    moves: list[tuple[float, int]] = []
    above = 0
    for lead, shrinks in gaps:
        falls = shrinks * sign
        above += lead >= 0
        if lead >= 0 and falls > 0:
            moves.append(((lead + MARGIN) / falls, -1))
        elif lead < 0 and falls < 0:
            moves.append(((lead + MARGIN) / falls, 1))
    moves.sort()
    for place, (move, step) in enumerate(moves):
        above += step
        if above >= limit or (place + 1 < len(moves) and moves[place + 1][0] == move):
            continue
        if move > room:
            return None
        until = min((later for later, step in moves[place + 1 :] if step > 0), default=room)
        return _rounded(now, move, min(until, room), sign)
    return None


def _rounded(now: float, move: float, until: float, sign: float) -> float | None:
    """A value with few decimals between the move that suffices and the one that is too far."""
    for digits in DIGITS:
        unit = 10.0**digits
        value = now + sign * move
        value = math.ceil(value * unit) / unit if sign > 0 else math.floor(value * unit) / unit
        if abs(value - now) <= until and value >= 0:
            return round(value, digits)
    return None
