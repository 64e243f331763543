"""The small door that MODULE §3 names: which half of the project answers, and by which layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ragkit.layers import Layer
from ragkit.routing.contract import Intent
from ragkit.routing.router import IntentRouter, RepoContext

Mode = Literal["docs", "code"]

LAYERS: Mapping[Mode, tuple[Layer, ...]] = {
    "docs": (
        Layer.D1_DOCUMENT_CATALOG,
        Layer.D2_FACT_INDEX,
        Layer.D0_DOC_CHUNKS,
        Layer.D4_POLICY_INDEX,
    ),
    "code": (
        Layer.C3_ENTRYPOINTS,
        Layer.C1_SYMBOL_CATALOG,
        Layer.C2_DEPENDENCY_GRAPH,
        Layer.C0_SOURCE_CHUNKS,
    ),
}
"""Spec: MODULE §6."""

MODE_OF: Mapping[Intent, Mode] = {
    "CODE_QA": "code",
    "GENERATE_DOCS_FROM_CODE": "code",
    "DOCS_QA": "docs",
    "PROJECT_MISC": "docs",
}


class RagQueryRouter:
    """Follows from the Intent Router; decides nothing itself."""

    def __init__(self, router: IntentRouter) -> None:
        self._router = router

    def resolve_mode(self, query: str, context: RepoContext | None = None) -> Mode:
        """`code` for questions about code and for documentation to be written from it, else `docs`."""
        return MODE_OF[self._router.route(query, None, context).contract.intent]

    def layers_for_mode(self, mode: Mode) -> tuple[Layer, ...]:
        """The layers of a mode, the preferred first. Spec: MODULE §6."""
        return LAYERS[mode]
