"""D5_RELATION_GRAPH: edges from a document to what it links, names in its front matter, or draws. Spec: system.md §4.

Only what this one file can tell is resolved: a relative link becomes a path of the repository, a name that the file
itself defines becomes its entity. The rest keeps its name in `dst_ref` and the reason in `resolution`; linking several
files comes later.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs import words
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.evidence import MAX_ROWS_OF_LAYER, Evidence, RowMaker
from ragkit.indexing.docs.links import link_targets
from ragkit.indexing.docs.mermaid import START, DiagramKind, read_mermaid
from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.docs.pieces import MAX_LINE_CHARS, Fence, Part, all_pieces
from ragkit.layers import D5Attributes, Layer

CONFIDENCE: Mapping[str, float] = {"front_matter": 1.0, "link": 0.9, "diagram": 0.8}
"""By the kind of source."""

EDGE_OF_DIAGRAM: Mapping[DiagramKind, str] = {
    "sequence": "sends_to",
    "flow": "flows_to",
    "state": "changes_to",
}

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_MISSING = ("{", "$", "@")
"""What a template would have filled in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    type: str
    src: str | None
    """None: the document."""
    ref: str
    dst: str | None
    resolution: str
    source: str
    """Key of CONFIDENCE."""
    evidence: Evidence


def relations(
    outline: Outline,
    parts: Sequence[Part],
    about: About,
    analysis: TextAnalysis,
    entities: Mapping[str, str],
) -> list[RagDocument]:
    """Edges of the front matter, then links and arrows in the order of the text; each target of a kind once.

    `entities`: lower-case names that this file defines → public ids. Public id: `path#edge:type/target` (arrows:
    `path#edge:type/source/target`).
    """
    maker = RowMaker(Layer.D5_RELATION_GRAPH, "edge", outline.source, about, analysis)
    rows: list[RagDocument] = []
    seen: set[tuple[str, str | None, str]] = set()
    for edge in islice(_edges(outline, parts, about, entities), 4 * MAX_ROWS_OF_LAYER):
        key = (edge.type, edge.src, edge.dst or edge.ref)
        if key not in seen and len(rows) < MAX_ROWS_OF_LAYER:
            seen.add(key)
            rows.append(_row(edge, maker, about))
    return rows


def _edges(outline: Outline, parts: Sequence[Part], about: About, entities: Mapping[str, str]) -> Iterator[_Edge]:
    front = outline.front_matter
    for attribute in (*words.RELATIONS, "links"):
        for value, start, end in front.places(attribute, outline.source.lines):
            dst, resolution = _named(value, about.path, entities)
            yield _Edge(
                type="links_to" if attribute == "links" else attribute,
                src=None,
                ref=value,
                dst=dst,
                resolution=resolution,
                source="front_matter",
                evidence=Evidence(start=start, end=end),
            )
    code = _code_lines(outline, parts)
    for part in parts:
        yield from _links(outline, part.section, about, code)
    for section, piece in all_pieces(parts):
        if isinstance(piece, Fence) and piece.language == "mermaid":
            yield from _arrows(section, piece, entities)


def resolve_link(target: str, path: str) -> tuple[str | None, str]:
    """The path of the repository that a link of the file at `path` leads to, or None; and what became of it."""
    if _SCHEME.match(target):
        return None, "external"
    file = unquote(target.partition("#")[0].partition("?")[0])
    if not file:
        return path, "path"
    if file.startswith(_MISSING):
        return None, "unresolved: filled in by a template"
    joined = file.lstrip("/") if file.startswith("/") else posixpath.join(posixpath.dirname(path), file)
    found = posixpath.normpath(joined)
    if found.startswith("..") or found == ".":
        return None, "unresolved: outside of what is indexed"
    if "." not in posixpath.basename(found):
        return None, "unresolved: a page or folder, no file"
    return found, "path"


def _named(value: str, path: str, entities: Mapping[str, str]) -> tuple[str | None, str]:
    """What front matter means: an entity of this file, a path from the root (or from here, when it begins with a dot or
    has no folder), else the name of something elsewhere.
    """
    entity = entities.get(value.lower())
    if entity is not None:
        return entity, "entity"
    if _SCHEME.match(value):
        return None, "external"
    extension = posixpath.splitext(value.partition("#")[0])[1].lower()
    if " " in value or extension not in (".md", ".mdx", ".rst", ".txt", ".yaml", ".yml", ".json"):
        return None, "unresolved: a name"
    from_here = value.startswith(".") or "/" not in value
    return resolve_link(value if from_here else f"/{value}", path)


def _links(outline: Outline, section: Section, about: About, code: frozenset[int]) -> Iterator[_Edge]:
    """Links to other files of the project; addresses elsewhere are no relation of it."""
    for block in section.blocks:
        for number in range(block.start, block.end):
            line = outline.source.lines[number]
            if number in code or len(line) > MAX_LINE_CHARS:
                continue
            for target in link_targets(line):
                dst, resolution = resolve_link(target, about.path)
                if resolution != "external" and dst != about.path:
                    yield _Edge(
                        type="links_to",
                        src=None,
                        ref=target,
                        dst=dst,
                        resolution=resolution,
                        source="link",
                        evidence=Evidence(start=number, end=number + 1, section=section),
                    )


def _code_lines(outline: Outline, parts: Sequence[Part]) -> frozenset[int]:
    found: set[int] = set()
    fenced = ""
    for part in parts:
        for block in part.section.blocks:
            for number in range(block.start, block.end):
                start = outline.source.lines[number].lstrip(" >-*")[:3]
                if start in ("```", "~~~") and fenced in ("", start):
                    fenced = "" if fenced else start
                    found.add(number)
                elif fenced:
                    found.add(number)
        fenced = ""
    return frozenset(found)


def _arrows(section: Section, piece: Fence, entities: Mapping[str, str]) -> Iterator[_Edge]:
    diagram = read_mermaid(piece.lines, piece.first)
    for arrow in diagram.arrows if diagram else ():
        if START in (arrow.src, arrow.dst):
            continue
        dst = entities.get(arrow.dst.lower())
        yield _Edge(
            type=EDGE_OF_DIAGRAM[diagram.kind] if diagram else "",
            src=entities.get(arrow.src.lower(), arrow.src),
            ref=arrow.dst,
            dst=dst,
            resolution="entity" if dst else "unresolved: a name in a diagram",
            source="diagram",
            evidence=Evidence(start=arrow.line, end=arrow.line + 1, section=section),
        )


def _row(edge: _Edge, maker: RowMaker, about: About) -> RagDocument:
    public_id = maker.public_id(edge.type, edge.src or "", edge.ref)
    attributes: D5Attributes = {
        "edge_id": public_id,
        "edge_type": edge.type,
        "src_id": edge.src or about.path,
        "dst_id": edge.dst,
        "dst_ref": edge.ref,
        "resolution": edge.resolution,
        "source_path": about.path,
        "confidence": CONFIDENCE[edge.source],
    }
    title = f"{edge.src or about.title} → {edge.ref}"
    return maker.row(public_id, edge.evidence, title=title[:200], attributes=attributes)
