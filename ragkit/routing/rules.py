"""The router's data: cues, key terms, names, layer tables; read from two TOML texts and checked.

`cues.toml` says what a question wants, `terms.toml` which words are known. Pydantic, because a user edits copies of
both: a wrong or missing key is refused by name. Nothing here knows how a rule is applied.
"""

from __future__ import annotations

import tomllib
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ragkit.errors import InvalidInput, UnknownName
from ragkit.layers import Layer, layer_of
from ragkit.routing.contract import Intent, LayerQuery

EvidenceFlag = Literal["require_def", "require_flow", "require_spec"]
Phrases = tuple[str, ...]
Words = tuple[str, ...]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cue(_Table):
    """Words or anchors that speak for an intent."""

    code: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    """The reason is `cue.<code>`."""
    intent: Intent
    weight: float
    breaks: tuple[Intent, ...] = ()
    """Active intents that the cue plainly does not fit: it ends their topic. Spec: ROUTER §3."""
    breaks_full: tuple[Intent, ...] = ()
    """The same, but not in an elliptical follow-up («а для OrderService?»)."""
    unless: tuple[str, ...] = ()
    """Codes of cues that silence this one."""
    ru: Phrases = ()
    en: Phrases = ()
    anchors: Phrases = ()
    """Phrases of anchors alone, the same in every language."""

    @property
    def phrases(self) -> Phrases:
        """All phrases of the cue."""
        return (*self.ru, *self.en, *self.anchors)


class Term(_Table):
    """A key term: what its forms are, and what it brings. Spec: ROUTER §4.2, §6."""

    subtype: str
    ru: Phrases
    en: Phrases
    expansions: Words
    layers: tuple[Layer, ...] = ()
    evidence: dict[EvidenceFlag, tuple[Intent, ...]] = {}

    @field_validator("layers", mode="before")
    @classmethod
    def _canonical(cls, names: list[str]) -> tuple[Layer, ...]:
        return tuple(_layer(name) for name in names)


class SymbolWords(_Table):
    """What tells a symbol from a word."""

    nouns_ru: Words
    nouns_en: Words
    owners_ru: Words
    links: Words
    about: Words
    keywords: Words
    builtins: Words
    decorators: Words
    plurals: Words
    products: Words
    words: Words


class OtherPaths(_Table):
    """Extensions without a programming language."""

    documents: Words
    files: Words


class PathWords(_Table):
    """What tells a path or an endpoint from a word."""

    code: dict[str, Words]
    """Language → extensions."""
    other: OtherPaths
    names: Words
    dot_names: Words
    roots: Words
    halves: Words
    nouns: Words
    disk_roots: Words
    served: Words
    receivers: Words
    attributes: Words
    hosts: Words
    http_methods: Words
    root_before: Words
    root_not_after: Words


class DocumentWords(_Table):
    """What names a document or a section of one."""

    nouns: Words
    names: Words
    series: Words


class Choice(_Table):
    """How cues become one intent, and when a topic ends."""

    default: Intent
    """Where no cue decides."""
    default_weight: float
    tie_order: tuple[Intent, ...]
    """Equal sums: the first of these wins."""

    @model_validator(mode="after")
    def _complete(self) -> Choice:
        if len(set(self.tie_order)) != 4 or len(self.tie_order) != 4:
            raise ValueError("tie_order must name each intent once")
        return self


class Conversation(_Table):
    """Phrases of a dialogue. Spec: ROUTER §3."""

    switch: Phrases
    """An explicit change of topic or task."""
    elliptical: Phrases
    """Marks of a follow-up that leans on what was said before."""
    carried_confidence: Annotated[float, Field(gt=0, le=1)]
    """Factor on the confidence of an anchor that the conversation gives."""


class FindFiles(_Table):
    """When a question asks where something lies."""

    ru: Phrases
    en: Phrases
    except_: Annotated[Phrases, Field(alias="except")]
    """Questions about use, not about place."""


class LanguageFilter(_Table):
    """Where `{language}` stands for a programming language: «на {language}»."""

    phrases: Phrases


class Depth(_Table):
    """Candidate depths of layers."""

    prefer_factor: Annotated[float, Field(ge=1)]
    """Factor on the depth of a layer that a key term prefers."""


class Tests(_Table):
    """When tests are asked for."""

    only: Phrases
    """The question wants tests alone; any other mention of tests includes them."""
    paths: Words
    """Path segments of tests."""


class RoutingRules(_Table):
    """Everything that the router decides by."""

    version: Literal[1]
    choice: Choice
    lists: dict[str, Words]
    """Named lists of words, for phrases."""
    polite: Words
    """Words in front of a request that do not count."""
    mask: Phrases
    """Phrases whose words mean something else: «код ошибки» is no source code."""
    cue: tuple[Cue, ...]
    conversation: Conversation
    find_files: FindFiles
    tests: Tests
    language_filter: LanguageFilter
    depth: Depth
    layers: dict[Intent, tuple[LayerQuery, ...]]
    """Intent → layers and candidate depths, the preferred first. Spec: MODULE §6."""
    term: tuple[Term, ...]
    symbols: SymbolWords
    paths: PathWords
    documents: DocumentWords
    languages: dict[str, Words]

    @field_validator("layers", mode="before")
    @classmethod
    def _layer_queries(cls, tables: dict[str, list[list[object]]]) -> dict[str, list[dict[str, object]]]:
        return {
            intent: [{"layer_id": _layer(str(name)).value, "top_k": top_k} for name, top_k in rows]
            for intent, rows in tables.items()
        }

    @model_validator(mode="after")
    def _consistent(self) -> RoutingRules:
        codes = [cue.code for cue in self.cue]
        twice = sorted({code for code in codes if codes.count(code) > 1})
        if twice:
            raise ValueError(f"cue.code stands twice: {twice}")
        unknown = sorted({other for cue in self.cue for other in cue.unless} - set(codes))
        if unknown:
            raise ValueError(f"cue.unless names no cue: {unknown}")
        return self

    @classmethod
    def parse(cls, cues_toml: str, terms_toml: str, own_toml: str = "") -> RoutingRules:
        """The rules of the two files, with a user's own terms and cues; an own cue replaces the one of its code.

        Raises: InvalidInput with `file`, the dotted `key` and what was found there.
        """
        cues = _toml(cues_toml, "cues.toml")
        terms = _toml(terms_toml, "terms.toml")
        own = _own(own_toml)
        both = sorted(cues.keys() & terms.keys())
        if both:
            raise InvalidInput("data_file", file="terms.toml", key=both[0], found="a table of cues.toml")
        merged = {
            "cue": _with_own_cues(cues.get("cue"), own.cue),
            "term": [*_list(terms.get("term")), *own.term],
        }
        try:
            return cls.model_validate({**cues, **terms, **merged})
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            file = "terms.toml" if str(first["loc"][:1] and first["loc"][0]) in terms else "cues.toml"
            raise InvalidInput("data_file", file=file, key=key, found=first["msg"]) from error


class _Own(_Table):
    """A user's file: nothing but further terms and cues."""

    term: tuple[Term, ...] = ()
    cue: tuple[Cue, ...] = ()


def _own(text: str) -> _Own:
    try:
        return _Own.model_validate(_toml(text, "routing.toml"))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InvalidInput("data_file", file="routing.toml", key=key, found=first["msg"]) from error


def _with_own_cues(cues: object, own: tuple[Cue, ...]) -> list[object]:
    """In the order of the file; own ones in the place of those that they replace, new ones at the end."""
    mine = {cue.code: cue for cue in own}
    kept = [mine.pop(str(row["code"]), row) for row in cast("list[dict[str, object]]", _list(cues))]
    return [*kept, *mine.values()]


def _list(rows: object) -> list[object]:
    return cast("list[object]", rows) if isinstance(rows, list) else []


def _toml(text: str, file: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput("data_file", file=file, key="", found=str(error)) from error


def _layer(name: str) -> Layer:
    try:
        return layer_of(name)
    except UnknownName as error:
        raise ValueError(f"no layer {name!r}") from error
