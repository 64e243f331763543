"""Screen *Query*: one question, how it was understood, where it was searched, and the ranked rows."""

from __future__ import annotations

import streamlit as st

from app import resources, views
from app.opening import open_screen, stop_with
from app.view_models import to_answer
from ragkit.errors import RagkitError
from ragkit.service import Ask

# read: what is there, and the widgets that the URL holds
opening = open_screen()
say = opening.say
with st.sidebar:
    session = views.choose("session", list(opening.sessions), say)
    policy = views.choose("policy", opening.policies, say)
    limit = views.choose_limit(say)
    views.show_session(opening.sessions[session], say)

text = views.ask_question(say)
if not text.strip():
    views.show_examples(say)
    st.stop()

# build, call
ask = Ask(query=text, session=session, policy=policy, limit=limit)
try:
    with st.spinner(say("ui.searching")):
        trace = resources.answer(ask, opening.sessions[session].revision)
except RagkitError as error:
    stop_with(error, say)

# turn, show
views.show_answer(to_answer(trace, say), say)
