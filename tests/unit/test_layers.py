"""Layers and the attributes that MODULE lists for each. Typed in here from the specification, in its order."""

from __future__ import annotations

import pytest

from ragkit.errors import UnknownName
from ragkit.layers import ATTRIBUTES, EDGES, RESERVED, Family, Layer, layer_of

MODULE = {
    "D1_MODULE_CATALOG": """
        module_id type domain title status version tags owners links calls_api called_by uses_logic used_by reads_db
        writes_db integrates_with emits_events consumes_events source_path summary_text""",
    "D2_FACT_INDEX": """
        fact_id subject_id predicate object object_ref source_path anchor line_start line_end confidence tags""",
    "D3_SECTION_INDEX": """
        chunk_id module_id section_path section_title content source_path order tags domain type embedding""",
    "D4_POLICY_INDEX": "policy_id applies_to rules default_behaviors source_path",
    "C0_SOURCE_CHUNKS": """
        lang repo_id commit_sha path span title text module_or_unit chunk_type symbol_id hash""",
    "C1_SYMBOL_CATALOG": """
        lang repo_id commit_sha symbol_id qname kind decl.path decl.start_line decl.end_line text visibility signature
        decorators_or_annotations docstring_or_javadoc parent_symbol_id package_or_module is_entry_candidate
        lang_payload""",
    "C2_DEPENDENCY_GRAPH": """
        lang repo_id commit_sha edge_id edge_type src_symbol_id dst_symbol_id dst_ref evidence.path
        evidence.start_line evidence.end_line text resolution callsite_kind lang_payload""",
    "C3_ENTRYPOINTS": """
        lang repo_id commit_sha entry_id entry_type framework route_or_command handler_symbol_id evidence.path
        evidence.start_line evidence.end_line text http.methods http.auth request_model response_model cli.args_schema
        task.queue task.cron tags lang_payload""",
    "C4_PUBLIC_API": "api_id symbol_id stability source_of_truth versioning_tags lang_payload",
    "C5_BEHAVIOR_SUMMARIES": "target_type target_id text claims evidence_links confidence generated_by generated_at",
    "C6_RUNTIME_TRACES": "env trace_id span_id symbol_id entry_id text timings service host labels",
}
"""Spec: MODULE §5."""

ADDED = {"D1_MODULE_CATALOG": {"subdomain"}}
"""What system.md §4 adds: every D-row carries its document's subdomain, and the catalog is where it is read."""


@pytest.mark.parametrize("name", MODULE)
def test_attributes_are_those_of_the_specification(name: str) -> None:
    wanted = MODULE[name].split()
    found = ATTRIBUTES[layer_of(name)]
    assert [attribute for attribute in found if attribute in wanted] == wanted
    assert set(found) - set(wanted) == ADDED.get(name, set())


def test_every_layer_has_attributes() -> None:
    assert set(ATTRIBUTES) == set(Layer)
    assert all(ATTRIBUTES.values())


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("D1_MODULE_CATALOG", Layer.D1_DOCUMENT_CATALOG),
        ("D3_SECTION_INDEX", Layer.D0_DOC_CHUNKS),
        ("D3_ENTITY_CATALOG", Layer.D3_ENTITY_CATALOG),
        ("C0", Layer.C0_SOURCE_CHUNKS),
        ("C1", Layer.C1_SYMBOL_CATALOG),
        ("C2", Layer.C2_DEPENDENCY_GRAPH),
        ("C3", Layer.C3_ENTRYPOINTS),
        ("C4", Layer.C4_PUBLIC_API),
        ("C5", Layer.C5_BEHAVIOR_SUMMARIES),
        ("C6", Layer.C6_RUNTIME_TRACES),
        (" c1_symbol_catalog ", Layer.C1_SYMBOL_CATALOG),
    ],
)
def test_aliases(name: str, layer: Layer) -> None:
    """Spec: system.md §2, §4."""
    assert layer_of(name) is layer


@pytest.mark.parametrize("layer", list(Layer))
def test_canonical_ids_name_themselves(layer: Layer) -> None:
    assert layer_of(layer.value) is layer


@pytest.mark.parametrize("name", ["", "D", "D4", "C9", "C0_", "D0_DOC_CHUNKS\0", "слой"])
def test_unknown_layer_is_told_with_those_that_exist(name: str) -> None:
    with pytest.raises(UnknownName) as caught:
        layer_of(name)
    assert caught.value.params == {"layer": name, "known": [layer.value for layer in Layer]}


def test_families() -> None:
    assert Layer.D4_POLICY_INDEX.family is Family.DOCS
    assert Layer.C0_SOURCE_CHUNKS.family is Family.CODE


def test_edges_and_reserved_layers() -> None:
    """Spec: system.md §4: edges and facts have no vector; C5 and C6 are not written yet."""
    assert {layer.value for layer in EDGES} == {"C2_DEPENDENCY_GRAPH", "D5_RELATION_GRAPH", "D2_FACT_INDEX"}
    assert {layer.value for layer in RESERVED} == {"C5_BEHAVIOR_SUMMARIES", "C6_RUNTIME_TRACES"}
