"""Plain text to an outline: one section, paragraphs between blank lines, a short first line as title."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragkit.indexing.docs.front_matter import FrontMatter
from ragkit.indexing.docs.outline import Outline, sections_of
from ragkit.indexing.passages import Block, Lines

_MAX_TITLE_CHARS = 100
_MIN_SUMMARY_LETTERS = 15
_MAX_SUMMARY_CHARS = 600


def read_plain(text: str) -> Outline:
    """The outline of a plain text; any text is one."""
    source = Lines(text)
    blocks = list(paragraphs(source, 0, len(source)))
    title = _title(source, blocks)
    summary, summary_lines = prose_summary(source, blocks[1:] if title and len(blocks) > 1 else blocks)
    return Outline(
        source=source,
        front_matter=FrontMatter(),
        title=title,
        summary=summary,
        summary_lines=summary_lines,
        sections=sections_of(source, (), blocks, 0),
    )


def paragraphs(source: Lines, start: int, end: int) -> Iterator[Block]:
    """Runs of non-blank lines."""
    line = start
    while line < end:
        if source.is_blank(line):
            line += 1
            continue
        first = line
        while line < end and not source.is_blank(line):
            line += 1
        yield Block(first, line)


def prose_summary(
    source: Lines, blocks: Sequence[Block], skipped: tuple[str, ...] = ()
) -> tuple[str, tuple[int, int] | None]:
    """The first block that has words and does not begin with one of `skipped`, white space folded; and its lines."""
    for block in blocks:
        first = source.lines[block.start].lstrip()
        if skipped and first.startswith(skipped):
            continue
        text = " ".join(source.text(block.start, block.end)[: 2 * _MAX_SUMMARY_CHARS].split())[:_MAX_SUMMARY_CHARS]
        if sum(map(str.isalpha, text[:200])) >= _MIN_SUMMARY_LETTERS:
            return text, (block.start, block.end)
    return "", None


def _title(source: Lines, blocks: Sequence[Block]) -> str | None:
    """The first paragraph when it is one short line that does not end like a sentence."""
    if not blocks or blocks[0].end - blocks[0].start > 1:
        return None
    line = " ".join(source.lines[blocks[0].start].split())
    return line if len(line) <= _MAX_TITLE_CHARS and not line.endswith((".", ":", ";", ",")) else None
