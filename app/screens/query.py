"""Screen *Query*: one question, how it was understood, where it was searched, and the ranked rows."""

from __future__ import annotations

import streamlit as st

from app import language, resources, views
from app.view_models import to_answer
from ragkit.errors import RagkitError
from ragkit.service import Ask

say = language.chosen()

# read: what is there, and the widgets that the URL holds
try:
    sessions = {summary.session: summary for summary in resources.sessions() if summary.revision}
    policies = resources.policies()
except RagkitError as error:
    views.show_error(error, say)
    st.stop()
if not sessions:
    views.show_nothing_indexed(say)
    st.stop()

with st.sidebar:
    session = views.choose("session", list(sessions), say)
    policy = views.choose("policy", policies, say)
    limit = views.choose_limit(say)
    views.show_session(sessions[session], say)

text = st.text_input(
    say("ui.query"),
    key="q",
    placeholder=say("ui.query_placeholder"),
    max_chars=20_000,
    on_change=views.forget_row,
    bind="query-params",
)
if not text or not text.strip():
    views.show_examples(say, key="q")
    st.stop()

# build, call
ask = Ask(query=text, session=session, policy=policy, limit=limit)
try:
    with st.spinner(say("ui.searching")):
        trace = resources.answer(ask, sessions[session].revision)
except RagkitError as error:
    views.show_error(error, say)
    st.stop()

# turn, show
views.show_answer(to_answer(trace, say), say)
