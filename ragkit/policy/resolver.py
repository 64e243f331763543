"""The deterministic bridge between a route and the retrieval of documentation. Spec: POLICY §1–§10.

`RetrievalPolicyResolver.resolve` reads a RouteResult and gives one RetrievalPlan: no language model, no second look at
the query's text, no ranking, no evidence. Plans for code come from `code_plan.py`, out of the contract.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from ragkit.policy.plan import PlanFilters, RetrievalPlan
from ragkit.policy.policy import SIGNALS, Policy, SignalName
from ragkit.policy.signals import anchor_signal_types
from ragkit.routing.route import RouteResult

Forced = Mapping[SignalName, bool]
"""Signal → whether it is taken to fire, whatever the anchors say."""


class RetrievalPolicyResolver:
    """One policy, applied to routes."""

    def __init__(self, policy: Policy, *, forced: Forced | None = None) -> None:
        """`forced` is for counterfactuals; without it the anchors alone decide."""
        self.policy = policy
        self._forced: Forced = forced or {}
        self._filters = _RouteFilterBuilder(policy, self._forced)

    def resolve(self, route: RouteResult) -> RetrievalPlan:
        """The plan of a documentation route; always one, always valid. Spec: POLICY §4."""
        if route.intent == "GENERAL_QA":
            return self._plan(self.policy.general.profile, self._filters.general_filters(route))
        if "FIND_FILES" in fired_signals(route, self.policy, self._forced):
            return self._plan(self.policy.find_files.profile, self._filters.find_files_filters(route))
        return self._plan(self._summary_profile(route), self._filters.summary_filters(route))

    def _summary_profile(self, route: RouteResult) -> str:
        """The profile of the only meaningful signal, or the generic one. Spec: POLICY §7."""
        meaningful = meaningful_signals(route, self.policy, self._forced)
        if len(meaningful) != 1:
            return self.policy.summary.generic_profile
        return self.policy.signals[meaningful[0]].profile

    def _plan(self, profile: str, filters: PlanFilters) -> RetrievalPlan:
        chosen = self.policy.profiles[profile]
        return RetrievalPlan(profile=profile, layers=chosen.layers, limit=chosen.limit, filters=filters)


class _AnchorTermCollector:
    """Terms for `prefer_like_patterns`. Spec: POLICY §5."""

    def patterns(self, route: RouteResult) -> tuple[str, ...]:
        """`%term%` of every anchor, lower-case, in the order of POLICY §5."""
        anchors = route.anchors
        return _like_patterns(
            [
                *self._hint_names(route),
                *anchors.endpoint_paths,
                *anchors.file_names,
                *anchors.entity_names,
                *anchors.matched_aliases,
                anchors.process_domain or "",
                anchors.process_subdomain or "",
            ]
        )

    def find_files_patterns(self, route: RouteResult) -> tuple[str, ...]:
        """The names of hinted documents alone where there are any, else all terms."""
        names = self._hint_names(route)
        return _like_patterns(names) if names else self.patterns(route)

    def _hint_names(self, route: RouteResult) -> list[str]:
        return [posixpath.basename(hint) for hint in route.anchors.target_doc_hints]


class _RouteFilterBuilder:
    """Filters of the three branches. Spec: POLICY §5, §9."""

    def __init__(self, policy: Policy, forced: Forced) -> None:
        self._policy = policy
        self._forced = forced
        self._terms = _AnchorTermCollector()

    def general_filters(self, route: RouteResult) -> PlanFilters:
        """An overview: preferences only."""
        return PlanFilters(
            prefer_path_prefixes=self._policy.general.prefer_path_prefixes,
            prefer_like_patterns=self._policy.general.prefer_like_patterns,
            target_doc_hints=route.anchors.target_doc_hints,
        )

    def summary_filters(self, route: RouteResult) -> PlanFilters:
        """Domain filters where known; hard prefixes where a signal brings them."""
        signals = self._meaningful(route)
        hard = self._union(self._policy.signals[s].summary_hard for s in signals)
        return PlanFilters(
            target_doc_hints=route.anchors.target_doc_hints,
            metadata_domain=self._hard_domain(route.anchors.process_domain),
            metadata_subdomain=self._hard_domain(route.anchors.process_subdomain),
            path_prefixes=hard or None,
            prefer_path_prefixes=self._summary_prefixes(route),
            prefer_like_patterns=self._terms.patterns(route),
        )

    def find_files_filters(self, route: RouteResult) -> PlanFilters:
        """Always below some folder, unless the policy only prefers it."""
        prefixes = self._find_files_prefixes(route)
        return PlanFilters(
            target_doc_hints=route.anchors.target_doc_hints,
            metadata_domain=self._hard_domain(route.anchors.process_domain),
            metadata_subdomain=self._hard_domain(route.anchors.process_subdomain),
            path_prefixes=prefixes if self._policy.find_files.path_filter == "hard" else None,
            prefer_path_prefixes=self._find_files_prefer_prefixes(route),
            prefer_like_patterns=self._terms.find_files_patterns(route),
        )

    def _summary_prefixes(self, route: RouteResult) -> tuple[str, ...]:
        signals = self._meaningful(route)
        return self._union(self._policy.signals[s].summary_prefer for s in signals) or (
            self._policy.summary.default_prefer
        )

    def _find_files_prefixes(self, route: RouteResult) -> tuple[str, ...]:
        """Folders of hints, else of names below `docs/`, else of signals, else the default."""
        root = self._policy.find_files.file_name_root
        names = [name for name in route.anchors.file_names if name.startswith(root)]
        return (
            directories(route.anchors.target_doc_hints)
            or directories(names)
            or self._union(self._policy.signals[s].find_files for s in self._meaningful(route))
            or self._policy.find_files.default_prefixes
        )

    def _find_files_prefer_prefixes(self, route: RouteResult) -> tuple[str, ...]:
        known = route.anchors.process_domain or route.anchors.process_subdomain
        extra = self._policy.find_files.domain_prefer if known else ()
        return self._union((self._find_files_prefixes(route), extra))

    def _meaningful(self, route: RouteResult) -> list[SignalName]:
        return meaningful_signals(route, self._policy, self._forced)

    def _hard_domain(self, value: str | None) -> str | None:
        """None also where the policy only prefers it: by the patterns that its name gives."""
        return value.lower() if value and self._policy.domain_filter == "hard" else None

    @staticmethod
    def _union(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(prefix for group in groups for prefix in group))


def fired_signals(route: RouteResult, policy: Policy, forced: Forced) -> list[SignalName]:
    """Signals that fire, the forced ones as they are forced, in the order of POLICY §6."""
    by_anchors = anchor_signal_types(route, policy)
    return [signal for signal in SIGNALS if forced.get(signal, signal in by_anchors)]


def meaningful_signals(route: RouteResult, policy: Policy, forced: Forced) -> list[SignalName]:
    """`anchor_signal_types(route) - {FIND_FILES}`, in order. Spec: POLICY §7."""
    return [signal for signal in fired_signals(route, policy, forced) if signal != "FIND_FILES"]


def directories(paths: Iterable[str]) -> tuple[str, ...]:
    """Folders of the paths, each with its closing slash; a path in the root gives none."""
    folders = (posixpath.dirname(path) for path in paths)
    return tuple(dict.fromkeys(f"{folder}/" for folder in folders if folder.strip("/")))


def _like_patterns(terms: Iterable[str]) -> tuple[str, ...]:
    folded = (term.strip().lower() for term in terms)
    return tuple(dict.fromkeys(f"%{escape_like(term)}%" for term in folded if term))


def escape_like(term: str) -> str:
    """The term with LIKE's own characters escaped by a backslash."""
    return term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
