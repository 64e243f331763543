"""One entity from several documents. Pure.

Two descriptions are of one entity when their names are equal without case, or when the name of one is an alias of the
other; two equal aliases alone prove nothing. The best description is the entity's row, the others are taken into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragkit.indexing.links.part import EntityName, LinkPart

MENTIONS_AT_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedEntity:
    """One entity of a session."""

    public_id: str
    """Of the description that defines it."""
    name: str
    aliases: tuple[str, ...]
    documents: tuple[str, ...]
    """Paths that describe it, the defining one first, the others sorted."""


def merged_entities(parts: Iterable[LinkPart]) -> Mapping[str, MergedEntity]:
    """Public id of each description → the entity that it belongs to."""
    found = [
        (part.path, entity)
        for part in sorted(parts, key=lambda part: part.path)
        for entity in (part.docs.entities if part.docs is not None else ())
    ]
    owner = _groups(found)
    groups: dict[str, list[tuple[str, EntityName]]] = {}
    for path, entity in found:
        groups.setdefault(owner[folded(entity.name)], []).append((path, entity))
    merged: dict[str, MergedEntity] = {}
    for group in groups.values():
        one = _merged(group)
        merged.update({entity.public_id: one for _, entity in group})
    return merged


def folded(name: str) -> str:
    """A name as names are compared."""
    return " ".join(name.replace("`", "").casefold().split())


def _groups(found: Iterable[tuple[str, EntityName]]) -> Mapping[str, str]:
    """Folded name → the first of the names that mean the same."""
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    listed = list(found)
    for _, entity in listed:
        name = folded(entity.name)
        above.setdefault(name, name)
    for _, entity in listed:
        for alias in map(folded, entity.aliases):
            if alias in above:
                first, second = sorted((root(folded(entity.name)), root(alias)))
                above[second] = first
    return {name: root(name) for name in above}


def _merged(group: Iterable[tuple[str, EntityName]]) -> MergedEntity:
    ordered = sorted(group, key=lambda item: (not item[1].is_defined, -item[1].confidence, item[0], item[1].line))
    path, best = ordered[0]
    names: dict[str, str] = {}
    for _, entity in ordered:
        for name in (entity.name, *entity.aliases):
            names.setdefault(folded(name), name)
    names.pop(folded(best.name))
    documents = sorted({other for other, _ in ordered} - {path})
    return MergedEntity(
        public_id=best.public_id, name=best.name, aliases=tuple(names.values()), documents=(path, *documents)
    )
