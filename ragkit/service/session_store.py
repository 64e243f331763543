"""Sessions by project. Spec: MODULE §4 (`RagSessionStore`)."""

from __future__ import annotations

import re
import secrets

from ragkit.errors import InvalidInput
from ragkit.postgres.repository import RagRepository
from ragkit.postgres.rows import SessionRow

SESSION_NAME = re.compile(r"[\w][\w.@ -]{0,99}")


class RagSessionStore:
    """Makes and finds sessions. A session is called by its name or by its id."""

    def __init__(self, repository: RagRepository) -> None:
        self._repository = repository

    def create(self, project_id: str, name: str | None = None) -> str:
        """The `rag_session_id` of the session of this name (the project's, where none is given), made if need be.

        Raises: InvalidInput `session_name` for a name that is empty, too long or holds other than letters, digits,
        space and `. _ - @`.
        """
        return self.obtain(project_id, name or project_id).rag_session_id

    def obtain(self, project_id: str, name: str) -> SessionRow:
        """The session of this name, made if there is none."""
        if not SESSION_NAME.fullmatch(name):
            raise InvalidInput("session_name", session=name)
        if self._repository.session_exists(name):
            return self._repository.get_session(name)
        return self._repository.upsert_session(f"s-{secrets.token_hex(8)}", name=name, project_id=project_id)

    def get(self, name: str) -> SessionRow:
        """The session of this name or id.

        Raises: UnknownName with the names that exist.
        """
        return self._repository.get_session(name)
