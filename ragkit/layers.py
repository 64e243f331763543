"""The layers of the index: canonical ids, families, aliases, and the typed attributes of a row of each.

`D0…D5` of POLICY and `C0…C6` of MODULE are canonical; older and short ids are accepted wherever a layer is named
(`layer_of`). Attribute names are MODULE's, dots included, so the classes are TypedDicts: a row's attributes go to JSON
as they are. Attributes that the row or its session already holds are `NotRequired`: extractors leave them out,
`attributes_of` fills them when a row is shown. Spec: MODULE §5; system.md §4.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NotRequired, TypedDict

from ragkit.errors import UnknownName


class Family(StrEnum):
    """Which half of a project a row speaks of; as written in `retrieval_spec.domains`."""

    DOCS = "DOCS"
    CODE = "CODE"


class Layer(StrEnum):
    """Canonical layer ids. The order here is only that of listing; a plan has its own."""

    D0_DOC_CHUNKS = "D0_DOC_CHUNKS"
    D1_DOCUMENT_CATALOG = "D1_DOCUMENT_CATALOG"
    D2_FACT_INDEX = "D2_FACT_INDEX"
    D3_ENTITY_CATALOG = "D3_ENTITY_CATALOG"
    D4_WORKFLOW_INDEX = "D4_WORKFLOW_INDEX"
    D4_POLICY_INDEX = "D4_POLICY_INDEX"
    D5_RELATION_GRAPH = "D5_RELATION_GRAPH"
    C0_SOURCE_CHUNKS = "C0_SOURCE_CHUNKS"
    C1_SYMBOL_CATALOG = "C1_SYMBOL_CATALOG"
    C2_DEPENDENCY_GRAPH = "C2_DEPENDENCY_GRAPH"
    C3_ENTRYPOINTS = "C3_ENTRYPOINTS"
    C4_PUBLIC_API = "C4_PUBLIC_API"
    C5_BEHAVIOR_SUMMARIES = "C5_BEHAVIOR_SUMMARIES"
    C6_RUNTIME_TRACES = "C6_RUNTIME_TRACES"

    @property
    def family(self) -> Family:
        """DOCS for `D…`, CODE for `C…`."""
        return Family.DOCS if self.value.startswith("D") else Family.CODE


class D0Attributes(TypedDict):
    """A passage of a section, at most about 150 tokens. Spec: MODULE §5.1, `D3_SECTION_INDEX`."""

    chunk_id: str
    module_id: str | None
    section_path: str
    """Headings from the outermost, joined by ` > `; empty before the first heading."""
    section_title: str | None
    content: NotRequired[str]
    source_path: str
    order: int
    """Place of the passage in its document, from 0."""
    tags: list[str]
    domain: str | None
    type: str | None
    embedding: NotRequired[str | None]
    """Fingerprint of the embedder whose vector the row has."""


class D1Attributes(TypedDict):
    """A document, or one operation of an OpenAPI file. Spec: MODULE §5.1, `D1_MODULE_CATALOG`."""

    module_id: str | None
    type: str | None
    domain: str | None
    subdomain: str | None
    title: str
    status: str | None
    version: str | None
    tags: list[str]
    owners: list[str]
    links: list[str]
    calls_api: list[str]
    called_by: list[str]
    uses_logic: list[str]
    used_by: list[str]
    reads_db: list[str]
    writes_db: list[str]
    integrates_with: list[str]
    emits_events: list[str]
    consumes_events: list[str]
    source_path: str
    summary_text: str


class D2Attributes(TypedDict):
    """A subject–predicate–object fact. Spec: MODULE §5.1."""

    fact_id: str
    subject_id: str
    predicate: str
    object: str
    object_ref: str | None
    source_path: str
    anchor: str | None
    line_start: int
    line_end: int
    confidence: float
    tags: list[str]


class D3Attributes(TypedDict):
    """A domain entity. Spec: system.md §4."""

    entity_id: str
    name: str
    aliases: list[str]
    definition: str | None
    documents: list[str]
    """Paths that describe it, the defining one first."""
    mentions: list[str]
    """Paths whose facts and relations name it; the link step knows them."""
    mention_lines: list[int]
    """Other lines of `source_path` that speak of it, from 1."""
    source_path: str
    confidence: float


class D4WorkflowAttributes(TypedDict):
    """A process. Spec: system.md §4."""

    workflow_id: str
    title: str
    trigger: str | None
    steps: list[str]
    participants: list[str]
    branches: list[str]
    """What is done under a condition only, as the document says it."""
    error_paths: list[str]
    """Steps and branches that tell what happens when something fails."""
    source_path: str
    confidence: float


class D4PolicyAttributes(TypedDict):
    """A rule or convention. Spec: MODULE §5.1, `D4_POLICY_INDEX`."""

    policy_id: str
    applies_to: list[str]
    rules: list[str]
    default_behaviors: list[str]
    source_path: str


class D5Attributes(TypedDict):
    """An edge between documents, modules or entities. Spec: system.md §4."""

    edge_id: str
    edge_type: str
    src_id: str
    dst_id: str | None
    dst_ref: str
    resolution: str
    source_path: str
    confidence: float


class C0Attributes(TypedDict):
    """Source code as written. Spec: MODULE §5.2."""

    lang: str
    repo_id: NotRequired[str | None]
    commit_sha: NotRequired[str | None]
    path: str
    span: str
    """`L10-L20`."""
    title: str
    text: NotRequired[str]
    module_or_unit: str
    chunk_type: str
    symbol_id: str | None
    hash: str


C1Attributes = TypedDict(
    "C1Attributes",
    {
        "lang": str,
        "repo_id": NotRequired[str | None],
        "commit_sha": NotRequired[str | None],
        "symbol_id": str,
        "qname": str,
        "kind": str,
        "decl.path": str,
        "decl.start_line": int,
        "decl.end_line": int,
        "text": NotRequired[str],
        "visibility": str,
        "signature": str | None,
        "decorators_or_annotations": list[str],
        "docstring_or_javadoc": str | None,
        "parent_symbol_id": str | None,
        "package_or_module": str,
        "is_entry_candidate": bool,
        "lang_payload": dict[str, object],
    },
)
"""A symbol and its declaration. Spec: MODULE §5.2."""

C2Attributes = TypedDict(
    "C2Attributes",
    {
        "lang": str,
        "repo_id": NotRequired[str | None],
        "commit_sha": NotRequired[str | None],
        "edge_id": str,
        "edge_type": str,
        "src_symbol_id": str | None,
        "dst_symbol_id": str | None,
        "dst_ref": str,
        "evidence.path": str,
        "evidence.start_line": int,
        "evidence.end_line": int,
        "text": NotRequired[str],
        "resolution": str,
        "callsite_kind": str | None,
        "lang_payload": dict[str, object],
    },
)
"""An edge between symbols. Spec: MODULE §5.2."""

C3Attributes = TypedDict(
    "C3Attributes",
    {
        "lang": str,
        "repo_id": NotRequired[str | None],
        "commit_sha": NotRequired[str | None],
        "entry_id": str,
        "entry_type": str,
        "framework": str | None,
        "route_or_command": str,
        "handler_symbol_id": str | None,
        "evidence.path": str,
        "evidence.start_line": int,
        "evidence.end_line": int,
        "text": NotRequired[str],
        "http.methods": list[str],
        "http.auth": str | None,
        "request_model": str | None,
        "response_model": str | None,
        "cli.args_schema": dict[str, object] | None,
        "task.queue": str | None,
        "task.cron": str | None,
        "tags": list[str],
        "lang_payload": dict[str, object],
    },
)
"""An entry point and its handler. Spec: MODULE §5.2."""


class C4Attributes(TypedDict):
    """A symbol of the public surface. Spec: MODULE §5.2."""

    api_id: str
    symbol_id: str
    stability: str
    source_of_truth: str
    versioning_tags: list[str]
    lang_payload: dict[str, object]


class C5Attributes(TypedDict):
    """Reserved. Spec: MODULE §5.2, §7."""

    target_type: str
    target_id: str
    text: NotRequired[str]
    claims: list[str]
    evidence_links: list[str]
    confidence: float
    generated_by: str
    generated_at: str


class C6Attributes(TypedDict):
    """Reserved. Spec: MODULE §5.2, §7."""

    env: str
    trace_id: str
    span_id: str
    symbol_id: str | None
    entry_id: str | None
    text: NotRequired[str]
    timings: dict[str, object]
    service: str
    host: str
    labels: dict[str, object]


ATTRIBUTES: Mapping[Layer, tuple[str, ...]] = {
    Layer.D0_DOC_CHUNKS: tuple(D0Attributes.__annotations__),
    Layer.D1_DOCUMENT_CATALOG: tuple(D1Attributes.__annotations__),
    Layer.D2_FACT_INDEX: tuple(D2Attributes.__annotations__),
    Layer.D3_ENTITY_CATALOG: tuple(D3Attributes.__annotations__),
    Layer.D4_WORKFLOW_INDEX: tuple(D4WorkflowAttributes.__annotations__),
    Layer.D4_POLICY_INDEX: tuple(D4PolicyAttributes.__annotations__),
    Layer.D5_RELATION_GRAPH: tuple(D5Attributes.__annotations__),
    Layer.C0_SOURCE_CHUNKS: tuple(C0Attributes.__annotations__),
    Layer.C1_SYMBOL_CATALOG: tuple(C1Attributes.__annotations__),
    Layer.C2_DEPENDENCY_GRAPH: tuple(C2Attributes.__annotations__),
    Layer.C3_ENTRYPOINTS: tuple(C3Attributes.__annotations__),
    Layer.C4_PUBLIC_API: tuple(C4Attributes.__annotations__),
    Layer.C5_BEHAVIOR_SUMMARIES: tuple(C5Attributes.__annotations__),
    Layer.C6_RUNTIME_TRACES: tuple(C6Attributes.__annotations__),
}
"""Every attribute of a layer, in MODULE's order."""

RESERVED: frozenset[Layer] = frozenset({Layer.C5_BEHAVIOR_SUMMARIES, Layer.C6_RUNTIME_TRACES})
"""Typed here, written by nothing yet, never named in `repo_context`."""

EDGES: frozenset[Layer] = frozenset({Layer.C2_DEPENDENCY_GRAPH, Layer.D5_RELATION_GRAPH, Layer.D2_FACT_INDEX})
"""Layers whose rows have no vector: found by words and by graph steps."""

NODES: Mapping[Layer, tuple[str, ...]] = {
    Layer.D2_FACT_INDEX: ("object_ref",),
    Layer.D5_RELATION_GRAPH: ("src_id", "dst_id"),
    Layer.C0_SOURCE_CHUNKS: ("symbol_id",),
    Layer.C1_SYMBOL_CATALOG: ("parent_symbol_id",),
    Layer.C2_DEPENDENCY_GRAPH: ("src_symbol_id", "dst_symbol_id"),
    Layer.C3_ENTRYPOINTS: ("handler_symbol_id",),
    Layer.C4_PUBLIC_API: ("symbol_id",),
}
"""Layer → attributes that hold the public id of another row: what a graph step goes along, either way."""

_ALIASES: Mapping[str, Layer] = {
    "D1_MODULE_CATALOG": Layer.D1_DOCUMENT_CATALOG,
    "D3_SECTION_INDEX": Layer.D0_DOC_CHUNKS,
    **{layer.value.split("_", 1)[0]: layer for layer in Layer if layer.value.startswith("C")},
}


def layer_of(name: str) -> Layer:
    """The layer that a canonical id, an older id or a short C-id names.

    Raises: UnknownName, with the canonical ids.
    """
    folded = name.strip().upper()
    alias = _ALIASES.get(folded)
    if alias is not None:
        return alias
    try:
        return Layer(folded)
    except ValueError:
        raise UnknownName("layer_unknown", layer=name, known=[layer.value for layer in Layer]) from None
