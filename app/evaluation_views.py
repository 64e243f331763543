"""Only `st.*`: shows the view-models of an evaluation."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.evaluation_models import EvaluationView
from app.view_models import Say


def show_evaluation(view: EvaluationView, say: Say) -> None:
    """The verdict first, then numbers, then every question."""
    if view.verdict is not None:
        st.info(view.verdict, icon=":material/gavel:")
    for warning in view.warnings:
        st.warning(warning, icon=":material/difference:")
    if view.outcomes:
        for column, (label, count) in zip(st.columns(len(view.outcomes)), view.outcomes, strict=True):
            column.metric(label, count)
    st.subheader(say("ui.metrics"))
    _show_metrics(view, say)
    st.caption(view.latency)
    st.subheader(say("ui.questions"))
    _show_questions(view, say)
    if view.health:
        st.subheader(say("ui.health"))
        st.caption(say("ui.health_hint"))
        st.dataframe(pd.DataFrame(view.health, columns=[say("ui.problem"), say("ui.count")]), hide_index=True)


def _show_metrics(view: EvaluationView, say: Say) -> None:
    two = len(view.policies) > 1
    names = [f"A · {view.policies[0]}", f"B · {view.policies[1]}"] if two else [view.policies[0]]
    frame = pd.DataFrame(
        [
            {
                say("ui.metric"): metric.name,
                "n": metric.n,
                **dict(zip(names, metric.means, strict=True)),
                say("ui.low_delta" if two else "ui.low"): metric.low,
                say("ui.high_delta" if two else "ui.high"): metric.high,
                **({"p": metric.p, say("ui.verdict"): metric.verdict} if two else {}),
            }
            for metric in view.metrics
        ]
    )
    st.dataframe(frame, hide_index=True, height="content")


def _show_questions(view: EvaluationView, say: Say) -> None:
    two = len(view.policies) > 1
    frame = pd.DataFrame(
        [
            {
                "id": question.id,
                say("ui.query"): question.query,
                say("ui.open"): question.link,
                say("ui.outcome"): question.outcome,
                **dict(zip(("A", "B") if two else ("nDCG@10",), question.values, strict=True)),
                say("ui.ranks"): question.ranks,
                say("ui.plan"): question.route,
            }
            for question in view.questions
        ]
    )
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            say("ui.query"): st.column_config.TextColumn(width="large"),
            say("ui.open"): st.column_config.LinkColumn(display_text=say("ui.open_link"), width=70),
        },
    )
