"""An OpenAPI 3 or Swagger 2 file as YAML nodes, which know their lines: what `openapi` makes rows of.

Nothing is built into objects; size, depth and aliases are bounded before the nodes are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast
from urllib.parse import unquote

import yaml

from ragkit.indexing.docs.front_matter import first_excess

_MARK = re.compile(r"""(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.\d""", re.MULTILINE)
_HEAD_CHARS = 2_000
_OUTER_YAML = re.compile(r"""^["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.\d""", re.MULTILINE)
_OUTER_JSON = re.compile(r"""^[ \t]{1,4}"(?:openapi|swagger)"\s*:\s*"[23]\.\d""", re.MULTILINE)
_HAS_PATHS = re.compile(r"""^[ \t]{0,4}["']?(?:paths|webhooks)["']?\s*:|"paths"\s*:""", re.MULTILINE)
_MAX_CHARS = 2_000_000
_MAX_DEPTH = 60
_MAX_ALIASES = 500

_NO_LINE_ENDS: dict[int, str] = {0x0D: " ", 0x85: " ", 0x2028: " ", 0x2029: " "}
"""Line ends to YAML and none to us: they would shift every line below."""

_MAX_CHAIN = 10
"""Of references to references; a longer one goes in a circle."""

_COMBINED = ("allOf", "oneOf", "anyOf")
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml where PyYAML was built with it: ten times as fast, the same nodes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text is not read as YAML."""

    line: int
    """From 0."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method of a path."""

    title: str
    """`METHOD /path`."""
    node: yaml.MappingNode
    shared: yaml.Node | None
    """Parameters of the path, for all its operations."""
    start: int
    """Line, from 0."""
    end: int
    """Line after the last."""


def is_openapi(text: str) -> bool:
    """Whether a YAML or JSON text is an OpenAPI or Swagger file: its version stands among the first keys, or it is an
    outer key further below beside `paths` (a file may begin with its licence or a long description).
    """
    head = text[:_HEAD_CHARS]
    match = _MARK.search(head)
    is_json = head.lstrip().startswith("{")
    if match is not None:
        if is_json:
            return head[: match.end()].count("{") - head[: match.start()].count("}") <= 2
        if match[0].lstrip("\n")[0] not in " \t{,":
            return True
    later = (_OUTER_JSON if is_json else _OUTER_YAML).search(text)
    return later is not None and _HAS_PATHS.search(text) is not None


def compose(text: str) -> yaml.Node | Problem | None:
    """The root node; None for a text without one."""
    if len(text) > _MAX_CHARS:
        return Problem(0, f"longer than {_MAX_CHARS} characters")
    try:
        text = text.translate(_NO_LINE_ENDS).removesuffix("\n") + "\n"
        excess = first_excess(text, max_depth=_MAX_DEPTH, max_aliases=_MAX_ALIASES, loader=_LOADER)
        if excess:
            return Problem(*excess)
        # What follows `---` is another document.
        return next(cast("Iterator[yaml.Node]", yaml.compose_all(text, Loader=_LOADER)), None)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Problem(mark.line if mark else 0, error.problem or type(error).__name__)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return Problem(0, type(error).__name__)


def items(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """Key, key node, value node of a mapping."""
    if isinstance(node, yaml.MappingNode):
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            if isinstance(key, yaml.ScalarNode):
                yield key.value, key, value


def child(node: yaml.Node | None, name: str) -> yaml.Node | None:
    return next((value for key, _, value in items(node) if key == name), None)


def mapping(node: yaml.Node | None) -> yaml.MappingNode | None:
    return node if isinstance(node, yaml.MappingNode) else None


def members(node: yaml.Node | None) -> list[yaml.Node]:
    return cast("list[yaml.Node]", node.value) if isinstance(node, yaml.SequenceNode) else []


def string(node: yaml.Node | None) -> str | None:
    if not isinstance(node, yaml.ScalarNode):
        return None
    return " ".join(cast("str", node.value).split()) or None


def lines_of(first: yaml.Node, last: yaml.Node) -> tuple[int, int]:
    """Lines from the start of one node to the end of another, from 0, end exclusive.

    A block's own end mark is where the next token begins, so its last leaf is asked; an alias ends where it is named.
    """
    line = first.start_mark.line
    node = last
    for _ in range(_MAX_DEPTH):
        if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
            key, value = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)[-1]
            line = max(line, key.start_mark.line)
        elif isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
            value = cast("list[yaml.Node]", node.value)[-1]
        else:
            break
        if value.start_mark.index < node.start_mark.index:
            return first.start_mark.line, line + 1
        node = value
    end = cast("yaml.Mark", node.end_mark)
    is_block_scalar = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    return first.start_mark.line, max(line + 1, end.line + (0 if is_block_scalar else 1))


class References:
    """Looks up `$ref` inside the file; others (of another file, dangling, in a circle) lead nowhere."""

    def __init__(self, root: yaml.MappingNode) -> None:
        self._root = root
        self._children: dict[int, dict[str, yaml.Node]] = {}

    def resolve(self, node: yaml.Node | None) -> yaml.Node | None:
        """The node that is meant: the last of a chain, or the node itself where it refers to nothing that is here."""
        current = node
        for _ in range(_MAX_CHAIN):
            target = string(self._child(current, "$ref"))
            if target is None:
                return current
            found = self._at(target)
            if found is None:
                return node
            current = found
        return node

    def _at(self, target: str) -> yaml.Node | None:
        if not target.startswith("#/"):
            return None
        current: yaml.Node | None = self._root
        for part in target[2:].split("/"):
            current = self._child(current, unquote(part).replace("~1", "/").replace("~0", "~"))
        return current

    def _child(self, node: yaml.Node | None, name: str) -> yaml.Node | None:
        if not isinstance(node, yaml.MappingNode):
            return None
        known = self._children.get(id(node))
        if known is None:
            known = self._children[id(node)] = {key: value for key, _, value in items(node)}
        return known.get(name)


def operations_of(root: yaml.MappingNode, references: References) -> Iterator[Operation]:
    """Methods of the paths in order, then those of the webhooks (OpenAPI 3.1): `POST webhook newOrder`."""
    for group, word in (("paths", ""), ("webhooks", "webhook ")):
        for path, _, written in items(child(root, group)):
            methods = references.resolve(written)
            shared = child(methods, "parameters")
            for method, key, node in items(methods):
                if method.lower() in _METHODS and isinstance(node, yaml.MappingNode) and not path.startswith("x-"):
                    start, end = lines_of(key, node)
                    yield Operation(
                        title=f"{method.upper()} {word}{path}", node=node, shared=shared, start=start, end=end
                    )


def statements_of(operation: Operation, references: References) -> Iterator[tuple[str, str, yaml.Node, yaml.Node]]:
    """Predicate, object and the nodes where it begins and ends: parameters, request, responses and their schemas.

    What `$ref` stands for is named by what it refers to, and shown where the operation refers to it. A parameter of the
    path that the operation declares again counts once.
    """
    own = members(child(operation.node, "parameters"))
    declared = {_parameter(references.resolve(node)) for node in own}
    shared = [node for node in members(operation.shared) if _parameter(references.resolve(node)) not in declared]
    for written in (*shared, *own):
        node = references.resolve(written)
        name, place = string(child(node, "name")), string(child(node, "in"))
        reference = _reference(written)
        if place == "body":
            yield "request_schema", _schema_name(child(node, "schema")) or name or "body", written, written
        elif name:
            yield "parameter", f"{name} ({place})" if place else name, written, written
        elif reference:
            yield "parameter", reference, written, written
    for predicate, schema, node in _schemas("request_schema", child(operation.node, "requestBody"), references):
        yield predicate, schema, node, node
    for status, key, written in items(child(operation.node, "responses")):
        said = string(child(references.resolve(written), "description")) or _reference(written)
        yield "response", f"{status} — {said}" if said else status, key, written
        for predicate, schema, _ in _schemas("response_schema", written, references):
            yield predicate, f"{status} — {schema}", key, written


def _parameter(node: yaml.Node | None) -> tuple[str | None, str | None] | int:
    """What tells parameters apart; one without a name is like no other."""
    name = string(child(node, "name"))
    return id(node) if name is None else (name, string(child(node, "in")))


def _schemas(predicate: str, written: yaml.Node | None, references: References) -> Iterator[tuple[str, str, yaml.Node]]:
    """Names of the schemas of a body, by media type (OpenAPI 3) or directly (Swagger 2)."""
    if written is None:
        return
    node = references.resolve(written)
    found: dict[str, None] = {}
    for holder in (node, *(media for _, _, media in items(child(node, "content")))):
        schema = child(holder, "schema")
        for part in (schema, *(one for word in _COMBINED for one in members(child(schema, word)))):
            name = _schema_name(part)
            if name is not None:
                found[name] = None
    if not found and predicate == "request_schema" and (reference := _reference(written)) is not None:
        found[reference] = None
    for name in found:
        yield predicate, name, written


def _schema_name(node: yaml.Node | None) -> str | None:
    """The name that a schema refers to; of a list, `[name]`."""
    reference = _reference(node)
    if reference is not None:
        return reference
    inner = _reference(child(node, "items"))
    return f"[{inner}]" if inner else None


def _reference(node: yaml.Node | None) -> str | None:
    """The last part of `$ref`."""
    target = string(child(node, "$ref"))
    return target.rpartition("/")[2] if target else None
