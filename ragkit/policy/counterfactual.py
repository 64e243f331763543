"""What would have to be different for another profile: the smallest set of changes, found by resolving again. Pure.

Exhaustive instead of clever: five signals and four intents give 128 worlds, each of which the real resolver judges. A
formula for "which signals lead to X" would be a second copy of POLICY §4 and §7 that could drift from the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import get_args

from ragkit.messages import Reason
from ragkit.policy.code_plan import plans
from ragkit.policy.policy import SIGNALS, Policy, SignalName
from ragkit.policy.resolver import fired_signals
from ragkit.policy.signals import SignalReading, read_signals
from ragkit.routing.contract import DOMAINS_OF, Intent, RouterContract
from ragkit.routing.route import RouteIntent, RouteResult

ROUTE_INTENT: Mapping[Intent, RouteIntent] = {
    "DOCS_QA": "DOCS_QA",
    "PROJECT_MISC": "GENERAL_QA",
    "CODE_QA": "CODE_QA",
    "GENERATE_DOCS_FROM_CODE": "GENERATE_DOCS_FROM_CODE",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
    """The smallest set of changes after which a profile is among the chosen ones."""

    profile: str
    intent: Intent | None
    """The intent that the question would need; None: the one it has."""
    fires: tuple[SignalName, ...]
    """Signals that would have to fire and do not."""
    silent: tuple[SignalName, ...]
    """Signals that fire and would have to be silent."""
    reasons: tuple[Reason, ...]
    """What in the question would do each of it."""

    @property
    def size(self) -> int:
        """How many things change."""
        return len(self.fires) + len(self.silent) + (self.intent is not None)

    def to_json(self) -> dict[str, object]:
        """All fields."""
        return {
            "profile": self.profile,
            "intent": self.intent,
            "fires": list(self.fires),
            "silent": list(self.silent),
            "reasons": [reason.to_json() for reason in self.reasons],
        }


def profile_changes(
    contract: RouterContract, route: RouteResult, policy: Policy, *, families: frozenset[str]
) -> tuple[ProfileChange, ...]:
    """One for each profile that is not chosen and that some change can bring, in the policy's order of profiles.

    `families`: those that the session holds. Ties go to the change that keeps the intent, then to the signals that
    stand first in POLICY §6.
    """
    taken = frozenset(profiles_under(contract, route, policy, contract.intent, (), families=families))
    fired = frozenset(fired_signals(route, policy, {}))
    readings = {reading.signal: reading for reading in read_signals(route, policy)}
    found: dict[str, ProfileChange] = {}
    for intent, flipped in _worlds(contract.intent):
        if found.keys() | taken >= policy.profiles.keys():
            break
        for profile in profiles_under(contract, route, policy, intent, flipped, families=families):
            if profile in taken or profile in found:
                continue
            changed = None if intent == contract.intent else intent
            fires: tuple[SignalName, ...] = tuple(signal for signal in flipped if signal not in fired)
            silent: tuple[SignalName, ...] = tuple(signal for signal in flipped if signal in fired)
            found[profile] = ProfileChange(
                profile=profile,
                intent=changed,
                fires=fires,
                silent=silent,
                reasons=(
                    *((Reason(code="change.intent", params={"intent": intent}),) if changed else ()),
                    *(_firing(signal, policy) for signal in fires),
                    *(_silencing(readings[signal]) for signal in silent),
                ),
            )
    return tuple(found[name] for name in policy.profiles if name in found)


def profiles_under(
    contract: RouterContract,
    route: RouteResult,
    policy: Policy,
    intent: Intent,
    flipped: Iterable[SignalName],
    *,
    families: frozenset[str],
) -> tuple[str, ...]:
    """Profiles that the resolver chooses if the intent were this one and these signals were the other way round."""
    fired = frozenset(fired_signals(route, policy, {}))
    forced: dict[SignalName, bool] = {}
    forced.update((signal, signal not in fired) for signal in flipped)
    finds = forced.get("FIND_FILES", "FIND_FILES" in fired)
    # A code plan reads the subintent, which is what the signal FIND_FILES reads too (POLICY §6).
    asked = replace(
        route,
        intent=route.intent if intent == contract.intent else ROUTE_INTENT[intent],
        subintent="FIND_FILES" if finds else "SUMMARY",
    )
    spec = contract.retrieval_spec
    domains = spec.domains if intent == contract.intent else DOMAINS_OF[intent]
    bent = contract.model_copy(
        update={"intent": intent, "retrieval_spec": spec.model_copy(update={"domains": domains})}
    )
    made, _ = plans(bent, asked, policy, families=families, forced=forced)
    return tuple(plan.profile for plan in made)


def _worlds(own: Intent) -> Iterator[tuple[Intent, tuple[SignalName, ...]]]:
    """Every intent with every set of flipped signals, the smallest change first."""
    known: tuple[Intent, ...] = get_args(Intent)
    worlds: list[tuple[Intent, tuple[SignalName, ...]]] = []
    for intent in (own, *filter(own.__ne__, known)):
        for count in range(len(SIGNALS) + 1):
            worlds.extend((intent, flip) for flip in _flips(count))
    yield from sorted(worlds, key=lambda world: len(world[1]) + (world[0] != own))


def _flips(count: int) -> Iterator[tuple[SignalName, ...]]:
    """Sets of so many signals, those that stand first in POLICY §6 first."""
    yield from combinations(SIGNALS, count)


def _firing(signal: SignalName, policy: Policy) -> Reason:
    if signal == "FIND_FILES":
        return Reason(code="change.find_files_on")
    rule = policy.signals[signal]
    return Reason(
        code="change.signal_on" if not rule.any_of else "change.signal_on_by_field",
        params={
            "signal": signal,
            "markers": list(rule.markers),
            "marker_fields": list(policy.marker_fields),
            **({"fields": list(rule.any_of)} if rule.any_of else {}),
        },
    )


def _silencing(reading: SignalReading) -> Reason:
    if reading.signal == "FIND_FILES":
        return Reason(code="change.find_files_off")
    by = [f"{e.field}: {e.value}" + (f" ({e.marker})" if e.marker else "") for e in reading.evidence]
    return Reason(code="change.signal_off", params={"signal": reading.signal, "by": by})
