"""`query_plan` of the contract: anchors in contract form, expansions and keyword hints. Spec: ROUTER §4, §6, §7.3.

Everything that enriches a query lives here and in the anchors; `normalized` never sees it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragkit.messages import Span
from ragkit.routing.anchors import Reading
from ragkit.routing.catalog import CatalogMatch
from ragkit.routing.contract import Anchor, AnchorSpan, QueryPlan
from ragkit.routing.normalize import normalize
from ragkit.routing.phrases import Item, PhraseTable, parse_phrase
from ragkit.routing.rules import RoutingRules, Term
from ragkit.text import Analyzer

MAX_HINTS = 24
TERM_CONFIDENCE = 0.6
_HINTED_KINDS = frozenset({"title", "module_id", "entity", "alias", "domain", "subdomain", "symbol"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TermUse:
    """A key term and where it stands."""

    term: Term
    span: Span
    russian: bool
    """A Russian form: its expansions apply."""


class TermFinder:
    """Finds key terms. Immutable, shared by threads."""

    def __init__(self, rules: RoutingRules, analyzer: Analyzer) -> None:
        """Compiles table `[[term]]`."""
        self._terms = rules.term
        self._table = PhraseTable(
            (f"{index} {language}", parse_phrase(line, rules.lists, analyzer))
            for index, term in enumerate(rules.term)
            for language, lines in (("ru", term.ru), ("en", term.en))
            for line in lines
        )

    def find(self, items: tuple[Item, ...]) -> tuple[TermUse, ...]:
        """Key terms by place, each subtype once: at its first place, in its longest form there."""
        first: dict[int, TermUse] = {}
        for owner, span, _ in self._table.matches(items):
            index, _, language = owner.partition(" ")
            use = TermUse(term=self._terms[int(index)], span=span, russian=language == "ru")
            known = first.get(int(index))
            if known is None or (known.span.start == span.start and span.end > known.span.end):
                first[int(index)] = use
        return tuple(sorted(first.values(), key=lambda use: (use.span.start, use.span.end)))


def contract_anchors(reading: Reading, terms: tuple[TermUse, ...]) -> tuple[Anchor, ...]:
    """The query's own anchors by place, key terms among them; at one place the longer first."""
    anchors = [
        Anchor(
            type=found.type,
            value=reading.text_of(found),
            subtype=found.subtype,
            span=AnchorSpan(start=found.start, end=found.end),
            confidence=found.confidence,
        )
        for found in reading.anchors
    ]
    anchors.extend(
        Anchor(
            type="KEY_TERM",
            value=reading.raw[use.span.start : use.span.end],
            subtype=use.term.subtype,
            span=AnchorSpan(start=use.span.start, end=use.span.end),
            confidence=TERM_CONFIDENCE,
        )
        for use in terms
    )
    return tuple(sorted(anchors, key=lambda anchor: (anchor.span.start, -anchor.span.end, anchor.type)))


def query_plan(
    raw: str,
    own: tuple[Anchor, ...],
    carried: tuple[Anchor, ...],
    terms: tuple[TermUse, ...],
    matches: tuple[CatalogMatch, ...],
) -> QueryPlan:
    """The plan. `own` and `carried` are the anchors of the query and of the conversation."""
    expansions = [word for use in terms if use.russian for word in use.term.expansions]
    expansions.extend(anchor.value for anchor in carried)
    topics = [
        anchor.value
        for kind in ("SYMBOL", "FILE_PATH", "KEY_TERM", "DOC_REF")
        for anchor in own
        if _hints(anchor, kind)
    ]
    names = [entry.name for match in matches for entry in match.entries[:1] if entry.kind in _HINTED_KINDS]
    return QueryPlan(
        raw=raw,
        normalized=normalize(raw),
        expansions=_once(expansions),
        keyword_hints=_once([*topics, *(anchor.value for anchor in carried), *names])[:MAX_HINTS],
        anchors=(*own, *carried),
    )


def _hints(anchor: Anchor, kind: str) -> bool:
    return anchor.type == kind and (kind != "KEY_TERM" or anchor.subtype == "endpoint")


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
