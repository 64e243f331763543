"""The words of comments and docstrings, without the marks around them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import cleandoc

_OPENING = re.compile(r"^\s*(?:/\*+!?|//+!?|--+|#+|\*(?!/))[ \t]?")
_CLOSING = re.compile(r"\s*\*+/\s*$")
_LITERAL = re.compile(r"[a-zA-Z]*(\"\"\"|'''|\"|')(.*)\1", re.DOTALL)


def clean_comment(comments: Iterable[str]) -> str:
    """The text of comments that stand one below the other; lines without their marks, blank lines at the ends gone."""
    lines: list[str] = []
    for comment in comments:
        for line in _CLOSING.sub("", comment).split("\n"):
            lines.append(_OPENING.sub("", line, count=1).rstrip())
    return "\n".join(lines).strip()


def clean_docstring(literal: str) -> str:
    """The text of a string literal as `inspect.getdoc` would give it, escapes left as written."""
    found = _LITERAL.fullmatch(literal.strip())
    return cleandoc(found[2] if found else literal)
