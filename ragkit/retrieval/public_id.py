"""Public ids: what they name, and which rows show it. Pure. Source: system.md §4.

An id is made of content: `path`, `path#heading/subheading`, `path::qname`, `path:L10-L20`. Judgements name items by it;
a row shows an item when it lies in the item's file and, for anything finer, shares a line with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragkit.layers import Layer

Level = Literal["file", "section", "symbol", "span"]
SPAN = re.compile(r"^(?P<path>.+):L(?P<start>\d+)-L(?P<end>\d+)$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRow:
    """A row of the index as far as ids need it."""

    path: str
    public_id: str
    layer: Layer
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """A row with its text."""

    path: str
    public_id: str
    line_start: int
    line_end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """An item looked for in one session."""

    id: str
    level: Level
    status: Literal["found", "stale", "unknown"]
    """`stale`: the file is indexed, and what the id names in it is gone. `unknown`: the file is not indexed."""
    path: str
    line_start: int
    line_end: int
    layers: frozenset[Layer]
    """Layers that hold rows which show the item."""

    def is_shown_by(self, path: str, line_start: int, line_end: int) -> bool:
        """Whether a row shows the item."""
        if self.status != "found" or path != self.path:
            return False
        return self.level == "file" or (line_start <= self.line_end and self.line_start <= line_end)


def paths_in(ids: Iterable[str]) -> tuple[str, ...]:
    """Every path that the ids may name, sorted: an id is ambiguous where a path itself holds `#` or `::`."""
    return tuple(sorted({path for item in ids for path, _, _ in _readings(item)}))


def locate(ids: Iterable[str], rows: Iterable[PlacedRow]) -> dict[str, Located]:
    """Each id with where it is, given all rows of `paths_in(ids)`."""
    by_path: dict[str, list[PlacedRow]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    return {item: _locate(item, by_path) for item in ids}


def _locate(item: str, by_path: Mapping[str, Sequence[PlacedRow]]) -> Located:
    for path, level, rest in _readings(item):
        rows = by_path.get(path)
        if rows:
            return _inside(item, path, level, rest, rows)
    path, level, _ = _readings(item)[-1]
    return Located(id=item, level=level, status="unknown", path=path, line_start=0, line_end=0, layers=frozenset())


def _inside(item: str, path: str, level: Level, rest: str, rows: Sequence[PlacedRow]) -> Located:
    if level == "file":
        named: Sequence[PlacedRow] = rows
    elif level == "span":
        start, end = (int(part) for part in rest.split("-"))
        named = [row for row in rows if row.line_start <= end and start <= row.line_end]
    else:
        named = [row for row in rows if _is_named(row.public_id, item)]
    status: Literal["found", "stale"] = "found" if named else "stale"
    span = rest.split("-") if level == "span" else ("0", "0")
    first = int(span[0]) if level == "span" else min((row.line_start for row in named), default=0)
    last = int(span[1]) if level == "span" else max((row.line_end for row in named), default=0)
    shown = [row.layer for row in rows if level == "file" or (row.line_start <= last and first <= row.line_end)]
    return Located(
        id=item,
        level=level,
        status=status,
        path=path,
        line_start=first,
        line_end=last,
        layers=frozenset(shown) if named else frozenset(),
    )


def _is_named(public_id: str, item: str) -> bool:
    """The item's own row, a further passage of it, a section below it, a member of it."""
    return public_id == item or public_id.startswith((f"{item}:L", f"{item}/", f"{item}~", f"{item}."))


def _readings(item: str) -> list[tuple[str, Level, str]]:
    """(path, level, rest) in the order in which they are tried."""
    readings: list[tuple[str, Level, str]] = [(item, "file", "")]
    span = SPAN.match(item)
    if span:
        readings.append((span["path"], "span", f"{span['start']}-{span['end']}"))
    for mark, level in (("#", "section"), ("::", "symbol")):
        path, found, rest = item.partition(mark)
        if found and path:
            readings.append((path, "section" if level == "section" else "symbol", rest))
    return readings
