"""Only `st.*`: each function shows one view-model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from app.view_models import AnswerView, FilterView, PlanView, RowTable, RowView, Say, SignalView, marks_html
from ragkit.errors import RagkitError
from ragkit.policy.plan import MAX_LIMIT
from ragkit.service import SessionSummary

STYLE = """<style>
.rk-query {font-size: 1.2rem; line-height: 2.1; overflow-wrap: anywhere; white-space: pre-wrap;}
.rk-query mark {padding: .15em .35em; border-radius: .35em; color: inherit; border-bottom: 2px solid;}
.rk-query sup {font-size: .62em; opacity: .8; margin-left: .4em;}
.rk-file_path {background: rgba(31,111,235,.16); border-color: rgb(31,111,235) !important;}
.rk-symbol {background: rgba(137,87,200,.18); border-color: rgb(137,87,200) !important;}
.rk-doc_ref {background: rgba(42,157,111,.18); border-color: rgb(42,157,111) !important;}
.rk-key_term {background: rgba(217,130,43,.18); border-color: rgb(217,130,43) !important;}
</style>"""
BAR_HEIGHT = 30
ROW = "row"
QUESTION = "q"
QUESTION_BOX = "question_box"
ASKED = "question_asked"
"""What the URL held when it was last looked at."""
ROWS_WITHOUT_SCROLLING = 25
WORDS_SHOWN = 12


def show_error(error: RagkitError, say: Say) -> None:
    """An error in a sentence."""
    st.error(say(f"error.{error.code}", **error.params), icon=":material/error:")


def show_nothing_indexed(say: Say) -> None:
    """What to do while nothing is indexed."""
    st.header(say("ui.no_sessions"))
    st.text(say("ui.no_sessions_hint"))
    st.code("ragkit index PATH --session NAME", language="bash")


def choose(key: str, options: Sequence[str], say: Say, *, labels: Mapping[str, str] | None = None) -> str:
    """One of the options, held by the URL; a link that names another one is told so, and the first is taken.

    Written to the URL by hand and not bound: a bound widget leaves its default out, and a link has to name what it
    shows even if it was the default.
    """
    wanted = st.query_params.get(key)
    if wanted is not None and wanted not in options:
        st.warning(say(f"ui.link_{key}_unknown", **{key: wanted, "used": options[0]}), icon=":material/link_off:")
    shown = wanted if wanted in options else options[0]
    picked = st.selectbox(
        say(f"ui.{key}"),
        options,
        index=options.index(shown),
        format_func=lambda option: (labels or {}).get(option, option),
        key=f"{key}_choice",
    )
    if picked != wanted:
        st.query_params[key] = picked
    return picked


def choose_limit(say: Say) -> int | None:
    """Rows at most; None leaves it to the policy. Held by the URL, which may hold nonsense: that is told."""
    linked = st.query_params.get("limit")
    if linked is not None and not (linked.isdecimal() and 1 <= int(linked[:9]) <= MAX_LIMIT and len(linked) < 9):
        st.warning(say("ui.link_limit_unknown", limit=linked), icon=":material/link_off:")
    limit = st.number_input(
        say("ui.limit"),
        min_value=1,
        max_value=MAX_LIMIT,
        value=None,
        step=1,
        placeholder=say("ui.limit_default"),
        key="limit",
        bind="query-params",
    )
    return None if limit is None else int(limit)


def show_session(session: SessionSummary, say: Say) -> None:
    """What the session holds, by layer."""
    st.caption(say("ui.revision", revision=session.revision))
    st.caption("  \n".join(f"`{layer.value}` {rows}" for layer, rows in session.rows.items()))


def ask_question(say: Say) -> str:
    """The question, held by the URL; each one asked is a step of the browser's history.

    Written to the URL by hand and not bound: a bound widget replaces the address, and Back would leave the page. The
    box takes what the URL holds whenever that is not what was asked last: a link, or the browser's Back.
    """
    linked = st.query_params.get(QUESTION, "")
    if linked != st.session_state.get(ASKED):
        st.session_state[ASKED] = st.session_state[QUESTION_BOX] = linked
    return st.text_input(
        say("ui.query"),
        key=QUESTION_BOX,
        placeholder=say("ui.query_placeholder"),
        max_chars=20_000,
        on_change=_push_question,
    )


def _push_question() -> None:
    """A new question begins with its first row; one change of the URL is one step back."""
    asked = st.session_state[QUESTION_BOX]
    kept = {name: value for name, value in st.query_params.to_dict().items() if name not in (QUESTION, ROW)}
    st.session_state[ASKED] = asked
    st.query_params.from_dict({**kept, QUESTION: asked} if asked else kept)


def show_examples(say: Say) -> None:
    """An empty screen: what to do, and questions to try."""
    st.text(say("ui.empty_hint"))
    st.caption(say("ui.examples"))
    for place in (1, 2, 3):
        example = say(f"ui.example_{place}")
        st.button(example, key=f"example_{place}", on_click=_ask_example, args=(example,))


def _ask_example(example: str) -> None:
    st.session_state[QUESTION_BOX] = example
    _push_question()


def show_answer(view: AnswerView, say: Say) -> None:
    """The whole answer, the plain sentence first and engineering detail below."""
    show_query(view)
    st.markdown(view.summary)
    show_evidence(view)
    understood, signals = st.columns([3, 2])
    with understood, st.container(border=True):
        show_route(view, say)
    with signals, st.container(border=True):
        show_signals(view.signals, say, are_read=any(plan.reads_signals for plan in view.plans))
    for plan in view.plans:
        with st.container(border=True):
            show_plan(plan, say)
    for table in view.tables:
        if table.rows:
            _show_table(table, say)
    st.subheader(say("ui.steps"))
    show_steps(view, say)
    with st.expander(say("ui.words")):
        show_words(view)
    st.download_button(
        say("ui.download_trace"), view.trace_json, file_name="trace.json", mime="application/json", on_click="ignore"
    )


def _show_table(table: RowTable, say: Say) -> None:
    st.subheader(say("ui.rows_of", profile=table.profile))
    show_rows(table, say)
    bars, source = st.columns([2, 3])
    with bars:
        st.caption(say("ui.score_parts"))
        show_parts(table, say, key=f"parts_{table.profile}")
    with source:
        row = choose_row(table, say)
        show_source(row, say)


def choose_row(table: RowTable, say: Say) -> RowView:
    """The row to read, the first one at the start; held by the URL as its rank."""
    rows = {row.rank: row for row in table.rows}
    linked = st.query_params.get(ROW, "")
    shown = int(linked) if linked.isdecimal() and int(linked) in rows else table.rows[0].rank
    picked = st.selectbox(
        say("ui.pick_row"),
        list(rows),
        index=list(rows).index(shown),
        format_func=lambda rank: f"{rank}. {rows[rank].path}:{rows[rank].lines}",
        key=f"row_{table.profile}_{table.rows[0].id}",
    )
    if picked != shown:
        st.query_params[ROW] = str(picked)
    return rows[picked]


def show_query(view: AnswerView) -> None:
    """The question with its anchors marked in place."""
    st.html(STYLE + marks_html(view.marks, dict(view.kinds)))


def show_route(view: AnswerView, say: Say) -> None:
    """Intent, conversation mode, and what they came from."""
    st.markdown(f"**{say('ui.route')}**")
    st.markdown(f":blue-badge[{view.intent}] {view.mode}")
    if not view.kinds:
        st.caption(say("ui.no_anchors"))
    st.text("\n".join(f"· {reason}" for reason in view.reasons))
    if view.inherited:
        st.caption(say("ui.anchor_inherited"))
        st.text(", ".join(view.inherited))


def show_signals(signals: Sequence[SignalView], say: Say, *, are_read: bool) -> None:
    """Each signal, fired or not, and by what."""
    st.markdown(f"**{say('ui.signals')}**")
    if not are_read:
        st.caption(say("ui.signals_unread"))
    for signal in sorted(signals, key=lambda signal: not signal.fired):
        if signal.fired:
            st.markdown(f":green-badge[:material/check_circle: {signal.name} · {say('ui.signal_fired')}]")
            st.text("\n".join(signal.why))
    silent = [signal.name for signal in signals if not signal.fired]
    if silent:
        st.caption(say("ui.signal_silent"))
        st.markdown(" ".join(f":gray-badge[{name}]" for name in silent))


def show_plan(plan: PlanView, say: Say) -> None:
    """Profile, layers, limit, and hard filters apart from soft ones."""
    st.markdown(f"**{say('ui.profile')}** :blue-badge[{plan.profile}] · {say('ui.limit')}: **{plan.limit}**")
    st.caption(say("ui.layer_rows"))
    st.markdown(" → ".join(f"`{layer}`" for layer in plan.layers))
    hard, soft = st.columns(2)
    with hard:
        st.caption(say("ui.hard_filters"))
        _show_filters(plan.hard, say("ui.no_hard_filters"))
    with soft:
        st.caption(say("ui.soft_filters"))
        _show_filters(plan.soft, say("ui.no_soft_filters"))


def _show_filters(filters: Sequence[FilterView], otherwise: str) -> None:
    if not filters:
        st.text(otherwise)
    else:
        st.text("\n".join(f"{view.name} = {view.values}" for view in filters))


def show_rows(table: RowTable, say: Say) -> None:
    """Ranked rows of one plan."""
    frame = pd.DataFrame(
        [
            {
                say("ui.rank"): row.rank,
                say("ui.score"): row.score,
                say("ui.path"): row.path,
                say("ui.lines"): row.lines,
                say("ui.row_title"): row.title,
                say("ui.layer"): row.layer,
                say("ui.found_by"): row.found_by,
            }
            for row in table.rows
        ]
    )
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            say("ui.rank"): st.column_config.NumberColumn(width=40),
            say("ui.score"): st.column_config.NumberColumn(format="%.3f", width=60),
            say("ui.path"): st.column_config.TextColumn(width=215),
            say("ui.lines"): st.column_config.TextColumn(width=70),
            say("ui.row_title"): st.column_config.TextColumn(width=165),
            say("ui.layer"): st.column_config.TextColumn(width=165),
            say("ui.found_by"): st.column_config.TextColumn(width=110),
        },
        height="content" if len(table.rows) <= ROWS_WITHOUT_SCROLLING else "auto",
    )


def show_parts(table: RowTable, say: Say, *, key: str) -> None:
    """The parts of each row's score as stacked bars."""
    labels = list(dict.fromkeys(name for row in table.rows for name, _ in row.parts))
    places = [f"{row.rank}. {_short(row.title)}" for row in table.rows]
    figure = go.Figure(
        [
            go.Bar(
                name=label,
                orientation="h",
                y=places,
                x=[dict(row.parts).get(label, 0.0) for row in table.rows],
                hovertemplate=f"{label}: %{{x:.3f}}<extra></extra>",
            )
            for label in labels
        ]
    )
    figure.update_layout(
        barmode="relative",
        height=90 + BAR_HEIGHT * len(places),
        margin={"l": 0, "r": 10, "t": 30, "b": 10},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        yaxis={"autorange": "reversed", "automargin": True},
    )
    st.plotly_chart(figure, key=key, config={"displayModeBar": False})


def _short(title: str, chars: int = 30) -> str:
    return title if len(title) <= chars else title[: chars - 1] + "…"


def show_source(row: RowView, say: Say) -> None:
    """The text of a row as it stands in its file; shown as text, never rendered."""
    st.caption(f"{row.path}:{row.lines} · {row.layer} · {row.id}")
    if row.words:
        st.caption(say("ui.matched_words", words=list(row.words[:WORDS_SHOWN])))
    st.code(row.text, language=row.code_language, wrap_lines=True)
    numbers = pd.DataFrame([{say("ui.part"): name, say("ui.score"): value} for name, value in row.parts])
    st.dataframe(numbers, hide_index=True, width="content")


def show_steps(view: AnswerView, say: Say) -> None:
    """The funnel: what came in and went out of each step, and what was dropped."""
    st.dataframe(pd.DataFrame(view.steps), hide_index=True)
    if view.notes:
        st.text("\n".join(f"· {note}" for note in view.notes))


def show_words(view: AnswerView) -> None:
    """Each word of the question as the lexical leg saw it."""
    st.dataframe(pd.DataFrame(view.words), hide_index=True)


def show_evidence(view: AnswerView) -> None:
    """Whether what was found suffices."""
    satisfied, sentence = view.evidence
    (st.success if satisfied else st.warning)(sentence, icon=":material/fact_check:")
