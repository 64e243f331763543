"""C2_DEPENDENCY_GRAPH: edges of the symbols of a file as rows, whatever found them. Spec: MODULE §5.2.

One row an edge: repeats of a source and a target are one row, shown where they come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ragkit.document import RagDocument
from ragkit.indexing.code.c0_chunks import SourceUnit
from ragkit.indexing.code.evidence import Span, shown
from ragkit.indexing.context import Split, distinct_words
from ragkit.indexing.passages import Lines
from ragkit.layers import C2Attributes, Layer

EdgeType = Literal["imports", "calls", "inherits", "instantiates", "decorates", "reads_state", "writes_state"]
Ground = Literal[
    "import_statement", "own_name", "imported_name", "self", "inferred_type", "returned_by_other", "inherited",
    "star_import", "name_alone",
]  # fmt: skip

CONFIDENCE: Mapping[Ground, float] = {
    "import_statement": 1.0,  # the source says it
    "own_name": 1.0,  # a name that this file binds to a definition
    "imported_name": 0.95,  # through an import; the other file may bind it anew
    "self": 0.95,  # a subclass may override it
    "inferred_type": 0.85,  # of a variable or attribute, from annotations and assignments
    "inherited": 0.7,  # some base outside the file must have it
    "returned_by_other": 0.6,  # an attribute of what a call outside the file returns
    "star_import": 0.4,  # nothing in the file binds it
    "name_alone": 0.2,  # a method's name, the receiver unknown
}
"""How sure an edge is, by what it rests on; in `lang_payload` as `confidence`, beside `ground`. The values say in what
order things can go wrong; they are no measured probabilities.
"""

_MAX_CONTEXT_WORDS = 30
_MAX_REF_CHARS = 300
_MAX_LINES = 20


class Named(Protocol):
    """A symbol as an edge needs it."""

    @property
    def qname(self) -> str:
        """Within the file."""
        ...

    @property
    def symbol_id(self) -> str:
        """`path::qname`."""
        ...


@dataclass(frozen=True, slots=True)
class Edge:
    """One use of a target by a source."""

    kind: EdgeType
    source: Named | None
    """None for the file itself."""
    ref: str
    target: Named | None
    resolution: Literal["local", "import", "builtin", "unresolved"]
    callsite: str
    span: Span
    ground: Ground
    alias: str | None = None


def edge_rows(source: Lines, edges: Iterable[Edge], unit: SourceUnit, split: Split) -> list[RagDocument]:
    """Rows in the order of the source."""
    merged: dict[tuple[Named | None, str, str], list[Edge]] = {}
    for edge in edges:
        if len(edge.ref) <= _MAX_REF_CHARS:
            merged.setdefault((edge.source, edge.kind, edge.ref), []).append(edge)
    firsts = [(min(same, key=lambda edge: edge.span.start), same) for same in merged.values()]
    firsts.sort(key=lambda item: (item[0].span.start, item[0].kind, item[0].ref))
    return [_row(source, first, same, unit, split) for first, same in firsts]


def _row(source: Lines, edge: Edge, edges: Sequence[Edge], unit: SourceUnit, split: Split) -> RagDocument:
    qname = edge.source.qname if edge.source else ""
    span, text = shown(source, edge.span)
    source_id = edge.source.symbol_id if edge.source else f"{unit.path}::"
    edge_id = f"{source_id}@{edge.kind}:{edge.ref}"
    best = max(edges, key=lambda item: CONFIDENCE[item.ground])
    payload: dict[str, object] = {"count": len(edges), "confidence": CONFIDENCE[best.ground], "ground": best.ground}
    if edge.alias is not None:
        payload["alias"] = edge.alias
    if len(edges) > 1:
        payload["lines"] = sorted({item.span.start + 1 for item in edges})[:_MAX_LINES]
    attributes: C2Attributes = {
        "lang": unit.language,
        "edge_id": edge_id,
        "edge_type": edge.kind,
        "src_symbol_id": edge.source.symbol_id if edge.source else None,
        "dst_symbol_id": edge.target.symbol_id if edge.target else None,
        "dst_ref": edge.ref,
        "evidence.path": unit.path,
        "evidence.start_line": span.start + 1,
        "evidence.end_line": span.end,
        "resolution": edge.resolution,
        "callsite_kind": edge.callsite,
        "lang_payload": payload,
    }
    words = distinct_words([qname or unit.unit, edge.kind, edge.ref.replace("()", "")], split)
    return RagDocument(
        layer=Layer.C2_DEPENDENCY_GRAPH,
        path=unit.path,
        public_id=edge_id,
        title=f"{qname or unit.unit} {edge.kind} {edge.ref}",
        text=text,
        context=" ".join(words[:_MAX_CONTEXT_WORDS]),
        line_start=span.start + 1,
        line_end=span.end,
        attributes=attributes,
        lang="code",
        is_test=unit.is_test,
    )
