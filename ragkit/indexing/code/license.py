"""The licence comment at the top of a source file: the same in hundreds of files, and no question is about it."""

from __future__ import annotations

import re

from ragkit.indexing.passages import Lines

_WORDS = re.compile(r"copyright|licen[sc]e|spdx", re.IGNORECASE)
_LINE_MARKS = ("#", "//", "--", ";", "%")
_BLOCK_MARKS = (("/*", "*/"), ("<!--", "-->"), ("{-", "-}"))
_MAX_LINES = 60


def license_end(source: Lines) -> int:
    """Line after the licence comment that a source begins with, blank lines behind it included; 0 without one."""
    start = 0
    while start < len(source) and source.is_blank(start):
        start += 1
    end = _comment_end(source, start)
    if end == start or not _WORDS.search(source.text(start, end)):
        return 0
    while end < len(source) and source.is_blank(end):
        end += 1
    return end


def _comment_end(source: Lines, start: int) -> int:
    """Line after the comment that begins at `start`; `start` itself when there is none or it does not end soon."""
    if start >= len(source):
        return start
    first = source.lines[start].lstrip()
    for opening, closing in _BLOCK_MARKS:
        if first.startswith(opening):
            for line in range(start, min(len(source), start + _MAX_LINES)):
                _, found, rest = source.lines[line].partition(closing)
                if found:
                    return start if rest.strip() else line + 1
            return start
    line = start
    while line < min(len(source), start + _MAX_LINES) and source.lines[line].lstrip().startswith(_LINE_MARKS):
        line += 1
    return line
