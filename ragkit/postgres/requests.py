"""Questions that were asked, kept per session and bounded. Spec: MODULE §1; system.md §5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from psycopg.types.json import Jsonb

from ragkit.postgres import statements
from ragkit.postgres.database import Database


class RequestTable:
    """Rows of `rag_request`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        rag_session_id: str,
        request_id: str,
        *,
        query: str,
        contract: Mapping[str, object],
        plans: Sequence[Mapping[str, object]],
        result_ids: Sequence[str],
        timings: Mapping[str, object],
        keep: int,
    ) -> None:
        """Keep a request, and of all of the session's the newest `keep`."""
        with self._database.writing() as connection:
            connection.execute(
                statements.INSERT_REQUEST,
                {
                    "session": rag_session_id,
                    "request": request_id,
                    "query": query.replace("\0", "").encode("utf-8", "replace").decode(),
                    "contract": Jsonb(_storable(contract)),
                    "plans": Jsonb(_storable(plans)),
                    "result_ids": list(result_ids),
                    "timings": Jsonb(dict(timings)),
                },
            )
            connection.execute(statements.BOUND_REQUESTS, {"session": rag_session_id, "keep": keep})


def _storable(value: object) -> object:
    """JSON that PostgreSQL takes: its text knows neither NUL nor lone surrogates, which a raw query may hold."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {str(key): _storable(item) for key, item in cast("Mapping[str, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_storable(item) for item in cast("Sequence[object]", value)]
    return value
