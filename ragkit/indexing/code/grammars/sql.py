"""SQL: definitions of schemas, PostgreSQL's first."""

from __future__ import annotations

from ragkit.indexing.code.grammars.table import Grammar, Rule

_NAMED = ("object_reference", "identifier")

SQL = Grammar(
    package="tree_sitter_sql",
    rules={
        "create_table": Rule(kind="table", name_types=_NAMED),
        "create_view": Rule(kind="view", name_types=_NAMED),
        "create_materialized_view": Rule(kind="view", name_types=_NAMED),
        "create_index": Rule(kind="index", name="column"),
        "create_function": Rule(kind="function", name_types=_NAMED),
        "create_procedure": Rule(kind="function", name_types=_NAMED),
        "create_trigger": Rule(kind="trigger", name_types=_NAMED),
        "create_type": Rule(kind="type", name_types=_NAMED),
        "create_sequence": Rule(kind="sequence", name_types=_NAMED),
        "create_schema": Rule(kind="schema", name_types=_NAMED),
        "column_definition": Rule(kind="column", members_only=True),
    },
    anonymous=frozenset({"alter_table"}),
    wrappers=frozenset({"statement"}),
    names=frozenset({"object_reference", "identifier"}),
    comments=frozenset({"comment", "marginalia"}),
    bodies=frozenset({"column_definitions", "function_body", "procedure_body", "create_query", "enum_elements"}),
    visibility={},
    top_visibility="public",
    is_tolerant=True,
)
