"""Every reason and warning of indexing has its sentence in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragkit.messages
from ragkit.indexing.exclusions import LEFT_OUT_REASONS
from ragkit.messages import Messages

WARNINGS = ("front_matter_invalid", "long_line", "python_syntax", "syntax_errors", "syntax_unread")
ERRORS = ("source_missing", "source_not_folder", "source_not_git", "revision_unknown")
CODES = (
    *(f"left_out.{reason}" for reason in LEFT_OUT_REASONS),
    *(f"warning.{code}" for code in WARNINGS),
    *(f"error.{code}" for code in ERRORS),
)


@pytest.fixture(scope="module")
def messages() -> Messages:
    folder = Path(ragkit.messages.__file__).parent
    return Messages(en=(folder / "en.toml").read_text("utf-8"), ru=(folder / "ru.toml").read_text("utf-8"))


@pytest.mark.parametrize("code", CODES)
def test_code_has_a_sentence(messages: Messages, code: str) -> None:
    assert code in messages.codes()


def test_a_warning_names_file_and_line(messages: Messages) -> None:
    sentence = messages.sentence("warning.python_syntax", "en", path="a.py", line=3, problem="invalid syntax")
    assert sentence.startswith("a.py:3: ")
    assert "{" not in sentence
