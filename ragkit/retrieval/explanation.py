"""What an answer costs and hides, plan by plan, as data: `explainer.py` reads it, on demand alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragkit.layers import Layer
from ragkit.policy.counterfactual import ProfileChange
from ragkit.policy.origin import FilterOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsLeft:
    """Rows of the plan's layers before and after a hard filter."""

    before: int
    after: int

    def to_json(self) -> dict[str, object]:
        """`{before, after}`."""
        return {"before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterView:
    """One filter of a plan."""

    name: str
    value: object
    is_hard: bool
    origin: FilterOrigin
    sql: str | None
    """Its predicate with its values; None where it is none (hints and scopes seed, INCLUDE hides nothing)."""
    alone: RowsLeft | None
    """Were it the only hard filter; None for those that hide nothing."""
    cumulative: RowsLeft | None
    """After the filters before it, in the order in which they are listed."""

    def to_json(self) -> dict[str, object]:
        """All fields; `hard` for `is_hard`."""
        return {
            "name": self.name,
            "value": self.value,
            "hard": self.is_hard,
            "origin": self.origin.to_json(),
            "sql": self.sql,
            "alone": None if self.alone is None else self.alone.to_json(),
            "cumulative": None if self.cumulative is None else self.cumulative.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanExplanation:
    """One plan."""

    plan: str
    rows_in_layers: int
    depths: Mapping[Layer, int]
    """Layer → candidates a leg."""
    filters: tuple[FilterView, ...]
    """Hard ones first, in the order in which they are judged."""
    statements: Mapping[str, str]
    """Step → its statement with its values, as psql takes it."""
    analyzed: str
    """`EXPLAIN (ANALYZE, BUFFERS)` of the search statement; holds times."""

    def to_json(self) -> dict[str, object]:
        """All fields but `analyzed`, which differs between runs."""
        return {
            "plan": self.plan,
            "rows_in_layers": self.rows_in_layers,
            "depths": {layer.value: depth for layer, depth in self.depths.items()},
            "filters": [view.to_json() for view in self.filters],
            "statements": dict(self.statements),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What `explain` adds to a Trace."""

    plans: tuple[PlanExplanation, ...]
    profiles: tuple[ProfileChange, ...]
    """For each profile that was not chosen what would have to change."""

    def to_json(self) -> dict[str, object]:
        """`{plans, profiles}`."""
        return {
            "plans": [plan.to_json() for plan in self.plans],
            "profiles": [change.to_json() for change in self.profiles],
        }
