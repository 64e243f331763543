"""Markdown to an outline, by markdown-it's block rules alone.

Inline markup is only read where its text is needed (headings, the summary), which makes reading three times as fast.
MDX, Jinja and Liquid remnants are paragraphs like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from ragkit.indexing.docs.front_matter import FrontMatter, read_front_matter
from ragkit.indexing.docs.links import link_targets
from ragkit.indexing.docs.outline import Heading, Outline, sections_of
from ragkit.indexing.docs.words import SUMMARY_HEADING
from ragkit.indexing.passages import Block, Lines

_ANCHOR = re.compile(r"#([\w.-]+)")
_HTML_TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_NO_SUMMARY = re.compile(r"(?:!!!|\?\?\?|:::|///|===|\{%|\{\{|\{#|\{/\*|import\s|export\s|\[TOC\])")
_KRAMDOWN = re.compile(r"\s*\{:\s?[.#\w][^{}]{0,100}\}")
_MIN_SUMMARY_LETTERS = 15
_MIN_SUMMARY_WORDS = 3
"""Beside addresses: «Documentation: https://…» says nothing of its subject."""

_MAX_SUBTITLE_WORDS = 6
_SUBTITLE = re.compile(
    r"([*_]{1,3})[^*_]{1,80}[^*_.!?…]\1"
    r"|\*{0,3}(?:table of contents|contents|оглавление|содержание)\*{0,3}:?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\S+://\S+")
_SUMMARY_CANDIDATES = 40
_MAX_TITLE_CHARS = 200
_MAX_SUMMARY_CHARS = 600
_MAX_INLINE_CHARS = 4_000
"""Longer paragraphs are read up to here: inline rules are not linear on hostile text."""

_EXTERNAL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#|\{")
_MAX_LINKS = 100

_CONTAINERS = frozenset({"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"})


def read_markdown(text: str) -> Outline:
    """The outline of a Markdown document; any text is one."""
    source = Lines(text)
    # A lone carriage return would be a line end to the parser and none to us.
    tokens = _block_parser().parse("\n".join(source.lines).replace("\r", " "))
    front_matter = _front_matter(tokens)
    headings = _headings(tokens)
    body_start = front_matter.lines[1] if front_matter.lines else 0
    summary, summary_lines = _summary(tokens)
    return Outline(
        source=source,
        front_matter=front_matter,
        title=_title(headings, tokens),
        summary=summary,
        summary_lines=summary_lines,
        sections=sections_of(source, headings, _blocks(tokens), body_start, _comments(tokens)),
        links=tuple(_links(source, tokens)),
    )


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def plain_text(inline: str) -> str:
    """The words of inline Markdown: text, code and link texts; no images, no HTML, no attributes of kramdown."""
    if "{:" in inline:
        inline = _KRAMDOWN.sub("", inline)
    words: list[str] = []
    for token in _inline_parser().parseInline(inline[:_MAX_INLINE_CHARS])[0].children or ():
        if token.type in ("text", "code_inline", "text_special"):
            words.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
    return " ".join("".join(words).split())


def _front_matter(tokens: Sequence[Token]) -> FrontMatter:
    if not tokens or tokens[0].type != "front_matter" or tokens[0].map is None:
        return FrontMatter()
    start, end = tokens[0].map
    return read_front_matter(tokens[0].content, start, end)


def _headings(tokens: Sequence[Token]) -> list[Heading]:
    """Headings of the document itself; one inside a quote or a list item belongs to that."""
    found: list[Heading] = []
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            content, anchor = _without_attributes(tokens[index + 1].content)
            title = plain_text(content)[:_MAX_TITLE_CHARS]
            if title:
                found.append(
                    Heading(
                        level=int(token.tag[1:]),
                        title=title,
                        anchor=anchor,
                        start=token.map[0],
                        end=token.map[1],
                    )
                )
    return found


def _without_attributes(content: str) -> tuple[str, str | None]:
    """A heading without `{ #anchor .class }` at its end, as MkDocs and Docusaurus have it; and the anchor."""
    opening = content.rfind("{")
    if opening < 0 or not content.endswith("}") or not content[opening + 1 :].lstrip(": ").startswith(("#", ".")):
        return content, None
    anchor = _ANCHOR.search(content, opening)
    return content[:opening].rstrip(), anchor[1] if anchor else None


def _blocks(tokens: Sequence[Token]) -> list[Block]:
    """Top-level blocks with the inner blocks of lists and quotes as their parts; headings are not among them."""
    top: list[Block] = []
    open_parts: list[tuple[Token, list[Block]]] = []
    for token in tokens:
        if token.type in _CONTAINERS:
            open_parts.append((token, []))
        elif open_parts and token.nesting == -1 and token.type == f"{open_parts[-1][0].type[:-5]}_close":
            opened, parts = open_parts.pop()
            _add(opened, parts, open_parts[-1][1] if open_parts else top)
        elif token.nesting >= 0 and token.type not in ("inline", "front_matter"):
            inside = open_parts[-1][0].level + 1 if open_parts else 0
            if token.level == inside and not (token.type == "heading_open" and not open_parts):
                _add(token, [], open_parts[-1][1] if open_parts else top)
    return top


def _comments(tokens: Sequence[Token]) -> frozenset[int]:
    """First lines of the blocks that are a comment and nothing else."""
    return frozenset(
        token.map[0]
        for token in tokens
        if token.type == "html_block"
        and token.map is not None
        and token.content.startswith("<!--")
        and token.content.rstrip().endswith("-->")
    )


def _add(token: Token, parts: list[Block], into: list[Block]) -> None:
    if token.map is None:
        return
    start, end = token.map
    # markdown-it lets a list or quote end where a later block begins; lines are counted once.
    start = max(start, into[-1].end) if into else start
    if start < end:
        inner = tuple(part for part in parts if start <= part.start and part.end <= end)
        into.append(Block(start, end, inner, is_table=token.type == "table_open"))


def _title(headings: Sequence[Heading], tokens: Sequence[Token]) -> str | None:
    """The first heading of the outermost kind; none where it is one of several and only calls its section a summary."""
    outermost = [heading.title for heading in headings if heading.level == 1]
    if outermost:
        return None if len(outermost) > 1 and SUMMARY_HEADING.search(outermost[0]) else outermost[0]
    for token in tokens[:_SUMMARY_CANDIDATES]:
        if token.type == "html_block":
            match = _HTML_TITLE.search(token.content)
            title = " ".join(_TAG.sub(" ", match[1]).split())[:_MAX_TITLE_CHARS] if match else ""
            if title:
                return title
    return headings[0].title if headings else None


def _summary(tokens: Sequence[Token]) -> tuple[str, tuple[int, int] | None]:
    """The first paragraph of the document itself with words in it; badges, imports and directives are none.

    What stands under the title counts first, then a section that calls itself a summary, then whatever comes first: in
    documents made from a template that is often the template's own words. A few words without a full stop are a
    subtitle, which counts as what comes first.
    """
    first: tuple[str, tuple[int, int] | None] = ("", None)
    for heading, text, lines in _told(tokens):
        is_sentence = len(text.split()) > _MAX_SUBTITLE_WORDS or text.endswith((".", "!", "?", ":", "…"))
        if (heading is None and is_sentence) or (heading is not None and SUMMARY_HEADING.search(heading)):
            return text, lines
        if first[1] is None:
            first = text, lines
    return first


def _told(tokens: Sequence[Token]) -> Iterator[tuple[str | None, str, tuple[int, int]]]:
    """Paragraphs that could be a summary: the heading above, or None where that is the title or nothing."""
    candidates = headings = 0
    heading: str | None = None
    for index, token in enumerate(tokens):
        if token.level != 0 or token.map is None:
            continue
        if token.type == "heading_open":
            headings += 1
            is_title = headings == 1 and token.tag == "h1"
            heading = None if is_title else plain_text(_without_attributes(tokens[index + 1].content)[0])
        if token.type != "paragraph_open":
            continue
        candidates += 1
        if candidates > _SUMMARY_CANDIDATES:
            return
        content = tokens[index + 1].content
        if (
            not _NO_SUMMARY.match(content)
            and not _is_subtitle(content)
            and _says_something(text := plain_text(content))
        ):
            yield heading, text[:_MAX_SUMMARY_CHARS], (token.map[0], token.map[1])


def _is_subtitle(content: str) -> bool:
    """Whether a paragraph is a line in emphasis that is no sentence, or the head of a table of contents."""
    return _SUBTITLE.fullmatch(content.strip()) is not None


def _says_something(text: str) -> bool:
    words = _ADDRESS.sub("", text[:400])
    return sum(map(str.isalpha, words[:200])) >= _MIN_SUMMARY_LETTERS and len(words.split()) >= _MIN_SUMMARY_WORDS


def _links(source: Lines, tokens: Sequence[Token]) -> Iterator[str]:
    code = {
        line
        for token in tokens
        if token.type in ("fence", "code_block") and token.map is not None
        for line in range(*token.map)
    }
    seen: set[str] = set()
    for number, line in enumerate(source.lines):
        if number in code or len(line) > _MAX_INLINE_CHARS:
            continue
        for target in link_targets(line):
            if target not in seen and not _EXTERNAL.match(target):
                seen.add(target)
                yield target
                if len(seen) >= _MAX_LINKS:
                    return
