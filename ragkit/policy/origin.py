"""Where each filter of a plan comes from: a signal, an anchor, the contract, or the policy by itself. Pure.

The resolver gives values alone (its output is the specification's); this names their source for whoever debugs a plan.
It reads the resolver's own parts in the resolver's own order, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragkit.layers import Family
from ragkit.policy.plan import RetrievalPlan
from ragkit.policy.policy import Policy
from ragkit.policy.resolver import directories, meaningful_signals
from ragkit.routing.route import RouteResult

OriginKind = Literal["signal", "anchor", "contract", "policy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterOrigin:
    """What brought a filter."""

    kind: OriginKind
    by: tuple[str, ...]
    """Signals; fields of the route's anchors; a field of the contract; keys of the policy."""

    def to_json(self) -> dict[str, object]:
        """`{kind, by}`."""
        return {"kind": self.kind, "by": list(self.by)}


def filter_origins(plan: RetrievalPlan, route: RouteResult, policy: Policy) -> Mapping[str, FilterOrigin]:
    """Name of each filter that the plan has → its origin, in the plan's order."""
    names = plan.filters.to_json()
    if plan.family is Family.CODE:
        return {name: FilterOrigin(kind="contract", by=(f"retrieval_spec.filters.{name}",)) for name in names}
    known = _of_documents(route, policy)
    return {name: known[name] for name in names}


def _of_documents(route: RouteResult, policy: Policy) -> dict[str, FilterOrigin]:
    found = {
        "target_doc_hints": FilterOrigin(kind="anchor", by=("target_doc_hints",)),
        "metadata.domain": FilterOrigin(kind="anchor", by=("process_domain",)),
        "metadata.subdomain": FilterOrigin(kind="anchor", by=("process_subdomain",)),
        "prefer_like_patterns": FilterOrigin(kind="anchor", by=_pattern_fields(route)),
    }
    if route.intent == "GENERAL_QA":
        own = ("prefer_path_prefixes", "prefer_like_patterns")
        return found | {name: FilterOrigin(kind="policy", by=(f"general.{name}",)) for name in own}
    if route.subintent == "FIND_FILES":
        folders = _find_files_folders(route, policy)
        known = route.anchors.process_domain or route.anchors.process_subdomain
        extra = ("find_files.domain_prefer",) if known and policy.find_files.domain_prefer else ()
        preferred = FilterOrigin(kind=folders.kind, by=(*folders.by, *extra))
        return found | {"path_prefixes": folders, "prefer_path_prefixes": preferred}
    signals = meaningful_signals(route, policy, {})
    hard = tuple(signal for signal in signals if policy.signals[signal].summary_hard)
    soft = tuple(signal for signal in signals if policy.signals[signal].summary_prefer)
    return found | {
        "path_prefixes": FilterOrigin(kind="signal", by=hard),
        "prefer_path_prefixes": FilterOrigin(kind="signal", by=soft)
        if soft
        else FilterOrigin(kind="policy", by=("summary.default_prefer",)),
    }


def _find_files_folders(route: RouteResult, policy: Policy) -> FilterOrigin:
    """The first source that gives any folder. Spec: POLICY §9, FIND_FILES."""
    root = policy.find_files.file_name_root
    if directories(route.anchors.target_doc_hints):
        return FilterOrigin(kind="anchor", by=("target_doc_hints",))
    if directories([name for name in route.anchors.file_names if name.startswith(root)]):
        return FilterOrigin(kind="anchor", by=("file_names",))
    signals = tuple(s for s in meaningful_signals(route, policy, {}) if policy.signals[s].find_files)
    if signals:
        return FilterOrigin(kind="signal", by=signals)
    return FilterOrigin(kind="policy", by=("find_files.default_prefixes",))


def _pattern_fields(route: RouteResult) -> tuple[str, ...]:
    """Fields of the anchors that give terms. Spec: POLICY §5."""
    if route.subintent == "FIND_FILES" and route.anchors.target_doc_hints:
        return ("target_doc_hints",)
    fields = (
        "target_doc_hints",
        "endpoint_paths",
        "file_names",
        "entity_names",
        "matched_aliases",
        "process_domain",
        "process_subdomain",
    )
    return tuple(name for name in fields if getattr(route.anchors, name))
