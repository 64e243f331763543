"""reStructuredText to an outline: titles by their underlines, blocks by blank lines and indentation.

Sound but light: it never mistakes a literal block for a title, and reads no directive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.indexing.docs.front_matter import FrontMatter
from ragkit.indexing.docs.outline import Heading, Outline, sections_of
from ragkit.indexing.docs.plain import paragraphs, prose_summary
from ragkit.indexing.passages import Block, Lines

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_ROLE = re.compile(r":[\w:+.-]+:`(?:~|!)?([^`<]*?)(?:\s*<[^`>]*>)?`")
_MARKUP = re.compile(r"``?([^`]*)``?_{0,2}|\*\*?([^*]+)\*\*?")
_MAX_TITLE_CHARS = 200


def read_rst(text: str) -> Outline:
    """The outline of a reStructuredText document; any text is one."""
    source = Lines(text)
    headings = list(_headings(source))
    blocks = _blocks(source, headings)
    summary, summary_lines = prose_summary(source, blocks, skipped=(".. ", "..\t", ":", "|", "+-", "=="))
    return Outline(
        source=source,
        front_matter=FrontMatter(),
        title=headings[0].title if headings else None,
        summary=plain_rst(summary),
        summary_lines=summary_lines,
        sections=sections_of(source, headings, blocks, 0),
    )


def plain_rst(text: str) -> str:
    """Text without roles, literals and emphasis."""
    return _MARKUP.sub(lambda match: match[1] or match[2] or "", _ROLE.sub(r"\1", text))


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
    if line + 2 >= len(lines) or not _ADORNMENT.match(lines[line]) or (line > 0 and not source.is_blank(line - 1)):
        return None
    over, title, under = lines[line].rstrip(), lines[line + 1], lines[line + 2].rstrip()
    if over != under or not title.strip() or _ADORNMENT.match(title) or len(title.strip()) > len(over):
        return None
    return line + 1, line + 3, (over[0], True)


def _underlined(source: Lines, line: int) -> tuple[int, int, tuple[str, bool]] | None:
    lines = source.lines
    if line + 1 >= len(lines) or source.is_blank(line) or (line > 0 and not source.is_blank(line - 1)):
        return None
    title, under = lines[line].rstrip(), lines[line + 1].rstrip()
    if title[0].isspace() or _ADORNMENT.match(title) or not _ADORNMENT.match(under) or title.startswith(".. "):
        return None
    # docutils accepts a short underline from four characters on, with a warning.
    return (line, line + 2, (under[0], False)) if len(under) >= min(len(title), 4) else None


def _blocks(source: Lines, headings: list[Heading]) -> list[Block]:
    """Paragraphs between headings; what is indented deeper belongs to the block before it."""
    blocks: list[Block] = []
    start = 0
    for heading in headings:
        blocks.extend(_grouped(source, start, heading.start))
        start = heading.end
    blocks.extend(_grouped(source, start, len(source)))
    return blocks


def _grouped(source: Lines, start: int, end: int) -> Iterator[Block]:
    group: list[Block] = []
    for block in paragraphs(source, start, end):
        if group and not source.lines[block.start][0].isspace():
            yield Block(group[0].start, group[-1].end, tuple(group) if len(group) > 1 else ())
            group = []
        group.append(block)
    if group:
        yield Block(group[0].start, group[-1].end, tuple(group) if len(group) > 1 else ())
