"""Every cached function of the UI, and the only place that calls the engine.

`cache_resource` holds what all users share and nobody changes; `cache_data` holds answers, keyed by the whole request
and the revision of the index, so that no argument that changes an answer is hidden from the key.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from evals import evaluation, formats, library
from evals.evaluation import Evaluation, Variant
from ragkit import bundle, service
from ragkit.messages import Messages
from ragkit.retrieval.trace import Trace
from ragkit.service import Ask, RagService, SessionSummary
from ragkit.settings import Settings

ANSWERS_KEPT = 200


@st.cache_resource(show_spinner=False)
def engine() -> RagService:
    """The engine on the database of this process's settings."""
    opened = service.open(Settings.from_env())
    threading.Thread(target=opened.warm_up, name="warm-up", daemon=True).start()
    return opened


@st.cache_resource(show_spinner=False)
def sentences() -> Messages:
    """Sentences of both languages."""
    return bundle.messages()


def sessions() -> list[SessionSummary]:
    """What is indexed, by name; read anew at each rerun, it costs a millisecond."""
    return engine().list_sessions()


def policies() -> list[str]:
    """Policies that can be chosen, bundled ones first."""
    return engine().policies()


def datasets() -> dict[str, Path]:
    """Datasets that can be chosen, the bundled one first."""
    return library.datasets(engine().settings.data_dir)


def evaluate(
    dataset: Path, *, session: str, policies: list[str], limit: int | None, report: Callable[[str, int, int], None]
) -> Evaluation:
    """A dataset under one or two policies; what an earlier run answered is not asked again."""
    return evaluation.evaluate(
        engine(),
        formats.load(dataset),
        [Variant(session=session, policy=policy) for policy in policies],
        limit=limit,
        report=lambda variant, done, total: report(variant.policy, done, total),
    )


def answer(ask: Ask, revision: int) -> Trace:
    """The Trace of a question at a revision of its session."""
    return _answer(ask, revision, bundle.policy(ask.policy, engine().settings.data_dir).hash)


@st.cache_data(show_spinner=False, max_entries=ANSWERS_KEPT)
def _answer(ask: Ask, revision: int, policy_hash: str) -> Trace:
    return engine().answer(ask)
