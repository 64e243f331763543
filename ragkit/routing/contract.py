"""The Intent Router's answer, contract v1.1: every field always present, no others. Spec: ROUTER §5–§9.

Pydantic, because the contract is published as JSON Schema and read back from outside (`conversation_state`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

SCHEMA_VERSION = "1.1"

Intent = Literal["CODE_QA", "DOCS_QA", "GENERATE_DOCS_FROM_CODE", "PROJECT_MISC"]
ConversationMode = Literal["START", "CONTINUE", "SWITCH"]
AnchorType = Literal["FILE_PATH", "SYMBOL", "DOC_REF", "KEY_TERM"]
Domain = Literal["CODE", "DOCS"]
TestPolicy = Literal["EXCLUDE", "INCLUDE", "ONLY"]
RerankProfile = Literal["code", "docs", "generate", "project"]

GRAPH_OF: dict[Intent, str] = {
    "CODE_QA": "CodeQAGraph",
    "DOCS_QA": "DocsQAGraph",
    "GENERATE_DOCS_FROM_CODE": "GenerateDocsFromCodeGraph",
    "PROJECT_MISC": "ProjectMiscGraph",
}
DOMAINS_OF: dict[Intent, tuple[Domain, ...]] = {
    "CODE_QA": ("CODE",),
    "DOCS_QA": ("DOCS",),
    "GENERATE_DOCS_FROM_CODE": ("CODE",),
    "PROJECT_MISC": ("CODE", "DOCS"),
}
RERANK_OF: dict[Intent, RerankProfile] = {
    "CODE_QA": "code",
    "DOCS_QA": "docs",
    "GENERATE_DOCS_FROM_CODE": "generate",
    "PROJECT_MISC": "project",
}
"""Spec: ROUTER §7.2."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AnchorSpan(_Frozen):
    """Code points of `raw`; 0–0 for an anchor that the conversation gave."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _ordered(self) -> AnchorSpan:
        if self.end < self.start:
            raise ValueError("span.end lies before span.start")
        return self


class Anchor(_Frozen):
    """Something the query names. Spec: ROUTER §6."""

    type: AnchorType
    value: str
    """As written: `raw[start:end] == value` unless the span is 0–0."""
    subtype: str | None = None
    span: AnchorSpan
    confidence: Annotated[float, Field(ge=0, le=1)]


class QueryPlan(_Frozen):
    """The query, cleaned and taken apart. Spec: ROUTER §4."""

    raw: str
    normalized: str
    expansions: tuple[str, ...]
    keyword_hints: tuple[str, ...]
    anchors: tuple[Anchor, ...]


class LayerQuery(_Frozen):
    """A layer and its candidate depth when the plan asks it."""

    layer_id: str
    top_k: Annotated[int, Field(gt=0)]


class ContractFilters(_Frozen):
    """Spec: ROUTER §7."""

    test_policy: TestPolicy
    path_scope: tuple[str, ...]
    language: tuple[str, ...]


class RetrievalSpec(_Frozen):
    """Spec: ROUTER §7."""

    domains: tuple[Domain, ...]
    layer_queries: tuple[LayerQuery, ...]
    filters: ContractFilters
    rerank_profile: RerankProfile


class EvidencePolicy(_Frozen):
    """What an answer needs. Spec: ROUTER §8."""

    require_def: bool = False
    require_flow: bool = False
    require_spec: bool = False
    allow_answer_without_evidence: bool = False


EVIDENCE_OF: dict[Intent, EvidencePolicy] = {
    "CODE_QA": EvidencePolicy(require_def=True, require_flow=True),
    "DOCS_QA": EvidencePolicy(require_spec=True),
    "GENERATE_DOCS_FROM_CODE": EvidencePolicy(require_def=True),
    "PROJECT_MISC": EvidencePolicy(allow_answer_without_evidence=True),
}


class RouterContract(_Frozen):
    """The whole answer. Spec: ROUTER §5."""

    schema_version: Literal["1.1"] = SCHEMA_VERSION
    intent: Intent
    graph_id: str
    conversation_mode: ConversationMode
    query_plan: QueryPlan
    retrieval_spec: RetrievalSpec
    evidence_policy: EvidencePolicy


class ConversationState(_Frozen):
    """What the last turn left: its intent and its anchors; either may be missing. Spec: ROUTER §3; architecture.md."""

    active_intent: Intent | None = None
    anchors: tuple[Anchor, ...] = ()
