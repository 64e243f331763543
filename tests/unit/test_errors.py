"""Errors carry code and parts, and know their exit status."""

from __future__ import annotations

import pickle

import pytest

from ragkit import errors
from ragkit.errors import RagkitError


def children(kind: type[RagkitError]) -> set[type[RagkitError]]:
    return {kind, *(found for child in kind.__subclasses__() for found in children(child))}


@pytest.mark.parametrize("kind", sorted(children(RagkitError), key=lambda kind: kind.__name__))
def test_survives_another_process(kind: type[RagkitError]) -> None:
    error = kind("some_code", path="a b", count=3)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.code, again.params) == ("some_code", {"path": "a b", "count": 3})
    assert str(again) == "some_code(path='a b', count=3)"


def test_exit_statuses() -> None:
    """Source: architecture.md: 2 wrong use, 3 could not."""
    for kind in children(errors.WrongUse):
        assert kind.exit_status == 2
    for kind in children(errors.CouldNot):
        assert kind.exit_status == 3
    assert errors.UnknownName in children(errors.WrongUse)
    assert errors.DatabaseError in children(errors.CouldNot)


def test_the_tree_stands_in_the_docstring() -> None:
    for kind in children(RagkitError):
        assert kind.__name__ in (errors.__doc__ or "")
