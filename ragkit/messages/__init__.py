"""Reasons are data; sentences are made here, by one renderer for browser, command line and report.

A `Reason` carries a code and the values of its sentence. `en.toml` and `ru.toml` hold one sentence a code, grouped in
tables (`[error]`, `[cue]`, `[ui]` …); a code is `table.key`. Both files must hold the same codes with the same
placeholders: `Messages` refuses them otherwise, so a missing translation can never reach a screen.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from ragkit.errors import InvalidInput, RagkitError

Language = Literal["en", "ru"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
SHOWN_CHARS = 200
"""Of one value in a sentence. Paths of real projects fit; a name of 50,000 characters is told by its two ends."""
SHOWN_ITEMS = 30
"""Of a list in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Where in the raw query something stands, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One thing that was decided, and by what."""

    code: str
    """Key of the sentence, such as `cue.explicit_code`."""
    params: Mapping[str, object] = field(default_factory=dict[str, object])
    """Values of the sentence, JSON types only."""
    span: Span | None = None
    """The words of the query that it speaks of, if it speaks of any."""

    def to_json(self) -> dict[str, object]:
        """`{code, params}` and, where it has one, `span`."""
        body: dict[str, object] = {"code": self.code, "params": dict(self.params)}
        if self.span is not None:
            body["span"] = {"start": self.span.start, "end": self.span.end}
        return body


def reason_from_json(body: Mapping[str, object]) -> Reason:
    """The reason that `Reason.to_json` wrote."""
    span = cast("Mapping[str, int] | None", body.get("span"))
    return Reason(
        code=str(body["code"]),
        params=cast("Mapping[str, object]", body.get("params", {})),
        span=None if span is None else Span(start=span["start"], end=span["end"]),
    )


class Messages:
    """The sentences of both languages."""

    def __init__(self, *, en: str, ru: str) -> None:
        """Parse the two message files.

        Raises: InvalidInput when a code or a placeholder stands in one of them alone.
        """
        self._sentences: dict[Language, dict[str, str]] = {"en": _flatten(en), "ru": _flatten(ru)}
        missing = sorted(set(self._sentences["en"]) ^ set(self._sentences["ru"]))
        if missing:
            raise InvalidInput("messages_incomplete", codes=missing)
        uneven = [
            code
            for code, sentence in self._sentences["en"].items()
            if _placeholders(sentence) != _placeholders(self._sentences["ru"][code])
        ]
        if uneven:
            raise InvalidInput("messages_incomplete", codes=uneven)

    def codes(self) -> tuple[str, ...]:
        """Every code, sorted."""
        return tuple(sorted(self._sentences["en"]))

    def sentence(self, code: str, language: Language, **params: object) -> str:
        """The sentence of a code with its values filled in; a list is joined by commas.

        An unknown code answers with itself: a screen must not fail over a sentence (a test holds the files complete).
        """
        template = self._sentences[language].get(code)
        if template is None:
            return f"{code} {params}" if params else code
        return _Lenient().vformat(template, (), {name: _shown(value) for name, value in params.items()})

    def render(self, reason: Reason, language: Language) -> str:
        """The sentence of a reason."""
        return self.sentence(reason.code, language, **reason.params)

    def error(self, error: RagkitError, language: Language) -> str:
        """The sentence of an error."""
        return self.sentence(f"error.{error.code}", language, **error.params)


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        items = cast("list[object]", value)
        more = ["…"] if len(items) > SHOWN_ITEMS else []
        return ", ".join([*(shortened(str(item)) for item in items[:SHOWN_ITEMS]), *more]) or "–"
    return shortened(str(value))


def shortened(text: str) -> str:
    """At most `SHOWN_CHARS` characters, the middle taken out."""
    if len(text) <= SHOWN_CHARS:
        return text
    end = SHOWN_CHARS // 4
    return f"{text[: SHOWN_CHARS - 1 - end]}…{text[-end:]}"


class _Lenient(string.Formatter):
    """Leaves a placeholder without a value as it stands."""

    def get_value(self, key: int | str, args: object, kwargs: Mapping[str, object]) -> object:
        return kwargs.get(str(key), "{" + str(key) + "}")


def _placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def _flatten(text: str) -> dict[str, str]:
    tables = cast("Mapping[str, Mapping[str, str]]", tomllib.loads(text))
    return {f"{table}.{key}": sentence for table, rows in tables.items() for key, sentence in rows.items()}
