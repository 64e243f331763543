"""What can go wrong, as data: a code of the message files and the values its sentence needs.

RagkitError
├── WrongUse            the question cannot be asked this way (exit status 2)
│   ├── UnknownName     a session, policy, layer, file … that does not exist
│   ├── InvalidInput    text or a file that does not have the form it must have
│   └── SourceError     the folder to index cannot serve
└── CouldNot            the question is fine, the world is not (exit status 3)
    ├── DatabaseError   the database cannot be reached, or refused
    ├── EmbeddingError  the embedder cannot answer
    ├── JobError        an indexing job was stopped before its end
    └── EnvironmentFault  a folder, port or program of this machine does not serve

Sentences live in `ragkit/messages/*.toml`; nobody parses an error's text, `code` and `params` hold the parts.
"""

from __future__ import annotations

from typing import ClassVar


class RagkitError(Exception):
    """Base of all errors that ragkit raises on purpose."""

    exit_status: ClassVar[int] = 3
    """What the command line exits with."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code, params)
        self.code = code
        """Key of the sentence in the message files, without the `error.` in front."""
        self.params = params
        """What the sentence is about, by name."""

    def __str__(self) -> str:
        details = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{self.code}({details})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.code, self.params))


def _rebuild(kind: type[RagkitError], code: str, params: dict[str, object]) -> RagkitError:
    return kind(code, **params)


class WrongUse(RagkitError):
    """The question cannot be asked this way."""

    exit_status = 2


class UnknownName(WrongUse):
    """A session, policy, layer or file that does not exist."""


class InvalidInput(WrongUse):
    """Text or a file that does not have the form it must have."""


class SourceError(WrongUse):
    """The folder or file to index cannot serve."""


class CouldNot(RagkitError):
    """The question is fine, the world is not."""


class DatabaseError(CouldNot):
    """The database cannot be reached, or refused."""


class EmbeddingError(CouldNot):
    """The embedder cannot answer."""


class JobError(CouldNot):
    """An indexing job was stopped before its end; what the session shows stays as it was."""


class EnvironmentFault(CouldNot):
    """A folder, port or program of this machine does not serve."""


def is_interruption(error: BaseException) -> bool:
    """Whether Ctrl+C is what an error comes from: it may strike inside a library that turns it into one of its own."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        if isinstance(at, KeyboardInterrupt):
            return True
        seen.add(id(at))
        at = at.__cause__ or at.__context__
    return False
