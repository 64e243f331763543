"""What a document without front matter says of itself under its title: `Status: accepted`, `* Deciders: …`, a table of
two columns, or a section «Status» whose first line is the status.

Decision records, proposals and regulations have it; the catalog takes it where the front matter is silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ragkit.indexing.docs.front_matter import attribute_of, values_of
from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.docs.pieces import plain

_LINE = re.compile(
    r"\s*(?:[-*+]\s+|\|\s*)?(?:\*\*|__)?(?P<key>[^\W\d][\w -]{2,24}?)(?:\*\*|__)?\s*(?::|\|)(?:\*\*|__)?\s*"
    r"(?P<value>[^\s|].{0,200}?)\s*\|?\s*$"
)
_ATTRIBUTES = frozenset({"status", "version", "owners"})
_MAX_LINES = 12
_MAX_STATUS_WORDS = 3
_STATUS_END = re.compile(r"[,;.(\[]")
_STATUS_WHEN = re.compile(r"\s(?:by|since|on|at|с|от)\s")


def masthead(outline: Outline) -> Mapping[str, tuple[str, ...]]:
    """Attribute → values, of `status`, `version` and `owners` alone."""
    found: dict[str, tuple[str, ...]] = {}
    for attribute, written in _said(outline):
        values = tuple(value for part in values_of(attribute, plain(written)) if (value := _cleaned(attribute, part)))
        if values:
            found.setdefault(attribute, values)
    return found


def _said(outline: Outline) -> Iterator[tuple[str, str]]:
    for section in outline.sections[:1]:
        numbers = [n for block in section.blocks for n in range(block.start, block.end)]
        for number in numbers[:_MAX_LINES]:
            match = _LINE.match(outline.source.lines[number][:300])
            attribute = attribute_of(match["key"]) if match else None
            if match is not None and attribute in _ATTRIBUTES:
                yield attribute, match["value"]
    for section in outline.sections[1:4]:
        if attribute_of(section.headings[-1]) == "status":
            yield from _of_section(outline, section)


def _of_section(outline: Outline, section: Section) -> Iterator[tuple[str, str]]:
    for block in section.blocks[1:2]:
        line = outline.source.lines[block.start].strip(" -*_")
        if 0 < len(line.split()) <= 2 * _MAX_STATUS_WORDS:
            yield "status", line


def _cleaned(attribute: str, value: str) -> str:
    """A status up to its first comma: «accepted, supersedes …»; empty when it is a sentence."""
    if attribute != "status":
        return value
    said = _STATUS_END.split(value, maxsplit=1)[0].strip(" :")
    status = _STATUS_WHEN.split(said, maxsplit=1)[0]
    return status if len(status.split()) <= _MAX_STATUS_WORDS and len(said.split()) <= 2 * _MAX_STATUS_WORDS else ""
