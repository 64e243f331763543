"""Is a difference more than chance? Paired tests over questions; seeded, so that the same values give the same answer.

Sign-flip randomisation test (Smucker, Allan, Carterette 2007), percentile bootstrap (Efron 1979), Cohen's d for paired
values, Holm's correction over metrics (Holm 1979). numpy alone: the tests are short, and scipy would weigh more than
ragkit.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SEED = 20_261_201
ROUNDS = 10_000
EXACT_UPTO = 13
"""So many non-zero differences are flipped in every way instead of by chance."""
LEVEL = 0.05
FEWEST = 10
"""Below so many paired questions nothing is called more than chance."""

Floats = NDArray[np.float64]
Verdict = Literal["better", "worse", "no_difference", "not_enough"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """B against A on one metric."""

    metric: str
    n: int
    """Questions that both runs judge."""
    mean_a: float
    mean_b: float
    delta: float
    low: float
    """Lower end of the 95 % confidence interval of the mean difference."""
    high: float
    p: float
    """Two-sided, of the randomisation test."""
    p_holm: float
    """Corrected for the number of metrics tested together."""
    effect: float
    """Cohen's d of the paired differences; 0 where they do not vary."""
    verdict: Verdict


def compare(a: Mapping[str, Mapping[str, float]], b: Mapping[str, Mapping[str, float]]) -> tuple[Difference, ...]:
    """Every metric that both runs have, in the order of A; paired by question."""
    pairs = {metric: _paired(values, b[metric]) for metric, values in a.items() if metric in b}
    pairs = {metric: pair for metric, pair in pairs.items() if len(pair[0])}
    raw = {metric: randomisation_p(right - left) for metric, (left, right) in pairs.items()}
    corrected = holm(raw)
    return tuple(
        _difference(metric, left, right, raw[metric], corrected[metric]) for metric, (left, right) in pairs.items()
    )


def randomisation_p(differences: Floats) -> float:
    """Two-sided p of a mean difference as far from zero, when each pair's sign is a coin's."""
    moved = differences[differences != 0]
    if not len(moved):
        return 1.0
    observed = abs(float(moved.sum())) - 1e-12
    if len(moved) <= EXACT_UPTO:
        every = np.array(list(itertools.product((-1.0, 1.0), repeat=len(moved))))
        return float(np.mean(np.abs(every @ moved) >= observed))
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), size=(ROUNDS, len(moved)))
    return float((np.sum(np.abs(signs @ moved) >= observed) + 1) / (ROUNDS + 1))


def bootstrap_interval(values: Floats, percent: float = 95.0) -> tuple[float, float]:
    """Percentile interval of the mean."""
    if len(values) < 2:
        return (float(values[0]), float(values[0])) if len(values) else (0.0, 0.0)
    chosen = np.random.default_rng(SEED).integers(0, len(values), size=(ROUNDS, len(values)))
    means = values[chosen].mean(axis=1)
    tail = (100 - percent) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Step-down corrected p by name."""
    ordered = sorted(p_values.items(), key=lambda item: (item[1], item[0]))
    corrected: dict[str, float] = {}
    worst = 0.0
    for place, (name, p) in enumerate(ordered):
        worst = max(worst, min(1.0, p * (len(ordered) - place)))
        corrected[name] = worst
    return corrected


def effect_size(differences: Floats) -> float:
    """Mean over standard deviation of the differences."""
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return float(differences.mean()) / spread if spread > 0 else 0.0


def _difference(metric: str, left: Floats, right: Floats, p: float, p_holm: float) -> Difference:
    differences = right - left
    low, high = bootstrap_interval(differences)
    return Difference(
        metric=metric,
        n=len(left),
        mean_a=round(float(left.mean()), 6),
        mean_b=round(float(right.mean()), 6),
        delta=round(float(differences.mean()), 6),
        low=round(low, 6),
        high=round(high, 6),
        p=round(p, 6),
        p_holm=round(p_holm, 6),
        effect=round(effect_size(differences), 6),
        verdict=_verdict(differences, p_holm),
    )


def _verdict(differences: Floats, p_holm: float) -> Verdict:
    if len(differences) < FEWEST:
        return "not_enough"
    if p_holm > LEVEL:
        return "no_difference" if not differences.any() else "not_enough"
    return "better" if differences.mean() > 0 else "worse"


def _paired(a: Mapping[str, float], b: Mapping[str, float]) -> tuple[Floats, Floats]:
    shared: Sequence[str] = [key for key in a if key in b]
    return np.array([a[key] for key in shared]), np.array([b[key] for key in shared])
