"""What is to be retrieved: the contract between deciding and retrieving. Spec: POLICY §1, §9–§11.

A plan holds everything that its execution needs; the adapter adds no rule of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from ragkit.errors import WrongUse
from ragkit.layers import Family, Layer

MAX_LIMIT = 1000
"""Rows of one plan at most."""

FILTER_NAMES: Mapping[str, str] = MappingProxyType(
    {"metadata_domain": "metadata.domain", "metadata_subdomain": "metadata.subdomain"}
)
"""Field → name in the specification, where they differ."""

HARD_FILTERS: tuple[str, ...] = (
    "path_prefixes",
    "exclude_path_prefixes",
    "exclude_like_patterns",
    "metadata.domain",
    "metadata.subdomain",
    "language",
    "test_policy",
)
"""Filters that hide rows; all others only move them. Spec: POLICY §10; system.md §3."""


def check_limit(limit: int | None) -> None:
    """Refuse a limit that no plan may have; None stands for the policy's own.

    Raises: WrongUse `limit_invalid`.
    """
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        raise WrongUse("limit_invalid", found=limit, most=MAX_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFilters:
    """Filters under their specification names; None means that the plan does not have the filter at all."""

    target_doc_hints: tuple[str, ...] | None = None
    metadata_domain: str | None = None
    metadata_subdomain: str | None = None
    path_prefixes: tuple[str, ...] | None = None
    exclude_path_prefixes: tuple[str, ...] | None = None
    exclude_like_patterns: tuple[str, ...] | None = None
    prefer_path_prefixes: tuple[str, ...] | None = None
    prefer_like_patterns: tuple[str, ...] | None = None
    prefer_non_tests: bool | None = None
    path_scope: tuple[str, ...] | None = None
    language: tuple[str, ...] | None = None
    test_policy: str | None = None

    def to_json(self) -> dict[str, object]:
        """Present filters alone, in the order of the fields."""
        body: dict[str, object] = {}
        for field in fields(self):
            value: object = getattr(self, field.name)
            if value is not None:
                body[FILTER_NAMES.get(field.name, field.name)] = list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType]
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalPlan:
    """One profile's layers, limit and filters. Spec: POLICY §1."""

    profile: str
    layers: tuple[Layer, ...]
    """Which layers are searched, the preferred first."""
    limit: int
    """How many rows return."""
    filters: PlanFilters

    @property
    def family(self) -> Family:
        """Of the first layer; a plan never mixes families."""
        return self.layers[0].family

    def to_json(self) -> dict[str, object]:
        """`{profile, layers, limit, filters}`."""
        return {
            "profile": self.profile,
            "layers": [layer.value for layer in self.layers],
            "limit": self.limit,
            "filters": self.filters.to_json(),
        }
