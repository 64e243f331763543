"""Screen *Evaluate*: a dataset under one policy, or under two, and whether the difference is more than chance."""

from __future__ import annotations

import streamlit as st

from app import resources, views
from app.evaluation_models import to_evaluation
from app.evaluation_views import show_evaluation
from app.opening import open_screen, stop_with
from ragkit.errors import RagkitError

NOBODY = "-"
RUN = "run"

# read: what is there, and the widgets that the URL holds
opening = open_screen()
say = opening.say
datasets = resources.datasets()
with st.sidebar:
    session = views.choose("session", list(opening.sessions), say)
    dataset = views.choose("dataset", list(datasets), say)
    policy = views.choose("policy", opening.policies, say)
    against = views.choose("against", [NOBODY, *opening.policies], say, labels={NOBODY: say("ui.against_none")})
    limit = views.choose_limit(say)
    views.show_session(opening.sessions[session], say)

if st.button(say("ui.run"), type="primary", icon=":material/play_arrow:"):
    st.query_params[RUN] = "1"
if st.query_params.get(RUN) != "1":
    st.text(say("ui.evaluate_hint"))
    st.stop()

# build, call
policies = [policy] if against == NOBODY else [against, policy]
try:
    with st.status(say("ui.running"), expanded=True) as status:
        bar = st.progress(0.0)
        found = resources.evaluate(
            datasets[dataset],
            session=session,
            policies=policies,
            limit=limit,
            report=lambda name, done, total: bar.progress(
                done / max(1, total), say("eval.progress", policy=name, done=done, total=total)
            ),
        )
        status.update(label=say("ui.ran"), state="complete", expanded=False)
except RagkitError as error:
    stop_with(error, say)

# turn, show
show_evaluation(to_evaluation(found, say), say)
