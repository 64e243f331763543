"""Questions with what is right for them: the record, its JSONL form, and the hash that a run names.

One record shape for every source; `evals.formats` brings others into it and out of it. Order is kept everywhere: it is
part of the dataset. The shape is documented for people in `datasets/README.md`. Pydantic, since records come from
outside; a record without a value for a field is not judged on it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ragkit.errors import InvalidInput
from ragkit.routing.contract import AnchorType, ConversationMode, Intent
from ragkit.routing.route import Subintent

MAX_BYTES = 50_000_000
MAX_GRADE = 4
"""The widest scale in common use (TREC's web tracks); a 9 beside them is a slip that would outweigh every other."""

Grade = Annotated[int, Field(ge=0, le=MAX_GRADE, strict=True)]
"""0: judged, and not relevant."""
Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Judgement(_Record):
    """One item and how much it answers."""

    id: Text
    """Public id: `path`, `path#heading/subheading`, `path::qname` or `path:L10-L20`."""
    grade: Grade


class ExpectedAnchor(_Record):
    """An anchor that the router should find."""

    type: AnchorType
    value: Text


class Case(_Record):
    """One question."""

    id: Text
    query: Text
    turns: tuple[Text, ...] = ()
    """Earlier questions of the conversation, the oldest first."""
    language: Annotated[
        Literal["ru", "en", "mixed"] | None, Field(validation_alias=AliasChoices("language", "lang"))
    ] = None
    intent: Intent | None = None
    alt_intents: tuple[Intent, ...] = ()
    """Intents that count as right too."""
    subintent: Subintent | None = None
    mode: ConversationMode | None = None
    profile: str | None = None
    anchors: tuple[ExpectedAnchor, ...] | None = None
    relevant: tuple[Judgement, ...] = ()
    tags: tuple[Text, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _kind_is_a_tag(cls, record: object) -> object:
        """`kind` of older sets is a text, `tags` a list."""
        if not isinstance(record, Mapping):
            return record
        body = dict(cast("Mapping[str, object]", record))
        kind = body.pop("kind", None)
        if "tags" not in body and kind is not None:
            body["tags"] = ([kind] if kind else []) if isinstance(kind, str) else kind
        return body

    @field_validator("subintent", mode="before")
    @classmethod
    def _blank_is_none(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("relevant")
    @classmethod
    def _each_once(cls, value: tuple[Judgement, ...]) -> tuple[Judgement, ...]:
        if len({item.id for item in value}) < len(value):
            raise ValueError("each id once")
        return value

    def to_json(self) -> dict[str, object]:
        """The JSONL record: `id`, `query`, `relevant`, `tags` always, other fields where they have a value."""
        always = {"id", "query", "relevant", "tags"}
        body: dict[str, object] = self.model_dump(mode="json")
        if self.anchors == ():  # judged, and none expected
            always.add("anchors")
        return {name: value for name, value in body.items() if name in always or value not in (None, [])}


class Dataset(_Record):
    """Cases in order."""

    name: str
    cases: tuple[Case, ...]

    @property
    def hash(self) -> str:
        """First 16 hex digits of the SHA-256 of the records: the same for the same records from any format."""
        return hashlib.sha256(to_jsonl(self).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def to_jsonl(dataset: Dataset) -> str:
    """One record a line, in order."""
    return "".join(json.dumps(case.to_json(), ensure_ascii=False) + "\n" for case in dataset.cases)


def from_jsonl(text: str, *, name: str, origin: str) -> Dataset:
    """The dataset of a JSONL text; `origin` names the file in errors.

    Raises: InvalidInput `dataset_line` naming line and field; `dataset_empty`, `dataset_id_twice`.
    """
    return make_dataset(
        (
            case_of(_parsed(line, origin, number), origin=origin, line=number)
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ),
        name=name,
        origin=origin,
    )


def make_dataset(cases: Iterable[Case], *, name: str, origin: str) -> Dataset:
    """A dataset of cases.

    Raises: InvalidInput `dataset_empty`, `dataset_id_twice`.
    """
    made = Dataset(name=name, cases=tuple(cases))
    if not made.cases:
        raise InvalidInput("dataset_empty", origin=origin)
    seen: set[str] = set()
    for case in made.cases:
        if case.id in seen:
            raise InvalidInput("dataset_id_twice", origin=origin, id=case.id)
        seen.add(case.id)
    return made


def case_of(record: object, *, origin: str, line: int) -> Case:
    """One record; `lang` and `kind` of older sets are read as `language` and a tag, unknown fields are passed over.

    Raises: InvalidInput `dataset_line` naming line and field.
    """
    try:
        return Case.model_validate(record)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        raise InvalidInput(
            "dataset_line",
            origin=origin,
            line=line,
            field=".".join(str(part) for part in first["loc"]) or "record",
            found=repr(first["input"])[:80],
            problem=first["msg"],
        ) from invalid


def judgement_of(item: str, grade: str, *, origin: str, line: int) -> Judgement:
    """A judgement from two texts of a table.

    Raises: InvalidInput `dataset_line` for a grade that is no whole number from 0 to `MAX_GRADE`.
    """
    number = int(grade) if grade.strip().isdecimal() else grade
    try:
        return Judgement.model_validate({"id": item, "grade": number})
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        field = str(first["loc"][0])
        found = repr(first["input"])[:80]
        raise InvalidInput(
            "dataset_line", origin=origin, line=line, field=field, found=found, problem=first["msg"]
        ) from invalid


def read_bounded(path: Path) -> str:
    """Text of a file of at most `MAX_BYTES`, UTF-8, with or without a byte order mark.

    Raises: InvalidInput `file_unreadable`.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput("file_unreadable", what="dataset", path=str(path), problem=f"over {MAX_BYTES} bytes")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as broken:
        problem = broken.strerror if isinstance(broken, OSError) else "not UTF-8"
        raise InvalidInput("file_unreadable", what="dataset", path=str(path), problem=problem or "") from broken


def _parsed(line: str, origin: str, number: int) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as broken:
        raise InvalidInput(
            "dataset_line",
            origin=origin,
            line=number,
            field="record",
            found=line.strip()[:80],
            problem="no JSON object",
        ) from broken
