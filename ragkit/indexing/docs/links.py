"""Targets of the links that a line of Markdown, reStructuredText or embedded HTML holds."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

_CODE = re.compile(r"(?<!`)(`+)(?!`).{1,500}?(?<!`)\1(?!`)")
_INLINE = re.compile(
    r"\]\(\s*(?:<(?P<angled>[^<>]{1,300})>|(?P<bare>[^\s()<>]{1,300}(?:\([^\s()]{0,100}\)[^\s()]{0,200})?))"
    r"(?:\s+(?:\"[^\"]{0,300}\"|'[^']{0,300}'|\([^()]{0,300}\)))?\s*\)"
)
_REFERENCE = re.compile(r"^\s{0,3}\[[^\]^]{1,200}\]:\s+<?([^\s<>\[\]]{1,300})>?(?:\s+[\"'(].*)?\s*$")
_HTML = re.compile(r"<a\s[^<>]{0,300}?\bhref\s*=\s*[\"']([^\"'<>]{1,300})[\"']", re.IGNORECASE)
_ROLE = re.compile(r":(?:doc|download):`(?:[^`<]{0,200}<)?([^`<>]{1,200})>?`")
_SHORTCODE = re.compile(r"\{\{[<%]\s*(?:rel)?ref\s+\"?([^\s\"{}]{1,300})\"?\s*[>%]\}\}")
_LIQUID = re.compile(r"(?:\{\{[^{}]{0,100}\}\})?\{%-?\s*link\s+([^\s{}%]{1,300})\s*-?%\}")
_IMAGE_BEFORE = re.compile(r"!\[[^\[\]]{0,300}$")
_MEDIA = frozenset(
    {
        ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".bmp", ".mp4", ".webm", ".mov", ".mp3", ".wav",
        ".woff", ".woff2", ".ttf", ".css",
    }
)  # fmt: skip


def link_targets(line: str) -> Iterator[str]:
    """Targets in the order of the line, as written, without repeats.

    No link is what stands in code, an image (a link around an image is one), a target that is a picture, a film or a
    style, brackets with several words behind them, and an address that a template fills in whole. `relref` of Hugo and
    `link` of Jekyll give the page they name.
    """
    if not _may_link(line):
        return
    seen: set[str] = set()
    for _, target in sorted(_found(_SHORTCODE.sub(_path_alone, _LIQUID.sub(_path_alone, _CODE.sub(_blank, line))))):
        is_filled_in = target.startswith("{{") and target.endswith("}}")
        if target not in seen and not is_filled_in and not is_media(target):
            seen.add(target)
            yield target


def is_media(target: str) -> bool:
    """Whether a target is a picture, film, sound, font or style rather than something to read."""
    return posixpath.splitext(target.partition("#")[0].partition("?")[0])[1].lower() in _MEDIA


def _may_link(line: str) -> bool:
    return "](" in line or "]:" in line or ":`" in line or "<a " in line or "<A " in line


def _found(line: str) -> Iterator[tuple[int, str]]:
    for match in _INLINE.finditer(line):
        if not _IMAGE_BEFORE.search(line, max(0, match.start() - 303), match.start()):
            yield match.start(), match["angled"] or match["bare"]
    reference = _REFERENCE.match(line)
    if reference is not None:
        yield reference.start(1), reference[1]
    for pattern in (_HTML, _ROLE):
        for match in pattern.finditer(line):
            yield match.start(), match[1]


def _path_alone(match: re.Match[str]) -> str:
    return match[1]


def _blank(match: re.Match[str]) -> str:
    """Code as spaces, so that a bracket inside of it opens nothing; in a role or a link's text it stays in place."""
    before = match.string[: match.start()]
    if before.endswith(":") and re.search(r":(?:doc|download):$", before[-12:]):
        return match[0]
    return " " * len(match[0])
