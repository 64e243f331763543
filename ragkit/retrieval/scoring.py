"""Candidates → ranked rows: a score of named parts, a total order, one row a duplicate. Pure.

Fused by score, not by rank: on the development sets plain reciprocal rank fusion halved the MRR of questions asked in
one language about documents in the other. Both legs are scaled by constants and by the query's own IDF mass, never by
statistics of the candidates: but for other rows of its own file, a row's score does not depend on what else was found.
Source: evidence.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragkit.layers import Layer
from ragkit.messages import Reason
from ragkit.policy.policy import LexicalWeights, Ranking
from ragkit.postgres.rows import Candidate

Seed = Literal["exact_path", "exact_title", "path_substring"]
SEEDS: tuple[Seed, ...] = ("exact_path", "exact_title", "path_substring")
SUBSTRING_SHARE = 0.5
"""Of a seed's weight, where only a part of the path was named."""
Key = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringContext:
    """What a score depends on beside the row."""

    ranking: Ranking
    layers: Sequence[Layer]
    """Of the plan, the preferred first."""
    query_language: str
    """ru, en or mixed."""
    idf_mass: float
    """Sum of the weights of the query's words in these layers; 0 where no word counts."""
    prefer_non_tests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """A candidate with its score."""

    candidate: Candidate
    score: float
    """Sum of the parts, which are rounded to 6 decimals."""
    parts: Mapping[str, float]
    found_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRow:
    """A row that is not shown because a better one has the same text."""

    row: ScoredRow
    into: ScoredRow


def key_of(candidate: Candidate) -> Key:
    """Identity of a candidate within one revision."""
    return (candidate.file_id, candidate.row_no)


def rank(candidates: Iterable[Candidate], seeds: Mapping[Key, Seed], context: ScoringContext) -> tuple[ScoredRow, ...]:
    """Best first: score, then the plan's order of layers, path, span.

    `support`, `seed` and `repeat` look at the other rows of the same file, in this order, and at no other file's.
    """
    scored = [score(candidate, None, context) for candidate in candidates]
    if context.ranking.parts.support:
        scored = _supported(scored, context.ranking.parts.support)
    scored.sort(key=lambda row: _order(row, context))
    chosen = _seeded(scored, seeds, context.ranking.seed_rows)
    if chosen:
        scored = [_with_seed(row, chosen.get(key_of(row.candidate)), context) for row in scored]
        scored.sort(key=lambda row: _order(row, context))
    return tuple(_less_repeats(scored, context)) if context.ranking.parts.repeat else tuple(scored)


def merge_duplicates(rows: Iterable[ScoredRow]) -> tuple[tuple[ScoredRow, ...], tuple[MergedRow, ...]]:
    """One row a content, the best ranked; and what was merged into which."""
    kept: dict[tuple[str, int], ScoredRow] = {}
    merged: list[MergedRow] = []
    for row in rows:
        content = (row.candidate.layer, row.candidate.content_hash)
        if content in kept:
            merged.append(MergedRow(row=row, into=kept[content]))
        else:
            kept[content] = row
    return tuple(kept.values()), tuple(merged)


def lexical_weight(weights: LexicalWeights, query_language: str, row_language: str) -> float:
    """The weight of words for this pair of languages."""
    if row_language == "code":
        return weights.code_ru if query_language == "ru" else weights.code_en
    crossing = {query_language, row_language} == {"ru", "en"}
    return weights.cross if crossing else weights.same


def outranked_reason(row: ScoredRow, limit: int) -> Reason:
    """Why a row below the limit is not shown."""
    return Reason(code="drop.below_limit", params={"score": row.score, "limit": limit})


def score(candidate: Candidate, seed: Seed | None, context: ScoringContext) -> ScoredRow:
    """A candidate's own parts and their sum: without `support` and `repeat`, which depend on other rows."""
    ranking, weights = context.ranking, context.ranking.parts
    words = candidate.bm25 / context.idf_mass if context.idf_mass > 0 else 0.0
    lexical = lexical_weight(ranking.lexical, context.query_language, candidate.lang)
    parts = {
        "dense": ranking.dense * (candidate.cosine or 0.0),
        "lexical": lexical * words,
        "path": weights.path * candidate.path_named,
        "definition": weights.definition * candidate.name_defined,
        "prefer_path": weights.prefer_path * 0.5 ** (candidate.prefer_path - 1) if candidate.prefer_path else 0.0,
        "prefer_like": weights.prefer_like * candidate.prefer_like,
        "layer": weights.layer * _layer_share(candidate.layer, context.layers),
        "graph": weights.graph * 0.5 ** (candidate.graph_place - 1) if candidate.graph_place else 0.0,
        "non_tests": weights.non_tests * (context.prefer_non_tests and not candidate.is_test),
    }
    rounded = {name: part for name, value in parts.items() if (part := round(float(value), 6))}
    own = ScoredRow(
        candidate=candidate,
        score=round(sum(rounded.values()), 6),
        parts=rounded,
        found_by=_found_by(candidate),
    )
    return _with_seed(own, seed, context)


def _with_part(row: ScoredRow, name: str, value: float) -> ScoredRow:
    """The row with one part more; the same row where the part rounds to nothing."""
    part = round(value, 6)
    if not part:
        return row
    return replace(row, score=round(row.score + part, 6), parts={**row.parts, name: part})


def _supported(rows: Sequence[ScoredRow], weight: float) -> list[ScoredRow]:
    """A share of the file's best row of another layer: the document as a whole and a passage of it answer together."""
    best = supporters((row.candidate, row.score) for row in rows)
    return [_with_part(row, "support", weight * best[key_of(row.candidate)][1]) for row in rows]


def supporters(rows: Iterable[tuple[Candidate, float]]) -> dict[Key, tuple[Key | None, float]]:
    """Row → the best row of another layer of its file, and that row's score; nothing, 0 where none is above 0."""
    known = list(rows)
    best: dict[int, dict[Layer, tuple[Key | None, float]]] = {}
    for candidate, value in known:
        of_file = best.setdefault(candidate.file_id, {})
        if value > of_file.get(candidate.layer, (None, 0.0))[1]:
            of_file[candidate.layer] = (key_of(candidate), value)
    return {
        key_of(candidate): max(
            (found for layer, found in best[candidate.file_id].items() if layer != candidate.layer),
            key=lambda found: found[1],
            default=(None, 0.0),
        )
        for candidate, _ in known
    }


def _with_seed(row: ScoredRow, seed: Seed | None, context: ScoringContext) -> ScoredRow:
    if seed is None:
        return row
    weight = context.ranking.parts.seed
    if seed == "exact_title" and context.ranking.seed_title is not None:
        weight = context.ranking.seed_title
    seeded = _with_part(row, "seed", weight * (SUBSTRING_SHARE if seed == "path_substring" else 1.0))
    return replace(seeded, found_by=(seed, *row.found_by))


def _found_by(candidate: Candidate) -> tuple[str, ...]:
    legs = (
        ("dense", candidate.dense_rank),
        ("lexical", candidate.lexical_rank),
        ("named", candidate.named_rank),
        ("graph", candidate.graph_place),
    )
    return tuple(name for name, place in legs if name and place)


def _layer_share(layer: Layer, layers: Sequence[Layer]) -> float:
    if layer not in layers or len(layers) == 1:
        return 0.0
    return 1 - layers.index(layer) / (len(layers) - 1)


def _seeded(rows: Sequence[ScoredRow], seeds: Mapping[Key, Seed], per_file: int) -> dict[Key, Seed]:
    """The best rows of each seeded file, `per_file` of them."""
    taken: Counter[int] = Counter()
    chosen: dict[Key, Seed] = {}
    for row in rows:
        seed = seeds.get(key_of(row.candidate))
        if seed and taken[row.candidate.file_id] < per_file:
            taken[row.candidate.file_id] += 1
            chosen[key_of(row.candidate)] = seed
    return chosen


def _less_repeats(rows: Sequence[ScoredRow], context: ScoringContext) -> list[ScoredRow]:
    """Take `repeat` off for each row of the same file above."""
    above: Counter[int] = Counter()
    lowered: list[ScoredRow] = []
    for row in rows:
        lowered.append(_with_part(row, "repeat", -context.ranking.parts.repeat * above[row.candidate.file_id]))
        above[row.candidate.file_id] += 1
    return sorted(lowered, key=lambda row: _order(row, context))


def _order(row: ScoredRow, context: ScoringContext) -> tuple[float, int, str, int, int, int]:
    c = row.candidate
    place = context.layers.index(c.layer) if c.layer in context.layers else len(context.layers)
    return (-row.score, place, c.path, c.line_start, c.line_end, c.row_no)
