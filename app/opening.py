"""What every screen begins with: the reader's sentences and what is indexed, or a page that says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from app import language, resources, views
from app.view_models import Say
from ragkit.errors import RagkitError
from ragkit.service import SessionSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Sentences, sessions that hold something, and policies."""

    say: Say
    sessions: dict[str, SessionSummary]
    policies: list[str]


def open_screen() -> Opening:
    """The opening; ends the screen with a sentence where there is nothing to show or the engine cannot answer."""
    say = language.chosen()
    try:
        sessions = {summary.session: summary for summary in resources.sessions() if summary.revision}
        policies = resources.policies()
    except RagkitError as error:
        stop_with(error, say)
    if not sessions:
        views.show_nothing_indexed(say)
        st.stop()
    return Opening(say=say, sessions=sessions, policies=policies)


def stop_with(error: RagkitError, say: Say) -> Any:
    """Show an error and end the screen."""
    views.show_error(error, say)
    st.stop()
