"""docutils made to see blocks alone, and to mark each with the lines that it consumed.

Its own directives and roles never run: a directive is its name, argument, options and content, whatever it is called,
so Sphinx's and unknown ones are read like any other, nothing on disk or elsewhere is opened (`include`, `raw`,
`csv-table :file:`), and nothing is reported. Its nodes know at most a line, often a wrong one; here each gets the
attribute `span`: the lines that its parsing consumed, from 0, end exclusive.

The parser copies what is left of a text at each list, so it is given a few hundred lines at a time (`rst` cuts them).
"""

# pyright: basic
# The stubs of docutils name the members that are overridden here and leave most of their types out.
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from optparse import Values
from typing import Any, cast

from docutils import nodes
from docutils.parsers.rst import states
from docutils.statemachine import StringList
from docutils.utils import Reporter

MAX_DEPTH = 24
"""Of blocks inside blocks. The parser calls itself: this keeps it far from Python's own limit, whoever calls."""

MAX_TABLE_LINES = 1_000

_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|]*\| +)?(?P<name>[\w.:+-]*\w) ?::(?: +|$)")
_FOOTNOTE = re.compile(r"\.\. +\[[^\]]+\](?: +|$)")
_OPTION = re.compile(r":(?P<name>[^:\s][^:]*):(?:\s+(?P<value>.*))?$")
_NO_ARGUMENT = frozenset(
    {
        "note", "warning", "tip", "important", "hint", "danger", "error", "caution", "attention", "seealso", "glossary",
        "container", "epigraph", "highlights", "pull-quote", "compound", "hlist", "todo", "only", "mermaid",
        "parsed-literal", "math", "replace", "centered", "rubric", "toctree", "line-block",
    }
)  # fmt: skip
"""Directives whose first line belongs to their content."""

LITERAL = frozenset(
    {
        "code-block", "code", "sourcecode", "literalinclude", "parsed-literal", "math", "raw", "mermaid", "graphviz",
        "digraph", "graph", "uml", "plantuml", "prompt", "doctest", "testcode", "testoutput", "testsetup",
        "testcleanup", "productionlist", "ipython", "jinja", "highlight", "include", "meta", "toctree", "csv-table",
        "contents", "image", "autosummary", "index", "tabularcolumns", "exec", "plot", "command-output",
        "program-output", "regendoc", "default-role", "role", "sectnum", "currentmodule", "py:currentmodule",
    }
)  # fmt: skip
"""Directives whose content is not read as reStructuredText."""


class TooDeep(Exception):
    """Blocks are nested deeper than MAX_DEPTH."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCells:
    """A row of a table."""

    cells: tuple[str, ...]
    line: int
    """Of its first line, from 0."""


def parse_blocks(lines: list[str], start: int) -> nodes.document:
    """The blocks of lines without tabs or white space at their ends; `start` is the number of the first.

    Raises: TooDeep; whatever docutils raises on text that it cannot read.
    """
    reporter = Reporter("", Reporter.SEVERE_LEVEL + 1, Reporter.SEVERE_LEVEL + 1, stream=False)
    document = nodes.document(_SETTINGS, reporter, source="")
    machine = _Machine(state_classes=_STATES, initial_state="Body")
    machine.run(StringList(lines, source=""), document, input_offset=start, match_titles=False, inliner=_NoInliner())
    return document


_SETTINGS: Any = Values({"language_code": "en", "tab_width": 8, "record_dependencies": None})


class _NoInliner(states.Inliner):
    """Leaves inline markup as it is written: layers read it themselves, and undefined names are nobody's error."""

    def init_customizations(self, settings: object) -> None:
        """Nothing to set up."""

    def parse(
        self, text: str, lineno: int, memo: object, parent: object
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The text."""
        return [nodes.Text(text)], []


class _States(dict[str, states.RSTState]):
    """States by name, made when a text needs them: each list has a machine of its own, and making all sixteen of its
    states took nine tenths of the time.
    """

    def __init__(self, machine: _Tracing, classes: Sequence[type[states.RSTState]]) -> None:
        super().__init__()
        self._machine = machine
        self._classes = {state.__name__: state for state in classes}

    def __missing__(self, name: str) -> states.RSTState:
        state = self[name] = self._classes[name](self._machine)
        if self._machine.is_ready:
            state.runtime_init()
        return state


class _Tracing(states.RSTStateMachine):
    """Marks new nodes with the lines that were consumed for them."""

    is_ready = False
    _first = 0

    def add_states(self, state_classes):
        """As docutils has it, later."""
        self.states: Any = _States(self, cast("Sequence[type[states.RSTState]]", state_classes))

    def runtime_init(self) -> None:
        """As docutils has it; states that are made later are told so then."""
        self.is_ready = True
        super().runtime_init()

    def check_line(self, context, state, transitions=None):
        """As docutils has it."""
        if not context:
            self._first = self.abs_line_offset()
        parent = cast("nodes.Element", self.node)
        count = len(parent.children)
        result = super().check_line(context, state, transitions)
        for child in parent.children[count:]:
            _mark(child, self._first, self.abs_line_offset() + 1)
        return result


class _Machine(_Tracing):
    """The outer one."""


class _NestedMachine(_Tracing, states.NestedStateMachine):
    """Those for what is indented."""


def _mark(node: nodes.Node, start: int, end: int) -> nodes.Node:
    if isinstance(node, nodes.Element) and "span" not in node.attributes:
        node["span"] = (start, end)
    return node


class _TracingState(states.RSTState):
    """What all states share."""

    nested_sm = _NestedMachine
    nested_sm_cache: list[states.NestedStateMachine] = []  # noqa: RUF012 (docutils' own cache must not be shared)

    def __init__(self, state_machine, debug=False) -> None:
        super().__init__(state_machine, debug)
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def nested_parse(self, *args, **kwargs):
        """Parse what is inside a block, not too deeply."""
        self._enter(1)
        try:
            return super().nested_parse(*args, **kwargs)
        finally:
            self._enter(-1)

    def _enter(self, step: int) -> None:
        depth = getattr(self.memo, "depth", 0) + step
        self.memo.depth = depth
        if depth > MAX_DEPTH:
            raise TooDeep

    def paragraph(self, lines, lineno):
        """A paragraph has its own lines alone, also where a literal block comes with it."""
        made, literal_next = super().paragraph(lines, lineno)
        for node in made:
            _mark(node, lineno - 1, lineno - 1 + len(list(lines)))
        return made, literal_next

    def directive_node(self, indent: int, found: re.Match[str]) -> tuple[list[nodes.Node], bool]:
        """A directive of any name; its content is read unless it is literal."""
        machine: Any = self.state_machine
        block, _, offset, blank_finish = machine.get_first_known_indented(indent, strip_top=False)
        name = found["name"].lower().rpartition(":")[2]
        lines = list(block)
        first = _content_line(lines, name)
        arguments = [line for line in lines[:first] if line.strip() and not _OPTION.match(line)]
        options = [match for line in lines[:first] if (match := _OPTION.match(line))]
        while lines and not lines[-1].strip():
            lines.pop()
        node = nodes.container()
        node["directive"] = name
        node["argument"] = " ".join(" ".join(arguments).split())
        node["options"] = tuple((match["name"].strip(), (match["value"] or "").strip()) for match in options)
        node["content"] = (offset + min(first, len(lines)), offset + len(lines))
        if name not in LITERAL and first < len(lines):
            self.nested_parse(block[first:], input_offset=offset + first, node=node)
        return [_mark(node, offset, offset + len(lines))], blank_finish


def _content_line(lines: Sequence[str], name: str) -> int:
    """Where the content of a directive begins: below its argument and options, or at once."""
    if name in _NO_ARGUMENT and lines and lines[0].strip():
        return 0
    line = 1 if lines else 0
    while line < len(lines) and lines[line].strip():
        line += 1
    is_head = all(
        _OPTION.match(text) or (not text[:1].isspace() and name not in _NO_ARGUMENT) for text in lines[1:line]
    )
    if not is_head and not any(_OPTION.match(text) for text in lines[1:2]):
        return 1
    while line < len(lines) and not lines[line].strip():
        line += 1
    return line


class _TracingBody(_TracingState, states.Body):
    """The states that begin a block."""

    def list_item(self, indent):
        """An item of a list."""
        start = self.state_machine.abs_line_offset()
        item, blank_finish = super().list_item(indent)
        return _mark(item, start, self.state_machine.abs_line_offset() + 1), blank_finish

    def field(self, match):
        """A field."""
        start = self.state_machine.abs_line_offset()
        made, blank_finish = super().field(match)
        return _mark(made, start, self.state_machine.abs_line_offset() + 1), blank_finish

    def option_list_item(self, match):
        """A command-line option."""
        start = self.state_machine.abs_line_offset()
        item, blank_finish = super().option_list_item(match)
        item["term"] = match.group().strip()
        return _mark(item, start, self.state_machine.abs_line_offset() + 1), blank_finish

    def explicit_construct(self, match):
        """Directives and footnotes are read, targets and comments consumed."""
        machine: Any = self.state_machine
        start = machine.abs_line_offset()
        found = _DIRECTIVE.match(machine.line)
        if found is not None:
            return self.directive_node(found.end(), found)
        footnote = _FOOTNOTE.match(machine.line)
        if footnote is not None:
            block, _, offset, blank_finish = machine.get_first_known_indented(footnote.end())
            node = nodes.footnote()
            self.nested_parse(block, input_offset=offset, node=node)
            return [_mark(node, start, machine.abs_line_offset() + 1)], blank_finish
        if not machine.line[2:].strip() and machine.is_next_line_blank():
            return [_mark(nodes.comment(), start, start + 1)], True
        *_, blank_finish = machine.get_first_known_indented(match.end())
        return [_mark(nodes.comment(), start, machine.abs_line_offset() + 1)], blank_finish

    def anonymous_target(self, match):
        """Consumed."""
        machine: Any = self.state_machine
        start = machine.abs_line_offset()
        *_, blank_finish = machine.get_first_known_indented(match.end(), until_blank=True)
        return [_mark(nodes.comment(), start, machine.abs_line_offset() + 1)], blank_finish

    def isolate_grid_table(self):
        """Longer ones are data, and docutils looks at each cell's borders again and again."""
        block, messages, blank_finish = super().isolate_grid_table()
        return (block if len(list(block)) <= MAX_TABLE_LINES else []), messages, blank_finish

    def build_table(self, tabledata, tableline, stub_columns=0, widths=None):
        """Cells are not parsed: their words are all that layers need."""
        _, head, body = tabledata
        table = nodes.table()
        table["head"] = tuple(_table_rows(head, tableline))
        table["body"] = tuple(_table_rows(body, tableline))
        return table


class _TracingText(_TracingState, states.Text):
    """The states after a first line of text."""

    def literal_block(self):
        """What is indented, or quoted, below `::`."""
        start = self.state_machine.abs_line_offset()
        made = super().literal_block()
        for node in made:
            _mark(node, start, self.state_machine.abs_line_offset() + 1)
        return made

    def definition_list_item(self, termline):
        """A term and its text."""
        start = self.state_machine.abs_line_offset() - 1
        item, blank_finish = super().definition_list_item(termline)
        item["term"] = termline[0].strip()
        return _mark(item, start, self.state_machine.abs_line_offset() + 1), blank_finish


def _traced(state: type[states.RSTState]) -> type[states.RSTState]:
    base = _TracingBody if issubclass(state, states.Body) else _TracingText
    return cast("type[states.RSTState]", type(state.__name__, (base, state), {}))


_STATES = tuple(_traced(state) for state in states.state_classes)


def _table_rows(
    rows: Sequence[Sequence[tuple[int, int, int, Sequence[str]] | None]], line: int
) -> Iterator[TableCells]:
    """`line`: of the table, from 1."""
    for row in rows:
        cells = [" ".join(" ".join(cell[3]).split()) if cell else "" for cell in row]
        offsets = [cell[2] for cell in row if cell]
        if offsets:
            yield TableCells(cells=tuple(cells), line=line - 1 + min(offsets))
