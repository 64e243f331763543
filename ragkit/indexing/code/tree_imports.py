"""The imports of a source that `tree-sitter` has read, as edges of C2 that name their target as written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from ragkit.indexing.code.declarations import Declaration
from ragkit.indexing.code.edges import Edge
from ragkit.indexing.code.evidence import MAX_LINES, Span
from ragkit.indexing.code.scopes import absolute_name
from ragkit.indexing.code.tree_heads import end_row
from ragkit.indexing.code.tree_source import TreeSource
from ragkit.indexing.code.tree_symbols import FUNCTIONS

_IMPORT_WORDS = re.compile(r"^\s*import\s+(?:static\s+)?|[;\s]+")
_MAX_TARGETS = 200
"""Of one statement."""
_MAX_DEPTH = 20


def tree_imports(
    source: TreeSource, declarations: Sequence[Declaration], module: str, *, is_package: bool
) -> Iterator[Edge]:
    """One edge a target, in no promised order. `module`, `is_package`: what Python's relative imports start from."""
    if not source.grammar.imports:
        return
    functions = [item for item in declarations if item.kind in FUNCTIONS]
    for match in source.matches(source.grammar.imports):
        statement, target = match["import"][0], match["target"][0]
        span = Span(statement.start_point.row, min(end_row(statement), statement.start_point.row + MAX_LINES))
        owner = _around(functions, statement)
        if source.grammar.import_style == "python":
            yield _of_python(source, match, owner, span, module, is_package=is_package)
            continue
        for ref in _targets(source.of(target), source.grammar.import_style):
            yield Edge("imports", owner, ref, None, "import", statement.type, span, "import_statement")


def _around(functions: Sequence[Declaration], statement: Node) -> Declaration | None:
    """The innermost function that a statement stands in."""
    row = statement.start_point.row
    inside = [item for item in functions if item.start < row < item.end]
    return min(inside, key=lambda item: item.end - item.start, default=None)


def _targets(text: str, style: str) -> list[str]:
    if style == "dotted":
        return [_IMPORT_WORDS.sub("", text)]
    if style == "use_tree":
        return list(_use_tree(" ".join(text.split())))
    return [text.strip("\"'`<> \t\n")]


def _use_tree(text: str) -> Iterator[str]:
    """Names of a Rust `use`: `a::{b, c::{self, D as E}}` → `a.b`, `a.c`, `a.c.D`."""
    waiting, given = [("", text, 0)], 0
    while waiting and given < _MAX_TARGETS:
        prefix, rest, depth = waiting.pop()
        head, brace, inner = rest.partition("{")
        path = prefix + head.strip()
        if brace and depth < _MAX_DEPTH:
            inside = inner.rpartition("}")[0]
            waiting.extend((path, part, depth + 1) for part in reversed(_split_outside(inside)) if part.strip())
            continue
        name = path.partition(" as ")[0].strip().removesuffix("::self").replace("::", ".").strip(". ")
        if name:
            given += 1
            yield name


def _split_outside(text: str) -> list[str]:
    """Parts between commas that stand in no braces."""
    parts, depth, start = list[str](), 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _of_python(
    source: TreeSource,
    match: dict[str, list[Node]],
    owner: Declaration | None,
    span: Span,
    module: str,
    *,
    is_package: bool,
) -> Edge:
    target = "".join(source.of(match["target"][0]).split())
    alias = source.of(match["alias"][0]) if "alias" in match else None
    if "module" not in match:
        bound = alias or target.partition(".")[0]
        return Edge("imports", owner, target, None, "import", "import", span, "import_statement", bound)
    written = "".join(source.of(match["module"][0]).split())
    name = written.lstrip(".")
    origin = absolute_name(module, is_package, len(written) - len(name), name or None)
    ref = f"{origin}.{target}" if origin else target
    return Edge("imports", owner, ref, None, "import", "from_import", span, "import_statement", alias or target)
