"""Sessions by project. Spec: MODULE §4 (`RagSessionStore`)."""

from __future__ import annotations

import re
import secrets

from ragkit.errors import InvalidInput, JobError
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

    def exists(self, name: str) -> bool:
        """Whether there is a session of this name or id."""
        return self._repository.session_exists(name)

    def rename(self, name: str, new_name: str) -> None:
        """Call a session by another name; its id stays, so links by id go on.

        Raises: UnknownName, InvalidInput `session_name`, `session_name_taken`.
        """
        if not SESSION_NAME.fullmatch(new_name):
            raise InvalidInput("session_name", session=new_name)
        self._repository.rename_session(self.get(name), new_name)

    def delete(self, name: str) -> None:
        """Delete a session with all that belongs to it.

        Raises: UnknownName; JobError `session_busy` while a job writes into it.
        """
        found = self.get(name)
        with self._repository.jobs.held(found.rag_session_id, found.rag_session_id) as lock:
            if not lock.is_session_free():
                raise JobError("session_busy", session=found.name)
            self._repository.delete_session(found)

    def get(self, name: str) -> SessionRow:
        """The session of this name or id.

        Raises: UnknownName with the names that exist.
        """
        return self._repository.get_session(name)
