"""Settings come from the environment and go back into it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ragkit import bundle
from ragkit.errors import InvalidInput
from ragkit.settings import Settings, default_data_dir


def test_nothing_set() -> None:
    found = Settings.from_env({})
    assert found == Settings(data_dir=default_data_dir())
    assert (found.database_url, found.keep_requests, found.language, found.read_only) == (None, 1000, "en", False)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no root")
def test_root_keeps_its_data_where_the_server_can_reach_it() -> None:
    """Source: evidence.md."""
    found = default_data_dir()
    assert (found == Path("/var/lib/ragkit")) == (os.geteuid() == 0)


def test_round_trip() -> None:
    given = Settings(
        data_dir=Path("/data/здесь"),
        database_url="postgresql://u:p%20@h/db",
        keep_requests=0,
        pool_size=3,
        statement_timeout_ms=7,
        language="ru",
        read_only=True,
    )
    assert Settings.from_env(given.to_env()) == given
    other = Settings(data_dir=Path("/d"))
    assert Settings.from_env(other.to_env()) == other


@pytest.mark.parametrize(("text", "read_only"), [("", False), ("0", False), ("1", True), ("yes", True)])
def test_read_only(text: str, read_only: bool) -> None:
    assert Settings.from_env({"RAGKIT_READ_ONLY": text}).read_only is read_only


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("RAGKIT_KEEP_REQUESTS", "-1"),
        ("RAGKIT_KEEP_REQUESTS", "1.5"),
        ("RAGKIT_POOL_SIZE", "0"),
        ("RAGKIT_POOL_SIZE", "many"),
        ("RAGKIT_STATEMENT_TIMEOUT_MS", "0"),
        ("RAGKIT_STATEMENT_TIMEOUT_MS", str(2**31)),
        ("RAGKIT_STATEMENT_TIMEOUT_MS", "9" * 20),
        ("RAGKIT_POOL_SIZE", "1001"),
        ("RAGKIT_INDEX_WORKERS", "257"),
        ("RAGKIT_CACHE_MB", str(2**31)),
        ("RAGKIT_KEEP_REQUESTS", str(2**31)),
        ("RAGKIT_LANGUAGE", "de"),
    ],
)
def test_wrong_value_names_the_variable(name: str, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Settings.from_env({name: text})
    sentence = bundle.messages().error(caught.value, "en")
    assert sentence.startswith(f"{name} is '{text}'")
