"""The Intent Router: one query in, the contract v1.1, the RouteResult and the reasons out. Spec: ROUTER; system.md §2.

Pure: no model, no database, no file, no clock. `IntentRouter.route` is the only door; it reads the query once
(`anchors.py`) and hands the reading to the parts that decide: `intent.py`, `query_plan.py`, `retrieval_spec.py`,
`route_fields.py`. Everything that was decided stands in `Routing.reasons`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.errors import InvalidInput
from ragkit.layers import Layer
from ragkit.messages import Reason, Span
from ragkit.routing.anchors import AnchorReader, Reading
from ragkit.routing.catalog import CatalogMatch, CatalogMatcher
from ragkit.routing.contract import GRAPH_OF, Anchor, ConversationState, Intent, RouterContract
from ragkit.routing.conversation import carried_anchors, is_topic
from ragkit.routing.intent import IntentJudge, Verdict
from ragkit.routing.normalize import is_blank, well_formed
from ragkit.routing.phrases import Item, PhraseTable, parse_phrase
from ragkit.routing.query_plan import TermFinder, contract_anchors, query_plan
from ragkit.routing.retrieval_spec import SpecBuilder, evidence_policy
from ragkit.routing.route import RouteResult, Subintent
from ragkit.routing.route_fields import route_result
from ragkit.routing.rules import RoutingRules
from ragkit.text import Analyzer


@dataclass(frozen=True, slots=True, kw_only=True)
class RepoContext:
    """What is known of the session that will be asked."""

    languages: tuple[str, ...] = ()
    """Programming languages of its code, lower-case; empty: unknown."""
    layers: tuple[Layer, ...] | None = None
    """Layers that have rows; None: every layer."""
    top_folders: tuple[str, ...] = ()
    """First segments of its paths."""
    catalog: CatalogMatcher | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The router's whole answer."""

    contract: RouterContract
    route: RouteResult
    reasons: tuple[Reason, ...]

    def to_json(self) -> dict[str, object]:
        """`{contract, route, reasons}`; same query, same bytes."""
        return {
            "contract": self.contract.model_dump(mode="json"),
            "route": self.route.to_json(),
            "reasons": [reason.to_json() for reason in self.reasons],
        }


class IntentRouter:
    """Routes queries. Immutable, shared by threads."""

    def __init__(self, rules: RoutingRules, analyzer: Analyzer) -> None:
        """Compiles the rules once.

        Raises: InvalidInput naming the phrase that cannot be read.
        """
        self._analyzer = analyzer
        self._factor = rules.conversation.carried_confidence
        self._reader = AnchorReader(rules, analyzer)
        self._judge = IntentJudge(rules, analyzer)
        self._terms = TermFinder(rules, analyzer)
        self._specs = SpecBuilder(rules, self._reader.paths, analyzer)
        phrases = (*rules.find_files.ru, *rules.find_files.en)
        self._find = PhraseTable(("find", parse_phrase(line, rules.lists, analyzer)) for line in phrases)
        self._find_not = PhraseTable(
            ("except", parse_phrase(line, rules.lists, analyzer)) for line in rules.find_files.except_
        )

    def route(
        self,
        query: str,
        state: ConversationState | None = None,
        context: RepoContext | None = None,
        *,
        intent: Intent | None = None,
    ) -> Routing:
        """The routing of a query in its conversation; `intent` forces the intent, and a reason says so.

        Raises: InvalidInput `query_empty` for an empty or blank query.
        """
        if is_blank(query):
            raise InvalidInput("query_empty")
        raw = well_formed(query)
        context = context or RepoContext()
        state = state or ConversationState()
        catalog = context.catalog
        names = catalog.symbol_names if catalog is not None else frozenset[str]()
        documented = catalog.documented_names if catalog is not None else frozenset[str]()
        reading = self._reader.read(raw, top_folders=frozenset(context.top_folders), names=names, documented=documented)
        verdict = self._judge.judge(reading.items, state.active_intent, intent)
        matches = catalog.matches(reading.tokens) if catalog is not None else ()
        terms = self._terms.find(reading.items)
        own = contract_anchors(reading, terms)
        carried = self._carried(own, state, verdict)
        anchors = (*own, *carried)
        subintent, find_reasons = self._subintent(verdict.intent, reading.items)
        spec = self._specs.build(
            verdict.intent, reading.items, anchors, terms, layers=context.layers, languages=context.languages
        )
        contract = RouterContract(
            intent=verdict.intent,
            graph_id=GRAPH_OF[verdict.intent],
            conversation_mode=verdict.mode,
            query_plan=query_plan(raw, own, carried, terms, matches),
            retrieval_spec=spec.spec,
            evidence_policy=evidence_policy(verdict.intent, terms),
        )
        route = route_result(
            verdict.intent,
            subintent,
            reading,
            anchors,
            matches,
            catalog,
            paths=self._reader.paths,
            analyzer=self._analyzer,
        )
        reasons = (
            *verdict.reasons,
            *find_reasons,
            *_carried_reasons(carried),
            *spec.reasons,
            *_catalog_reasons(reading, matches),
            *_repair_reasons(query, reading),
        )
        return Routing(contract=contract, route=route, reasons=reasons)

    def _carried(self, own: tuple[Anchor, ...], state: ConversationState, verdict: Verdict) -> tuple[Anchor, ...]:
        """Anchors of the conversation, where the query names no topic of its own and does not change it in words."""
        if verdict.switched_by_phrase or any(is_topic(anchor) for anchor in own):
            return ()
        return carried_anchors(state, self._factor)

    def _subintent(self, intent: Intent, items: tuple[Item, ...]) -> tuple[Subintent, list[Reason]]:
        """FIND_FILES where the question asks for a place; writing documents and project talk never do."""
        if intent not in ("DOCS_QA", "CODE_QA"):
            return "SUMMARY", []
        found = self._find.matches(items)
        if not found or self._find_not.matches(items):
            return "SUMMARY", []
        return "FIND_FILES", [Reason(code="route.find_files", span=found[0][1])]


def _carried_reasons(carried: tuple[Anchor, ...]) -> list[Reason]:
    if not carried:
        return []
    return [Reason(code="route.anchors_carried", params={"anchors": [anchor.value for anchor in carried]})]


def _catalog_reasons(reading: Reading, matches: tuple[CatalogMatch, ...]) -> list[Reason]:
    """One for each catalog name: what it may mean, in the order in which it is tried."""
    return [
        Reason(
            code="route.catalog_ambiguous" if len(match.entries) > 1 else "route.catalog_match",
            params={
                "name": reading.raw[match.start : match.end],
                "candidates": [f"{entry.kind} {entry.target}" for entry in match.entries[:10]],
            },
            span=Span(start=match.start, end=match.end),
        )
        for match in matches
    ]


def _repair_reasons(query: str, reading: Reading) -> list[Reason]:
    reasons: list[Reason] = []
    if query != reading.raw:
        reasons.append(Reason(code="route.surrogates_replaced"))
    if reading.is_cut:
        reasons.append(Reason(code="route.anchors_cut", params={"kept": len(reading.anchors)}))
    return reasons
