"""Screen *Evaluate*: a dataset under one policy, or under two, and whether the difference is more than chance."""

from __future__ import annotations

import streamlit as st

from app import language, resources, views
from app.evaluation_models import to_evaluation
from app.evaluation_views import show_evaluation
from ragkit.errors import RagkitError

NOBODY = "-"

say = language.chosen()

# read
try:
    sessions = {summary.session: summary for summary in resources.sessions() if summary.revision}
    policies = resources.policies()
    datasets = resources.datasets()
except RagkitError as error:
    views.show_error(error, say)
    st.stop()
if not sessions:
    views.show_nothing_indexed(say)
    st.stop()

with st.sidebar:
    session = views.choose("session", list(sessions), say)
    dataset = views.choose("dataset", list(datasets), say)
    policy = views.choose("policy", policies, say)
    against = views.choose("against", [NOBODY, *policies], say, labels={NOBODY: say("ui.against_none")})
    limit = views.choose_limit(say)
    views.show_session(sessions[session], say)

chosen = [policy] if against == NOBODY else [against, policy]
started = st.button(say("ui.run"), type="primary", icon=":material/play_arrow:")
if started:
    st.query_params["run"] = "1"
if st.query_params.get("run") != "1":
    st.text(say("ui.evaluate_hint"))
    st.stop()

# call
try:
    with st.status(say("ui.running"), expanded=True) as status:
        bar = st.progress(0.0)
        found = resources.evaluate(
            datasets[dataset],
            session=session,
            policies=chosen,
            limit=limit,
            report=lambda name, done, total: bar.progress(
                done / max(1, total), say("eval.progress", policy=name, done=done, total=total)
            ),
        )
        status.update(label=say("ui.ran"), state="complete", expanded=False)
except RagkitError as error:
    views.show_error(error, say)
    st.stop()

# turn, show
show_evaluation(to_evaluation(found, say), say)
