"""Java."""

from __future__ import annotations

from ragkit.indexing.code.grammars.table import Grammar, Rule

JAVA = Grammar(
    package="tree_sitter_java",
    rules={
        "class_declaration": Rule(kind="class"),
        "interface_declaration": Rule(kind="interface"),
        "enum_declaration": Rule(kind="enum"),
        "record_declaration": Rule(kind="record"),
        "annotation_type_declaration": Rule(kind="annotation"),
        "method_declaration": Rule(kind="method"),
        "constructor_declaration": Rule(kind="constructor"),
        "compact_constructor_declaration": Rule(kind="constructor"),
        "annotation_type_element_declaration": Rule(kind="method"),
        "variable_declarator": Rule(kind="field"),
        "enum_constant": Rule(kind="enum_member"),
    },
    anonymous=frozenset({"lambda_expression", "object_creation_expression", "static_initializer"}),
    wrappers=frozenset({"field_declaration", "constant_declaration"}),
    names=frozenset({"identifier"}),
    comments=frozenset({"line_comment", "block_comment"}),
    decorators=frozenset({"annotation", "marker_annotation"}),
    visibility={"public": "public", "protected": "protected", "private": "private"},
    top_visibility="internal",
    member_visibility={"class": "internal", "record": "internal"},
    constant_words=frozenset({frozenset({"static", "final"})}),
    member_entries=frozenset({"main"}),
    unit="(package_declaration [(identifier) (scoped_identifier)] @unit)",
    imports="(import_declaration) @import @target",
    import_style="dotted",
)
