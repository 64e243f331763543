"""What a document is once its format no longer matters: front matter, a title, and sections of blocks.

Each format has a reader that gives an `Outline` (`markdown`, `rst`, `plain`); each layer reads the outline alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragkit.indexing.docs.front_matter import FrontMatter
from ragkit.indexing.passages import Block, Lines

_SLUG_DROPPED = re.compile(r"[^\w\s-]")
_SLUG_SPACES = re.compile(r"[\s-]+")
_MAX_SLUG_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading as its format found it."""

    level: int
    """1 is the outermost."""
    title: str
    """Without markup."""
    anchor: str | None = None
    """The anchor that the document gives it, if it gives one."""
    start: int
    """Line, from 0."""
    end: int
    """Line after the heading (and its underline)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands below it up to the next heading of any level."""

    headings: tuple[str, ...]
    """Titles from the outermost to its own; none before the first heading."""
    anchor: str
    """Slugs of the headings joined by `/`, made unique in the document by `~2`, `~3` …; empty before the first."""
    blocks: tuple[Block, ...]
    """The heading's own lines first, where there is a heading."""
    has_text: bool
    """Whether anything but the heading stands in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A document, read."""

    source: Lines
    front_matter: FrontMatter
    title: str | None
    """The first outermost heading, or what the format takes for a title; front matter is not asked."""
    summary: str
    """The first paragraph that says something, without markup; may be empty."""
    summary_lines: tuple[int, int] | None
    """Where the summary stands: from 0, end exclusive."""
    sections: tuple[Section, ...]
    links: tuple[str, ...] = ()
    """Targets inside the project, as written, without repeats."""


def slug(title: str) -> str:
    """The part of a public id that a heading gives: lower-case, letters, digits and `_` of any script, `-` for white
    space and hyphens, all else dropped, at most 80 characters; `section` when nothing is left.
    """
    plain = _SLUG_DROPPED.sub("", unicodedata.normalize("NFC", title).lower())
    return _SLUG_SPACES.sub("-", plain).strip("-")[:_MAX_SLUG_CHARS] or "section"


def sections_of(
    source: Lines,
    headings: Sequence[Heading],
    blocks: Sequence[Block],
    body_start: int,
    silent: frozenset[int] = frozenset(),
) -> tuple[Section, ...]:
    """Sections in order: every non-blank line from `body_start` on is in exactly one block of one section.

    `blocks` in order, without the headings; lines that no block holds become blocks of their own. `silent` are the
    first lines of blocks that say nothing to a reader (comments).
    """
    sections: list[Section] = []
    taken: dict[str, int] = {}
    stack: list[Heading] = []
    bounds = [heading.start for heading in headings] + [len(source)]
    position = 0
    preamble, position = _blocks_between(source, blocks, position, body_start, bounds[0])
    if preamble:
        sections.append(Section(headings=(), anchor="", blocks=preamble, has_text=_has_text(preamble, silent)))
    for heading, end in zip(headings, bounds[1:], strict=True):
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        body, position = _blocks_between(source, blocks, position, heading.end, end)
        sections.append(
            Section(
                headings=tuple(above.title for above in stack),
                anchor=unique("/".join(above.anchor or slug(above.title) for above in stack), taken),
                blocks=(Block(heading.start, heading.end), *body),
                has_text=_has_text(body, silent),
            )
        )
    return tuple(sections)


def _has_text(blocks: Sequence[Block], silent: frozenset[int]) -> bool:
    return any(block.start not in silent for block in blocks)


def _blocks_between(
    source: Lines, blocks: Sequence[Block], position: int, start: int, end: int
) -> tuple[tuple[Block, ...], int]:
    """Blocks that cover the non-blank lines from `start` to `end`, and the place in `blocks` after the last of them."""
    covering: list[Block] = []
    line = start
    while position < len(blocks) and blocks[position].start < end:
        block = blocks[position]
        position += 1
        if block.start >= line and block.end <= end:
            covering.extend(_uncovered(source, line, block.start))
            if any(not source.is_blank(number) for number in range(block.start, block.end)):
                # A parser may take for a paragraph what is white space to everyone else (U+2028).
                covering.append(block)
            line = block.end
    covering.extend(_uncovered(source, line, end))
    return tuple(covering), position


def _uncovered(source: Lines, start: int, end: int) -> Iterator[Block]:
    start, end = source.trimmed(start, end)
    if start < end:
        yield Block(start, end)


def unique(anchor: str, taken: dict[str, int]) -> str:
    """The anchor, the second time `~2`, the third `~3` …; `taken` counts them."""
    count = taken.get(anchor, 0) + 1
    taken[anchor] = count
    return anchor if count == 1 else f"{anchor}~{count}"
