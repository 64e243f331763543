"""A symbol as the rows of C0–C2 show it, whatever the language and the parser that found it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Declaration:
    """One symbol: its name, its place, and what stands about it in the source."""

    symbol_id: str
    """`path::qname`, the second of that name `path::qname~2`: stable when lines move. Empty for a part of a
    symbol that another file defines."""
    name: str
    qname: str
    """Within the file, `.` between parts: `Class.method`, `outer.inner`."""
    kind: str
    visibility: str
    """`public`, `protected`, `private`, `internal` (of the package), `local` (inside a function)."""
    lead: int
    """First line, from 0, of the comment or decorators right above; `start` when there is none."""
    start: int
    """Line from 0, decorators included."""
    end: int
    """Line after the last."""
    shown_end: int
    """Line after what tells most: signature and docstring, or the first lines."""
    signature: str | None
    """As written, without decorators and body."""
    decorators: tuple[str, ...] = ()
    doc: str | None = None
    """Docstring or the comment right above, without comment marks."""
    parent_id: str | None = None
    is_entry_candidate: bool = False
    other_names: tuple[str, ...] = ()
    """Further spellings of the qualified name: `Order::total`."""
    payload: Mapping[str, object] = field(default_factory=dict[str, object])
