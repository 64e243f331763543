"""reStructuredText to an outline: titles by their underlines, what stands between them by docutils (`rst_states`).

Titles are found here, so that docutils gets the body of one section at a time, or some hundred lines of a long one: its
cost grows with the square of what it is given. Where it cannot read such a part (nested too deeply, a line too long, a
failure of its own), blank lines and indentation tell the blocks of that part, and the outline says so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragkit.indexing.docs.front_matter import FrontMatter, front_matter_of
from ragkit.indexing.docs.outline import Heading, Outline, sections_of
from ragkit.indexing.docs.pieces import MAX_LINE_CHARS, Part, Piece, parts_of
from ragkit.indexing.docs.plain import paragraphs, prose_summary
from ragkit.indexing.docs.rst_nodes import RstNode, read_nodes
from ragkit.indexing.docs.rst_pieces import block_of, fields_of, meta_of, pieces_of
from ragkit.indexing.docs.rst_states import TooDeep
from ragkit.indexing.passages import Block, Lines

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_ROLE = re.compile(r":[\w:+.-]+:`(?:~|!)?([^`<]*?)(?:\s*<[^`>]*>)?`")
_MARKUP = re.compile(r"``?([^`]*)``?_{0,2}|\*\*?([^*]+)\*\*?")
_DOCUMENT_ROLE = re.compile(r":(?:doc|download):`(?:[^`<]{0,200}<)?([^`<>]{1,200})>?`")
_EXPLICIT = re.compile(r"(?:\.\.|__) ")
_MAX_TITLE_CHARS = 200
_MAX_LINKS = 100
_PART_LINES = 400
"""docutils gets about as many lines at a time."""
_MAX_PART_LINES = 2_000
"""And never more; a part that cannot be cut before is data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RstOutline(Outline):
    """The outline and what docutils found in it."""

    pieces: tuple[Piece, ...]
    """Of all sections, in order."""
    unread: tuple[tuple[int, int, str], ...]
    """Lines (from 0, end exclusive) that docutils could not read, and why."""


@dataclass(frozen=True, slots=True)
class _Unread:
    start: int
    end: int
    problem: str


def read_rst(text: str) -> RstOutline:
    """The outline of a reStructuredText document; any text is one."""
    source = Lines(text)
    headings = list(_headings(source))
    parts = [_read(source, start, end) for start, end in _parts(source, headings)]
    nodes = [node for part in parts if not isinstance(part, _Unread) for node in part]
    light = [part for part in parts if isinstance(part, _Unread)]
    blocks = [block for part in parts for block in _blocks(source, part)]
    summary, summary_lines = _summary(source, nodes, light)
    return RstOutline(
        source=source,
        front_matter=_front_matter(source, parts),
        title=headings[0].title if headings else None,
        summary=plain_rst(summary),
        summary_lines=summary_lines,
        sections=sections_of(source, headings, blocks, 0),
        links=_links(source, nodes),
        pieces=tuple(pieces_of(source, nodes)),
        unread=tuple((part.start, part.end, part.problem) for part in light),
    )


def rst_parts(outline: RstOutline) -> tuple[Part, ...]:
    """The sections with their pieces; one that docutils could not read is read by its lines."""
    starts = [section.blocks[0].start for section in outline.sections]
    found: list[list[Piece]] = [[] for _ in starts]
    for piece in outline.pieces:
        found[max(0, bisect_right(starts, piece.start) - 1)].append(piece)
    by_lines = {max(0, bisect_right(starts, start) - 1) for start, *_ in outline.unread}
    light = parts_of(outline, "rst") if by_lines else ()
    return tuple(
        light[place] if place in by_lines else Part(section=section, pieces=tuple(found[place]))
        for place, section in enumerate(outline.sections)
    )


def plain_rst(text: str) -> str:
    """Text without roles, literals and emphasis."""
    return _MARKUP.sub(lambda match: match[1] or match[2] or "", _ROLE.sub(r"\1", text))


def _read(source: Lines, start: int, end: int) -> tuple[RstNode, ...] | _Unread:
    if end - start > _MAX_PART_LINES:
        return _Unread(start, end, f"one block of more than {_MAX_PART_LINES} lines")
    for line in range(start, end):
        if len(source.lines[line]) > MAX_LINE_CHARS:
            return _Unread(start, end, f"line {line + 1} is longer than {MAX_LINE_CHARS} characters")
    try:
        return read_nodes(source, start, end)
    except TooDeep:
        return _Unread(start, end, "nested too deeply")
    except Exception as error:  # a parser of others, on any text: one file must not cost the job
        return _Unread(start, end, f"docutils failed: {type(error).__name__}")


def _parts(source: Lines, headings: Sequence[Heading]) -> Iterator[tuple[int, int]]:
    """What stands between titles, long bodies cut where a block begins at the margin after a blank line."""
    start = 0
    for end, following in [*((heading.start, heading.end) for heading in headings), (len(source), len(source))]:
        while end - start > _PART_LINES:
            place = _next_margin(source, start + _PART_LINES, end)
            yield start, place
            start = place
        if any(not source.is_blank(line) for line in range(start, end)):
            yield start, end
        start = following


def _next_margin(source: Lines, line: int, end: int) -> int:
    while line < end and not (
        source.is_blank(line - 1) and not source.is_blank(line) and not _is_indented(source, line)
    ):
        line += 1
    return line


def _is_indented(source: Lines, line: int) -> bool:
    return source.lines[line][:1].isspace()


def _blocks(source: Lines, part: tuple[RstNode, ...] | _Unread) -> Iterator[Block]:
    if isinstance(part, _Unread):
        yield from _grouped(source, part.start, part.end)
    else:
        yield from map(block_of, part)


def _front_matter(source: Lines, parts: Sequence[tuple[RstNode, ...] | _Unread]) -> FrontMatter:
    """Fields before and directly below the title, and `meta`."""
    fields: dict[str, str | list[str]] = {}
    lines: tuple[int, int] | None = None
    for part in parts[:2]:
        if isinstance(part, _Unread):
            break
        found, at = fields_of([node for node in part if node.kind != "directive"])
        for node in part:
            if node.kind == "directive" and node.name == "meta":
                found |= {name: value for name, value in meta_of(source, node).items() if name not in found}
                at = at or (node.start, node.end)
        if found and at is not None:
            fields = found | fields
            lines = at if lines is None else (lines[0], at[1])
    return front_matter_of(fields, lines) if lines else FrontMatter()


def _summary(source: Lines, nodes: Sequence[RstNode], light: Sequence[_Unread]) -> tuple[str, tuple[int, int] | None]:
    """The first paragraph at the margin; of what docutils did not read, the first block that looks like one."""
    prose = [Block(node.start, node.end) for node in nodes if node.kind == "paragraph"]
    prose += [block for part in light for block in _grouped(source, part.start, part.end)]
    prose.sort(key=lambda block: block.start)
    return prose_summary(source, prose[:40], skipped=(".. ", "..\t", ":", "|", "+-", "=="))


def _links(source: Lines, nodes: Sequence[RstNode]) -> tuple[str, ...]:
    """Documents that roles and tables of contents name, as written."""
    found: dict[str, None] = {}
    waiting = list(reversed(nodes))
    while waiting and len(found) < _MAX_LINKS:
        node = waiting.pop()
        if node.kind == "directive" and node.name == "toctree":
            for line in source.lines[slice(*node.content)]:
                entry = line.strip()
                target = entry[:-1].rpartition("<")[2] if entry.endswith(">") else entry
                if target and not target.startswith(":") and target != "self" and "://" not in target:
                    found[target] = None
        elif node.kind == "paragraph":
            found.update(dict.fromkeys(_DOCUMENT_ROLE.findall(node.text)))
        waiting.extend(reversed(node.children))
    return tuple(found)[:_MAX_LINKS]


def _headings(source: Lines) -> Iterator[Heading]:
    """Titles in order; the level of an adornment is the order in which adornments first occur."""
    levels: dict[tuple[str, bool], int] = {}
    line = 0
    while line < len(source):
        found = _overlined(source, line) or _underlined(source, line)
        if found is None:
            line += 1
            continue
        title_line, end, style = found
        level = levels.setdefault(style, len(levels) + 1)
        title = plain_rst(" ".join(source.lines[title_line].split()))[:_MAX_TITLE_CHARS]
        yield Heading(level=level, title=title, start=line, end=end)
        line = end


def _overlined(source: Lines, line: int) -> tuple[int, int, tuple[str, bool]] | None:
    lines = source.lines
    if line + 2 >= len(lines) or not _ADORNMENT.match(lines[line]) or not _may_follow(source, line):
        return None
    over, title, under = lines[line].rstrip(), lines[line + 1], lines[line + 2].rstrip()
    if over != under or not title.strip() or _ADORNMENT.match(title) or len(title.strip()) > len(over):
        return None
    return line + 1, line + 3, (over[0], True)


def _underlined(source: Lines, line: int) -> tuple[int, int, tuple[str, bool]] | None:
    lines = source.lines
    if line + 1 >= len(lines) or source.is_blank(line) or not _may_follow(source, line):
        return None
    title, under = lines[line].rstrip(), lines[line + 1].rstrip()
    if title[0].isspace() or _ADORNMENT.match(title) or not _ADORNMENT.match(under) or _EXPLICIT.match(title):
        return None
    # docutils accepts a short underline from four characters on, with a warning.
    return (line, line + 2, (under[0], False)) if len(under) >= min(len(title), 4) else None


def _may_follow(source: Lines, line: int) -> bool:
    """Whether a title may begin here: after a blank line, or directly below a target or comment of one line."""
    return line == 0 or source.is_blank(line - 1) or _EXPLICIT.match(source.lines[line - 1]) is not None


def _grouped(source: Lines, start: int, end: int) -> Iterator[Block]:
    """Paragraphs; what is indented deeper belongs to the block before it."""
    group: list[Block] = []
    for block in paragraphs(source, start, end):
        if group and not _is_indented(source, block.start):
            yield Block(group[0].start, group[-1].end, tuple(group) if len(group) > 1 else ())
            group = []
        group.append(block)
    if group:
        yield Block(group[0].start, group[-1].end, tuple(group) if len(group) > 1 else ())
