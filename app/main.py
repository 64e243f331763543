"""The page list. Started by absolute path: `ragkit serve`, or `python -m streamlit run app/main.py` from the root."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app import language

SCREENS = Path(__file__).parent / "screens"

st.set_page_config(page_title="ragkit", page_icon="🔎", layout="wide")
with st.sidebar:
    language.show_switch()
say = language.chosen()
pages = [
    st.Page(SCREENS / "query.py", title=say("ui.query_screen"), icon=":material/search:", default=True),
    st.Page(SCREENS / "evaluate.py", title=say("ui.evaluate_screen"), icon=":material/monitoring:"),
]
st.navigation(pages).run()
