"""YAML front matter as plain lists of strings under the names that the layers know.

Scalars stay the strings that were written (`version: 1.10` is no number, `status: no` no truth value), so the loader is
YAML's base one, which builds nothing but strings, lists and mappings. Size, depth and aliases are bounded before
anything is built: a bomb costs its front matter, never the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import yaml

_MAX_CHARS = 65_536
_MAX_DEPTH = 20
_MAX_ALIASES = 50
_MAX_VALUES = 200
"""Of one attribute."""

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "module_id": ("module_id", "id", "module", "doc_id", "document_id", "uid"),
    "type": ("type", "doc_type", "document_type", "kind", "content_type", "page_type", "тип"),
    "domain": ("domain", "process_domain", "bounded_context", "домен"),
    "subdomain": ("subdomain", "process_subdomain", "поддомен"),
    "title": ("title", "name", "heading", "page_title", "заголовок", "название"),
    "status": ("status", "state", "lifecycle", "статус"),
    "version": ("version", "revision", "версия"),
    "tags": ("tags", "tag", "keywords", "keyword", "labels", "categories", "category", "topics", "теги", "метки"),
    "owners": (
        "owners", "owner", "authors", "author", "maintainers", "maintainer", "team", "deciders", "decision_makers",
        "owning_sig", "владельцы", "владелец", "ответственные", "ответственный", "авторы", "автор", "команда",
    ),
    "links": ("links", "link", "related", "related_docs", "see_also", "references"),
    "calls_api": ("calls_api", "calls", "calls_apis"),
    "called_by": ("called_by", "callers"),
    "uses_logic": ("uses_logic", "uses", "depends_on", "dependencies"),
    "used_by": ("used_by", "dependents"),
    "reads_db": ("reads_db", "reads", "reads_tables"),
    "writes_db": ("writes_db", "writes", "writes_tables"),
    "integrates_with": ("integrates_with", "integrations", "integration"),
    "emits_events": ("emits_events", "emits", "publishes", "produces_events"),
    "consumes_events": ("consumes_events", "consumes", "subscribes", "listens_to"),
    "applies_to": ("applies_to", "scope"),
    "trigger": ("trigger", "triggers", "triggered_by"),
    "steps": ("steps",),
    "participants": ("participants", "actors", "roles"),
    "summary": ("summary", "summary_text", "description", "abstract", "excerpt", "lead", "описание", "аннотация"),
    "aliases": ("aliases", "alias", "aka", "synonyms", "синонимы"),
}  # fmt: skip
"""Attribute → keys that people write for it, the first that is there counts; case, `-`, `_` and spaces are ignored."""

_GROUPS = ("relations", "relationships", "metadata", "meta")
"""Mappings whose keys count as if they stood outside."""

_TARGET_KEYS = ("id", "target", "ref", "path", "url", "href", "name", "title", "value")
"""What stands for an item of a list when the item is a mapping."""

_PERSON_KEYS = ("name", "id", "login", "team", "email", "title", "value")
"""The same for people, whose address says less than their name."""

_COMMA_LISTS = frozenset({"tags", "owners", "aliases", "participants"})

_ADDRESS = re.compile(r"/|\w+://")
"""How an alias begins that is no name: Hugo and Jekyll keep a page's old addresses under `aliases`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What the front matter says; empty where there is none."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Attribute → values as written, never empty."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attribute → the key it was written under, folded."""
    lines: tuple[int, int] | None = None
    """Where it stands, fences included: from 0, end exclusive."""
    invalid_line: int | None = None
    """Line of the file, from 1, where it stops being valid; None when it is valid."""
    problem: str = ""
    """What is wrong there, in the words of the YAML library."""

    def first(self, attribute: str) -> str | None:
        """The first value of an attribute."""
        values = self.values.get(attribute)
        return values[0] if values else None

    def all(self, attribute: str) -> list[str]:
        """All values of an attribute, in order."""
        return list(self.values.get(attribute, ()))

    def places(self, attribute: str, lines: Sequence[str]) -> list[tuple[str, int, int]]:
        """Each value of an attribute with its lines in `lines` (the file's): from 0, end exclusive. A value that is not
        written on one line has all lines of its key.
        """
        values = self.values.get(attribute, ())
        if not values or self.lines is None:
            return []
        start, end = _lines_of_key(self.keys[attribute], lines, *self.lines)
        at = ((value, next((n for n in range(start, end) if value in lines[n]), None)) for value in values)
        return [(value, start, end) if line is None else (value, line, line + 1) for value, line in at]


@dataclass(frozen=True, slots=True)
class _Problem:
    line: int
    text: str


def read_front_matter(text: str, start: int, end: int) -> FrontMatter:
    """The front matter whose YAML is `text`, fenced by the lines `start` and `end - 1`."""
    document = _loaded(text)
    if isinstance(document, _Problem):
        return FrontMatter(lines=(start, end), invalid_line=start + 2 + document.line, problem=document.text)
    if document is None or document == "":
        return FrontMatter(lines=(start, end))
    if not isinstance(document, dict):
        return FrontMatter(lines=(start, end), invalid_line=start + 2, problem="no mapping")
    values, keys = _values(cast("dict[object, object]", document))
    return FrontMatter(values=values, keys=keys, lines=(start, end))


def front_matter_of(fields: Mapping[str, str | list[str]], lines: tuple[int, int]) -> FrontMatter:
    """What name → text says, of a format that has fields instead of YAML; `lines`: where it stands."""
    values, keys = _values(cast("dict[object, object]", dict(fields)))
    return FrontMatter(values=values, keys=keys, lines=lines)


def _lines_of_key(key: str, lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The line of a key and what is indented below it or listed; all lines when the key is not found as written."""
    for number in range(start + 1, end - 1):
        name, colon, _ = lines[number].partition(":")
        if colon and _folded(name.strip().strip("\"'")) == key:
            indent = len(name) - len(name.lstrip())
            last = number + 1
            while last < end - 1 and _is_below(lines[last], indent):
                last += 1
            return number, last
    return start, end


def _is_below(line: str, indent: int) -> bool:
    depth = len(line) - len(line.lstrip())
    return depth > indent or (depth == indent and line.lstrip().startswith("- "))


def _loaded(text: str) -> object:
    if len(text) > _MAX_CHARS:
        return _Problem(0, f"longer than {_MAX_CHARS} characters")
    try:
        excess = first_excess(text, max_depth=_MAX_DEPTH, max_aliases=_MAX_ALIASES)
        return _Problem(*excess) if excess else yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return _Problem(mark.line if mark else 0, error.problem or type(error).__name__)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return _Problem(0, type(error).__name__)


def first_excess(
    text: str, *, max_depth: int, max_aliases: int, loader: type[yaml.BaseLoader] = yaml.BaseLoader
) -> tuple[int, str] | None:
    """The first line (from 0) where YAML grows too deep or repeats itself too often, and what is wrong; parsing builds
    nothing yet.

    Raises: yaml.YAMLError when the text is no YAML.
    """
    depth = aliases = 0
    for event in cast("Iterator[yaml.Event]", yaml.parse(text, Loader=loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
        if depth > max_depth or aliases > max_aliases:
            what = f"nested deeper than {max_depth}" if depth > max_depth else f"more than {max_aliases} aliases"
            return event.start_mark.line, what
    return None


def _values(document: dict[object, object]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Attribute → values, and attribute → folded key."""
    by_key = {_folded(key): value for key, value in document.items()}
    for group in _GROUPS:
        inner = by_key.get(group)
        if isinstance(inner, dict):
            for key, value in cast("dict[object, object]", inner).items():
                by_key.setdefault(_folded(key), value)
    found: dict[str, tuple[str, ...]] = {}
    keys_found: dict[str, str] = {}
    for attribute, keys in _ALIASES.items():
        for key in keys:
            values = tuple(_strings(by_key.get(_folded(key)), attribute))
            if values:
                found[attribute] = values
                keys_found[attribute] = _folded(key)
                break
    return found, keys_found


def _folded(key: object) -> str:
    return str(key).lower().replace("_", "").replace("-", "").replace(" ", "")


def attribute_of(key: str) -> str | None:
    """The attribute that a key of front matter, or a word before a colon in the text, stands for."""
    return _ATTRIBUTE_OF_KEY.get(_folded(key))


def values_of(attribute: str, text: str) -> list[str]:
    """The values of an attribute that are written in one string."""
    return list(_strings(text, attribute))


def _strings(value: object, attribute: str) -> Iterator[str]:
    """Strings of a scalar, a list, or a list of mappings with a known key; deeper nesting is not followed."""
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    for item in items[:_MAX_VALUES]:
        scalar = _scalar(item, _PERSON_KEYS if attribute == "owners" else _TARGET_KEYS)
        if scalar is None:
            continue
        for part in scalar.split(",") if attribute in _COMMA_LISTS else [scalar]:
            stripped = part.strip()
            is_address = attribute == "aliases" and _ADDRESS.match(stripped)
            if stripped and stripped not in ("~", "null") and not is_address:
                yield stripped


def _scalar(item: object, keys: Sequence[str]) -> str | None:
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        by_key = {_folded(key): value for key, value in cast("dict[object, object]", item).items()}
        for key in keys:
            value = by_key.get(key)
            if isinstance(value, str):
                return value
    return None


_ATTRIBUTE_OF_KEY: Mapping[str, str] = {_folded(key): name for name, keys in _ALIASES.items() for key in keys}
