"""The reader's language: a switch that every page shares, held by the URL, at first that of the browser."""

from __future__ import annotations

from typing import cast

import streamlit as st

from app import resources
from app.view_models import Say
from ragkit.messages import LANGUAGES, Language

KEY = "lang"


def show_switch() -> None:
    """The switch; drawn once, by the page list. A link that names another language is told so."""
    linked = st.query_params.get(KEY)  # before the switch is drawn, which takes it out of the URL
    wanted: Language = "ru" if (st.context.locale or "").lower().startswith("ru") else "en"
    st.segmented_control("Language · Язык", LANGUAGES, default=wanted, required=True, key=KEY, bind="query-params")
    if linked is not None and linked not in LANGUAGES:
        st.warning(chosen()("ui.link_lang_unknown", lang=linked, known=LANGUAGES), icon=":material/link_off:")


def chosen() -> Say:
    """Sentences in the chosen language."""
    found = st.session_state.get(KEY)
    return Say(messages=resources.sentences(), language=cast("Language", found if found in LANGUAGES else "en"))
