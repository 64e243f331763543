"""Which intent a query has by its own words, and whether the conversation goes on. Spec: ROUTER §3; system.md §2.

The sum of the cues decides; the default intent has a small weight of its own; equal sums fall by a stated order.
A conversation's topic holds unless a switch phrase stands in the query, or a cue fired that plainly does not fit it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.messages import Reason, Span
from ragkit.routing.contract import ConversationMode, Intent
from ragkit.routing.phrases import Item, PhraseTable, parse_phrase
from ragkit.routing.rules import Cue, RoutingRules
from ragkit.text import Analyzer

_SHORT_ITEMS = 4
"""A follow-up of no more items is elliptical."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """A cue and the words it fired on."""

    cue: Cue
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a query wants."""

    intent: Intent
    mode: ConversationMode
    switched_by_phrase: bool
    """The topic was changed in so many words: anchors of the conversation do not carry over."""
    reasons: tuple[Reason, ...]
    """Cues by place, then the sums, then the mode."""


class IntentJudge:
    """Weighs cues. Immutable, shared by threads."""

    def __init__(self, rules: RoutingRules, analyzer: Analyzer) -> None:
        """Compiles the phrases of the rules."""
        self._choice = rules.choice
        self._cues = {cue.code: cue for cue in rules.cue}
        self._table = PhraseTable(
            (cue.code, parse_phrase(line, rules.lists, analyzer)) for cue in rules.cue for line in cue.phrases
        )
        self._switch = PhraseTable(
            ("switch", parse_phrase(line, rules.lists, analyzer)) for line in rules.conversation.switch
        )
        self._elliptical = PhraseTable(
            ("elliptical", parse_phrase(line, rules.lists, analyzer)) for line in rules.conversation.elliptical
        )

    def fired(self, items: tuple[Item, ...]) -> tuple[Fired, ...]:
        """Cues that fire, each once, at its first place; by place, then in the order of the file."""
        spans: dict[str, Span] = {}
        for code, span, _ in self._table.matches(items):
            spans.setdefault(code, span)
        return tuple(
            Fired(cue=self._cues[code], span=span)
            for code, span in spans.items()
            if not any(other in spans for other in self._cues[code].unless)
        )

    def judge(self, items: tuple[Item, ...], active: Intent | None, forced: Intent | None) -> Verdict:
        """The intent and the conversation mode. `forced` overrules the words, the reasons say so."""
        fired = self.fired(items)
        own = _sums(fired)
        total: dict[Intent, float] = {intent: own[intent] + self._base(intent) for intent in self._choice.tie_order}
        best, runner_up = self._two_best(total)
        reasons = [
            Reason(
                code=f"cue.{one.cue.code}", params={"intent": one.cue.intent, "weight": one.cue.weight}, span=one.span
            )
            for one in fired
        ]
        reasons.append(_sums_reason(total, best, runner_up))
        if forced is not None:
            mode: ConversationMode = "START" if active is None else "CONTINUE" if active == forced else "SWITCH"
            reasons.append(Reason(code="route.intent_forced", params={"intent": forced, "own": best}))
            return Verdict(intent=forced, mode=mode, switched_by_phrase=False, reasons=tuple(reasons))
        if active is None:
            reasons.append(Reason(code="route.mode_start", params={"intent": best}))
            return Verdict(intent=best, mode="START", switched_by_phrase=False, reasons=tuple(reasons))
        return self._continued(items, fired, own, best, active, reasons)

    def _continued(
        self,
        items: tuple[Item, ...],
        fired: tuple[Fired, ...],
        own: dict[Intent, float],
        best: Intent,
        active: Intent,
        reasons: list[Reason],
    ) -> Verdict:
        phrases = self._switch.matches(items)
        if phrases:
            reasons.append(
                Reason(code="route.mode_switch_phrase", params={"from": active, "to": best}, span=phrases[0][1])
            )
            return Verdict(intent=best, mode="SWITCH", switched_by_phrase=True, reasons=tuple(reasons))
        breaking = self._breaking(items, fired, own, active)
        if breaking is not None:
            code = f"cue.{breaking.cue.code}"
            params = {"from": active, "to": breaking.cue.intent, "cue": code}
            reasons.append(Reason(code="route.mode_mismatch", params=params, span=breaking.span))
            return Verdict(intent=breaking.cue.intent, mode="SWITCH", switched_by_phrase=False, reasons=tuple(reasons))
        reasons.append(Reason(code="route.mode_continue", params={"intent": active, "own": best}))
        return Verdict(intent=active, mode="CONTINUE", switched_by_phrase=False, reasons=tuple(reasons))

    def _breaking(
        self, items: tuple[Item, ...], fired: tuple[Fired, ...], own: dict[Intent, float], active: Intent
    ) -> Fired | None:
        """The first cue of the strongest other intent that does not fit the active one; None while the topic holds."""
        strongest = max(self._choice.tie_order, key=lambda intent: own[intent])
        if strongest == active or own[strongest] <= own[active]:
            return None
        elliptical = len(items) <= _SHORT_ITEMS or bool(self._elliptical.matches(items))
        for one in fired:
            ends = one.cue.breaks if elliptical else (*one.cue.breaks, *one.cue.breaks_full)
            if one.cue.intent == strongest and active in ends:
                return one
        return None

    def _base(self, intent: Intent) -> float:
        return self._choice.default_weight if intent == self._choice.default else 0.0

    def _two_best(self, total: dict[Intent, float]) -> tuple[Intent, Intent]:
        order = self._choice.tie_order
        ranked = sorted(order, key=lambda intent: (-total[intent], order.index(intent)))
        return ranked[0], ranked[1]


def _sums(fired: tuple[Fired, ...]) -> dict[Intent, float]:
    sums: dict[Intent, float] = {"DOCS_QA": 0.0, "CODE_QA": 0.0, "GENERATE_DOCS_FROM_CODE": 0.0, "PROJECT_MISC": 0.0}
    for one in fired:
        sums[one.cue.intent] += one.cue.weight
    return sums


def _sums_reason(total: dict[Intent, float], best: Intent, runner_up: Intent) -> Reason:
    return Reason(
        code="route.intent_sums",
        params={
            "intent": best,
            "sum": round(total[best], 3),
            "runner_up": runner_up,
            "margin": round(total[best] - total[runner_up], 3),
            "sums": [f"{intent} {round(value, 3)}" for intent, value in total.items()],
        },
    )
