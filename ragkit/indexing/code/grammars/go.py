"""Go."""

from __future__ import annotations

from ragkit.indexing.code.grammars.table import Grammar, Rule

GO = Grammar(
    package="tree_sitter_go",
    rules={
        "function_declaration": Rule(kind="function"),
        "method_declaration": Rule(kind="method", owner="receiver"),
        "type_spec": Rule(
            kind="type_alias", value="type", by_value={"struct_type": "struct", "interface_type": "interface"}
        ),
        "type_alias": Rule(kind="type_alias"),
        "const_spec": Rule(kind="constant"),
        "var_spec": Rule(kind="variable"),
        "field_declaration": Rule(kind="field"),
        "method_elem": Rule(kind="method"),
    },
    anonymous=frozenset({"func_literal"}),
    wrappers=frozenset({"type_declaration", "const_declaration", "var_declaration"}),
    names=frozenset({"identifier", "field_identifier", "type_identifier"}),
    bodies=frozenset({"field_declaration_list"}),
    visibility={},
    top_visibility="internal",
    name_visibility=((r"[^\W\d_a-z]", "public"), ("", "internal")),
    unit="(package_clause (package_identifier) @unit)",
    imports="(import_spec path: (_) @target) @import",
)
