"""Cutting lines into passages of a bounded length along a given structure; documents and code are cut by the same rule.

The measure is the word: a run of at most 16 letters, digits or underscores (so a long key or a run of Chinese counts
several times). An embedder's own tokens were rejected as a measure: they differ by model, and rows must not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

_WORD = re.compile(r"\w{1,16}")
_CUT_AT = re.compile(r"[.!?;,>]?\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """How long a passage may be."""

    words: int
    """Filled up to here."""
    slack_words: int
    """A last piece that adds no more than this many words is taken in rather than left alone."""
    lines: int
    chars: int


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines that belong together, and where they may be torn when they are too long."""

    start: int
    """Line, from 0."""
    end: int
    """Line after the last."""
    parts: tuple[Block, ...] = ()
    """Inner blocks in order, without overlap; lines before the first and between them are kept with a neighbour."""
    is_table: bool = False
    """Whether the first line says what the others mean."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a source, or a part of one long line."""

    start: int
    """Line, from 0."""
    end: int
    """Line after the last."""
    text: str
    """Exactly the lines without the last line end, or a substring of the one line."""
    is_cut: bool = False
    """Whether it is a part of a line."""


class Lines:
    """The lines of a source and their lengths, so that any span is measured in constant time."""

    def __init__(self, text: str) -> None:
        """Lines end with `\\n` alone; an empty last line is none."""
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        self.lines: list[str] = lines
        self._words = [0, *accumulate(len(_WORD.findall(line)) for line in lines)]
        self._chars = [0, *accumulate(len(line) + 1 for line in lines)]

    def __len__(self) -> int:
        return len(self.lines)

    def words(self, start: int, end: int) -> int:
        """Words in the lines `start` to `end` (exclusive)."""
        return self._words[end] - self._words[start]

    def text(self, start: int, end: int) -> str:
        """The lines as they stand, without the last line end."""
        return "\n".join(self.lines[start:end])

    def is_blank(self, line: int) -> bool:
        """Whether a line has nothing but white space."""
        text = self.lines[line]
        return not text or text.isspace()

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """The span without blank lines at its ends; empty when all are blank."""
        while start < end and self.is_blank(start):
            start += 1
        while start < end and self.is_blank(end - 1):
            end -= 1
        return start, end

    def fits(self, start: int, end: int, bound: Bound, *, slack: bool = False) -> bool:
        """Whether the lines are no longer than a passage may be."""
        return (
            self.words(start, end) <= bound.words + (bound.slack_words if slack else 0)
            and end - start <= bound.lines
            and self._chars[end] - self._chars[start] <= bound.chars + 1
        )


def cut(source: Lines, blocks: Sequence[Block], bound: Bound, *, keep_blank: bool = False) -> list[Passage]:
    """Passages of consecutive blocks, in order; every non-blank line of the blocks is in exactly one (a cut line: in
    several). Neighbours are joined while they fit, a block is torn only when it is too long itself.

    `keep_blank`: blank lines at the ends of a passage stay, so that every line is in one.
    """
    spans = _joined(source, [span for block in blocks for span in _torn(source, block, bound)], bound)
    return [passage for start, end in spans for passage in _passages(source, start, end, bound, keep_blank)]


def _torn(source: Lines, block: Block, bound: Bound) -> Iterator[tuple[int, int]]:
    """Spans of a block that fit, but for single lines. Iterative: blocks may be nested deeply."""
    waiting = [block]
    while waiting:
        current = waiting.pop()
        if source.fits(current.start, current.end, bound) or current.end - current.start <= 1:
            yield current.start, current.end
        elif current.parts:
            waiting.extend(reversed(_covering(current)))
        else:
            yield from _by_lines(source, current, bound)


def _covering(block: Block) -> list[Block]:
    """Blocks that cover every line of a block, made of its parts: what stands before a part goes with the part before,
    or stands alone at the start.
    """
    starts = [part.start for part in block.parts]
    covering: list[Block] = []
    if starts[0] > block.start:
        covering.append(Block(block.start, starts[0]))
    for part, following in zip(block.parts, [*starts[1:], block.end], strict=True):
        covering.append(Block(part.start, part.end, part.parts))
        if following > part.end:
            covering.append(Block(part.end, following))
    return covering


def _by_lines(source: Lines, block: Block, bound: Bound) -> Iterator[tuple[int, int]]:
    """Spans between blank lines where these fit, else line by line."""
    start = block.start
    while start < block.end:
        end = start + 1
        while end < block.end and not (source.is_blank(end - 1) and not source.is_blank(end)):
            end += 1
        if source.fits(start, end, bound):
            yield start, end
        else:
            yield from ((line, line + 1) for line in range(start, end))
        start = end


def _joined(source: Lines, spans: list[tuple[int, int]], bound: Bound) -> Iterator[tuple[int, int]]:
    """Adjacent spans put together while they fit, the last small ones beyond that by the bound's slack."""
    index = 0
    while index < len(spans):
        start, end = spans[index]
        index += 1
        while index < len(spans) and source.fits(start, spans[index][1], bound):
            end = spans[index][1]
            index += 1
        if index < len(spans):
            last = spans[-1][1]
            if source.words(end, last) <= bound.slack_words and source.fits(start, last, bound, slack=True):
                end = last
                index = len(spans)
        is_cut = end - start == 1 and not source.fits(start, end, bound)
        while not is_cut and index < len(spans) and all(map(source.is_blank, range(*spans[index]))):
            end = spans[index][1]
            index += 1
        yield start, end


def _passages(source: Lines, start: int, end: int, bound: Bound, keep_blank: bool) -> Iterator[Passage]:
    if end - start == 1 and not source.fits(start, end, bound):
        for piece in cut_line(source.lines[start], bound):
            yield Passage(start, end, piece, is_cut=True)
        return
    if not keep_blank:
        start, end = source.trimmed(start, end)
    if start < end:
        yield Passage(start, end, source.text(start, end))


def cut_line(line: str, bound: Bound) -> Iterator[str]:
    """Substrings of a line that together are the line, each within the bound; cut after white space where there is
    some in the last half, else anywhere. Linear in the length of the line.
    """
    start = 0
    while start < len(line):
        end = min(_word_bounded(line, start, bound), start + bound.chars, len(line))
        if end < len(line):
            places = [match.end() for match in _CUT_AT.finditer(line, start + (end - start) // 2, end)]
            end = places[-1] if places else end
        yield line[start:end]
        start = end


def _word_bounded(line: str, start: int, bound: Bound) -> int:
    words = _WORD.finditer(line, start, min(len(line), start + bound.chars))
    beyond = next(islice(words, bound.words, None), None)
    return len(line) if beyond is None else beyond.start()
