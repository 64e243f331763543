"""What the router tells the policy resolver: intent, subintent, anchors by their use. Spec: POLICY §3; system.md §2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, cast, get_args

from ragkit.errors import InvalidInput

RouteIntent = Literal["DOCS_QA", "GENERAL_QA", "CODE_QA", "GENERATE_DOCS_FROM_CODE"]
Subintent = Literal["SUMMARY", "FIND_FILES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteAnchors:
    """Anchors of a query, sorted by what the resolver does with them. Order is that of the query; no duplicates."""

    entity_names: tuple[str, ...] = ()
    """Names of the entity catalog alone, never code symbols."""
    file_names: tuple[str, ...] = ()
    """Paths as written, without line."""
    endpoint_paths: tuple[str, ...] = ()
    """Paths without method."""
    target_doc_hints: tuple[str, ...] = ()
    """Repository-relative paths of documents."""
    matched_aliases: tuple[str, ...] = ()
    """Catalog names, as they stand in the catalog, whose forms occur in the query."""
    process_domain: str | None = None
    """Lower-case, declared by front matter."""
    process_subdomain: str | None = None

    def to_json(self) -> dict[str, object]:
        """All fields, tuples as lists."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteResult:
    """Input of `RetrievalPolicyResolver.resolve`."""

    intent: RouteIntent
    subintent: Subintent = "SUMMARY"
    target_terms: tuple[str, ...] = ()
    """Content words left over."""
    anchors: RouteAnchors = field(default_factory=RouteAnchors)

    def to_json(self) -> dict[str, object]:
        """`{intent, subintent, target_terms, anchors}`."""
        return {
            "intent": self.intent,
            "subintent": self.subintent,
            "target_terms": list(self.target_terms),
            "anchors": self.anchors.to_json(),
        }


def route_from_json(body: object) -> RouteResult:
    """The route that `RouteResult.to_json` wrote, or one written by hand; what is missing or null counts as empty.

    Raises: InvalidInput naming the field.
    """
    top = _mapping(body, "route")
    intent = top.get("intent")
    if intent not in get_args(RouteIntent):
        raise InvalidInput("route_field", field="intent", found=repr(intent), allowed=list(get_args(RouteIntent)))
    subintent = "SUMMARY" if top.get("subintent") is None else top["subintent"]
    if subintent not in get_args(Subintent):
        raise InvalidInput("route_field", field="subintent", found=repr(subintent), allowed=list(get_args(Subintent)))
    anchors = top.get("anchors")
    given = _mapping({} if anchors is None else anchors, "anchors")
    known = {f.name for f in fields(RouteAnchors)}
    for name in given:
        if name not in known:
            raise InvalidInput("route_field", field=f"anchors.{name}", found=name, allowed=sorted(known))
    lists = {
        name: _strings(given.get(name), f"anchors.{name}")
        for name in ("entity_names", "file_names", "endpoint_paths", "target_doc_hints", "matched_aliases")
    }
    return RouteResult(
        intent=cast("RouteIntent", intent),
        subintent=cast("Subintent", subintent),
        target_terms=_strings(top.get("target_terms"), "target_terms"),
        anchors=RouteAnchors(
            **lists,
            process_domain=_optional(given.get("process_domain"), "anchors.process_domain"),
            process_subdomain=_optional(given.get("process_subdomain"), "anchors.process_subdomain"),
        ),
    )


def _plain(value: object) -> object:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _mapping(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidInput("route_field", field=name, found=type(value).__name__, allowed=["object"])
    return cast("Mapping[str, object]", value)


def _strings(value: object, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    items = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else (None,)
    strings = tuple(item for item in items if isinstance(item, str))
    if len(strings) != len(items):
        found = repr(cast("object", value))[:80]
        raise InvalidInput("route_field", field=name, found=found, allowed=["list of strings"])
    return strings


def _optional(value: object, name: str) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    raise InvalidInput("route_field", field=name, found=repr(value)[:80], allowed=["string", "null"])
