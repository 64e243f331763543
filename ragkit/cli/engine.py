"""The engine as commands use it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragkit.settings import Settings

if TYPE_CHECKING:
    from ragkit.service import RagService


@contextmanager
def opened_engine(settings: Settings) -> Generator[RagService]:
    """An engine, closed at the end; what it needs is imported here, since `--help` needs none of it."""
    from ragkit import service

    with service.opened(settings) as engine:
        yield engine
