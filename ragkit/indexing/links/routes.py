"""Prefixes that other files put before the routes of a router. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragkit.document import Mount
from ragkit.indexing.code.entry_mounts import join_route
from ragkit.indexing.links.part import LinkPart
from ragkit.indexing.links.symbols import SymbolNames

_MAX_DEPTH = 8
_MAX_PREFIXES = 5
"""Of one router; a router that is mounted more often is shown under the first ones."""
Router = tuple[str, str]
"""Path of the file, name of the router; an empty name: the routes of the module."""


class Prefix(NamedTuple):
    """What stands before the routes of a router."""

    text: str
    replaces: bool
    """In place of the router's own prefix."""


@dataclass(frozen=True, slots=True)
class RoutePrefixes:
    """Who mounts whom, in all files of a session."""

    names: SymbolNames
    mounts: Mapping[Router, Sequence[tuple[str, Mount]]]
    """Mounted router → (path of the file that mounts it, the mount), by path and place."""

    def of(self, path: str, router: str) -> tuple[Prefix, ...]:
        """Prefixes of the routes of a router, sorted; empty where no file mounts it."""
        return self._of(self._router(path, router), _MAX_DEPTH)

    def _of(self, router: Router, depth: int) -> tuple[Prefix, ...]:
        found: set[Prefix] = set()
        for path, mount in self.mounts.get(router, ()) if depth else ():
            outer: Sequence[Prefix] = ()
            if mount.parent is not None:
                outer = self._of(self._router(path, mount.parent), depth - 1)
            for before in outer or (Prefix("", False),):
                found.add(
                    Prefix(join_route(before.text, mount.prefix) if mount.prefix else before.text, mount.replaces)
                )
        return tuple(sorted(found)[:_MAX_PREFIXES])

    def _router(self, path: str, name: str) -> Router:
        place = self.names.resolve_in(path, name) if name else None
        return (place.path, place.qname) if place is not None else (path, name)


def route_prefixes(parts: Iterable[LinkPart], names: SymbolNames) -> RoutePrefixes:
    """Of the parts of a session."""
    mounts: dict[Router, list[tuple[str, Mount]]] = {}
    for part in sorted(parts, key=lambda part: part.path):
        for mount in part.code.mounts if part.code is not None else ():
            place = names.resolve(mount.child) or names.resolve_in(part.path, mount.child)
            if place is not None:
                mounts.setdefault((place.path, place.qname), []).append((part.path, mount))
    return RoutePrefixes(names, mounts)
