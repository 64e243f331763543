"""Which signals the anchors of a route give, and by what. Spec: POLICY §6."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.policy.policy import SIGNALS, MarkerMatch, Policy, SignalName, SignalRule
from ragkit.routing.route import RouteAnchors, RouteResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalEvidence:
    """One value that made a signal fire."""

    field: str
    """Field of the route that holds the value."""
    value: str
    marker: str | None
    """The marker found in it; None where the field alone suffices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReading:
    """A signal, fired or not, and by what: what a person debugging sees."""

    signal: SignalName
    evidence: tuple[SignalEvidence, ...]

    @property
    def fired(self) -> bool:
        """Whether anything speaks for it."""
        return bool(self.evidence)

    def to_json(self) -> dict[str, object]:
        """`{signal, fired, evidence}`."""
        return {
            "signal": self.signal,
            "fired": self.fired,
            "evidence": [{"field": e.field, "value": e.value, "marker": e.marker} for e in self.evidence],
        }


def read_signals(route: RouteResult, policy: Policy) -> tuple[SignalReading, ...]:
    """All five signals in the order of POLICY §6."""
    return tuple(SignalReading(signal=name, evidence=_evidence(name, route, policy)) for name in SIGNALS)


def anchor_signal_types(route: RouteResult, policy: Policy) -> tuple[SignalName, ...]:
    """The signals that fired, in the order of POLICY §6."""
    return tuple(reading.signal for reading in read_signals(route, policy) if reading.fired)


def _evidence(name: SignalName, route: RouteResult, policy: Policy) -> tuple[SignalEvidence, ...]:
    if name == "FIND_FILES":
        found = route.subintent == "FIND_FILES"
        return (SignalEvidence(field="subintent", value=route.subintent, marker=None),) if found else ()
    rule = policy.signals[name]
    return (*_by_field(rule, route.anchors), *_by_marker(rule, route.anchors, policy))


def _by_field(rule: SignalRule, anchors: RouteAnchors) -> tuple[SignalEvidence, ...]:
    return tuple(
        SignalEvidence(field=field, value=value, marker=None)
        for field in rule.any_of
        for value in _values(anchors, field)
    )


def _by_marker(rule: SignalRule, anchors: RouteAnchors, policy: Policy) -> tuple[SignalEvidence, ...]:
    """The first marker that stands in each lower-cased value."""
    found: list[SignalEvidence] = []
    for field in policy.marker_fields:
        for value in _values(anchors, field):
            marker = next((m for m in rule.markers if _stands_in(m, value.lower(), policy.marker_match)), None)
            if marker is not None:
                found.append(SignalEvidence(field=field, value=value, marker=marker))
    return tuple(found)


def _stands_in(marker: str, value: str, match: MarkerMatch) -> bool:
    """As a substring (system.md §3), or between ends of words; a `*` at the end of a marker lets the word go on."""
    if match == "substring":
        return marker in value
    text = marker.removesuffix("*")
    at = value.find(text)
    while at >= 0 and text:
        end = at + len(text)
        if _parted(value, at) and (text != marker or _parted(value, end)):
            return True
        at = value.find(text, at + 1)
    return False


def _parted(value: str, at: int) -> bool:
    """Whether no word goes on from before this place to behind it."""
    return at in (0, len(value)) or not (value[at - 1].isalnum() and value[at].isalnum())


def _values(anchors: RouteAnchors, field: str) -> tuple[str, ...]:
    return getattr(anchors, field)
