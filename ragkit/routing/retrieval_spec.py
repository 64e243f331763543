"""`retrieval_spec` and `evidence_policy` of the contract: layers and depths, filters, what an answer needs.

Spec: ROUTER §7, §8; MODULE §6; system.md §2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragkit.layers import Layer
from ragkit.messages import Reason, Span
from ragkit.routing.contract import (
    DOMAINS_OF,
    EVIDENCE_OF,
    RERANK_OF,
    Anchor,
    ContractFilters,
    EvidencePolicy,
    Intent,
    LayerQuery,
    RetrievalSpec,
    TestPolicy,
)
from ragkit.routing.paths import PathFinder
from ragkit.routing.phrases import Item, PhraseTable, parse_phrase
from ragkit.routing.query_plan import TermUse
from ragkit.routing.rules import RoutingRules
from ragkit.text import Analyzer

MAX_SCOPE = 40
_TEST_FILE = re.compile(r"(?:^test_|_tests?\.|\.(?:test|spec)\.|Tests?\.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAnswer:
    """The spec, and why."""

    spec: RetrievalSpec
    reasons: tuple[Reason, ...]


class SpecBuilder:
    """Builds retrieval specs. Immutable, shared by threads."""

    def __init__(self, rules: RoutingRules, paths: PathFinder, analyzer: Analyzer) -> None:
        """Compiles the phrases of `[tests]` and `[language_filter]`."""
        self._rules = rules
        self._paths = paths
        self._test_segments = frozenset(rules.tests.paths)
        self._only_tests = PhraseTable(("only", parse_phrase(line, rules.lists, analyzer)) for line in rules.tests.only)
        self._language = PhraseTable(
            ("language", parse_phrase(line, rules.lists, analyzer)) for line in rules.language_filter.phrases
        )

    def build(
        self,
        intent: Intent,
        items: tuple[Item, ...],
        anchors: tuple[Anchor, ...],
        terms: tuple[TermUse, ...],
        *,
        layers: tuple[Layer, ...] | None,
        languages: tuple[str, ...],
    ) -> SpecAnswer:
        """The spec of a query. `layers`: that exist (None: all); `languages`: of the session (empty: unknown)."""
        paths = [anchor for anchor in anchors if anchor.type == "FILE_PATH"]
        policy, test_reasons = self._test_policy(items, terms, paths)
        language, language_reasons = self._languages(items, paths, languages)
        queries, layer_reasons = self._layer_queries(intent, terms, layers)
        filters = ContractFilters(test_policy=policy, path_scope=_scope(paths), language=language)
        spec = RetrievalSpec(
            domains=DOMAINS_OF[intent], layer_queries=queries, filters=filters, rerank_profile=RERANK_OF[intent]
        )
        return SpecAnswer(spec=spec, reasons=(*test_reasons, *language_reasons, *layer_reasons))

    def _layer_queries(
        self, intent: Intent, terms: tuple[TermUse, ...], layers: tuple[Layer, ...] | None
    ) -> tuple[tuple[LayerQuery, ...], list[Reason]]:
        preferred = {layer.value for use in terms for layer in use.term.layers}
        existing = None if layers is None else {layer.value for layer in layers}
        table = self._rules.layers[intent]
        kept = [query for query in table if existing is None or query.layer_id in existing]
        factor = self._rules.depth.prefer_factor
        queries = tuple(
            LayerQuery(layer_id=query.layer_id, top_k=round(query.top_k * factor))
            if query.layer_id in preferred
            else query
            for query in kept
        )
        absent = [query.layer_id for query in table if existing is not None and query.layer_id not in existing]
        reasons = [Reason(code="route.layers_absent", params={"layers": absent})] if absent else []
        present = {Layer(query.layer_id).family.value for query in kept}
        reasons.extend(
            Reason(code="route.family_absent", params={"family": family, "intent": intent})
            for family in DOMAINS_OF[intent]
            if family not in present
        )
        return queries, reasons

    def _test_policy(
        self, items: tuple[Item, ...], terms: tuple[TermUse, ...], paths: list[Anchor]
    ) -> tuple[TestPolicy, list[Reason]]:
        only = self._only_tests.matches(items)
        if only:
            return "ONLY", [Reason(code="route.tests_only", span=only[0][1])]
        for use in terms:
            if use.term.subtype == "test":
                return "INCLUDE", [Reason(code="route.tests_included", span=use.span)]
        for anchor in paths:
            if self._is_test(anchor.value):
                span = Span(start=anchor.span.start, end=anchor.span.end)
                return "INCLUDE", [Reason(code="route.tests_included", span=span)]
        return "EXCLUDE", []

    def _is_test(self, path: str) -> bool:
        segments = re.split(r"[/\\]+", path)
        return not self._test_segments.isdisjoint(segments) or bool(_TEST_FILE.search(segments[-1]))

    def _languages(
        self, items: tuple[Item, ...], paths: list[Anchor], known: tuple[str, ...]
    ) -> tuple[tuple[str, ...], list[Reason]]:
        """Languages named in words, then those of the paths; only the session's own, or the filter hides everything."""
        named = [language for _, _, place in self._language.matches(items) for language in _languages_in(items, place)]
        by_path = [language for anchor in paths if (language := self._paths.language_of(anchor.value))]
        wanted = list(dict.fromkeys([*named, *by_path]))
        absent = [language for language in wanted if known and language not in known]
        kept = tuple(language for language in wanted if language not in absent)
        reasons: list[Reason] = []
        if kept:
            reasons.append(Reason(code="route.language", params={"languages": list(kept)}))
        if absent:
            reasons.append(Reason(code="route.language_absent", params={"languages": absent}))
        return kept, reasons


def evidence_policy(intent: Intent, terms: tuple[TermUse, ...]) -> EvidencePolicy:
    """What an answer needs: the intent's flags, and those that key terms raise for it; none is lowered."""
    raised = {flag: True for use in terms for flag, intents in use.term.evidence.items() if intent in intents}
    return EVIDENCE_OF[intent].model_copy(update=raised) if raised else EVIDENCE_OF[intent]


def _scope(paths: list[Anchor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for anchor in paths for part in _with_folder(anchor)))[:MAX_SCOPE]


def _with_folder(anchor: Anchor) -> Iterator[str]:
    """The path as written, then its folder with the separator at the end; a folder is its own."""
    path = anchor.value
    yield path
    if (anchor.subtype or "").endswith("folder"):
        yield path if path[-1:] in "/\\" else path + ("\\" if "\\" in path else "/")
        return
    cut = max(path.rfind("/"), path.rfind("\\"))
    if cut > 0:
        yield path[: cut + 1]


def _languages_in(items: tuple[Item, ...], place: tuple[int, int]) -> Iterator[str]:
    for item in items[place[0] : place[1]]:
        yield from sorted(key.removeprefix("language:") for key in item.keys if key.startswith("language:"))
