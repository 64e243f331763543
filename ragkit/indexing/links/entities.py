"""One entity from several documents. Pure.

Two descriptions are of one entity when their names are equal without case, or when the name of one is an alias of the
other; two equal aliases alone prove nothing. A sentence in passing («State is …») defines a word for the folder it
stands in, not for the project, unless a glossary or a document of its own has that name. The best description is the
entity's row, the others are taken into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from ragkit.indexing.links.part import EntityName, LinkPart

MENTIONS_AT_MOST = 50
IN_PASSING = 0.6
"""Confidence of a definition in a sentence of running text."""


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
    strong = {folded(entity.name) for _, entity in found if entity.confidence > IN_PASSING}
    keyed = [(_key(path, entity, strong), path, entity) for path, entity in found]
    owner = _groups((key, entity) for key, _, entity in keyed)
    groups: dict[str, list[tuple[str, EntityName]]] = {}
    for key, path, entity in keyed:
        groups.setdefault(owner[key], []).append((path, entity))
    merged: dict[str, MergedEntity] = {}
    for group in groups.values():
        one = _merged(group)
        merged.update({entity.public_id: one for _, entity in group})
    return merged


def folded(name: str) -> str:
    """A name as names are compared."""
    return " ".join(name.replace("`", "").casefold().split())


def _key(path: str, entity: EntityName, strong: Set[str]) -> str:
    """By which descriptions are joined: the folded name; of a word defined in passing alone, also its folder."""
    name = folded(entity.name)
    is_weak = entity.confidence <= IN_PASSING and name not in strong and " " not in name
    return f"{name}\0{path.rpartition('/')[0]}" if is_weak else name


def _groups(found: Iterable[tuple[str, EntityName]]) -> Mapping[str, str]:
    """Key → the first of the keys that mean the same."""
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    listed = list(found)
    for key, _ in listed:
        above.setdefault(key, key)
    for key, entity in listed:
        for alias in map(folded, entity.aliases):
            if alias in above:
                first, second = sorted((root(key), root(alias)))
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
