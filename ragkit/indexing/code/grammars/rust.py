"""Rust."""

from __future__ import annotations

from ragkit.indexing.code.grammars.table import Grammar, Rule

RUST = Grammar(
    package="tree_sitter_rust",
    rules={
        "function_item": Rule(kind="function"),
        "function_signature_item": Rule(kind="function"),
        "struct_item": Rule(kind="struct"),
        "union_item": Rule(kind="union"),
        "enum_item": Rule(kind="enum"),
        "enum_variant": Rule(kind="enum_member"),
        "field_declaration": Rule(kind="field"),
        "trait_item": Rule(kind="trait"),
        "impl_item": Rule(kind="impl", name="type", trait="trait", is_scope_only=True),
        "mod_item": Rule(kind="module", needs="body"),
        "const_item": Rule(kind="constant"),
        "static_item": Rule(kind="variable"),
        "type_item": Rule(kind="type_alias"),
        "associated_type": Rule(kind="type_alias"),
        "macro_definition": Rule(kind="macro"),
    },
    anonymous=frozenset({"closure_expression"}),
    declarators=frozenset({"generic_type", "reference_type", "scoped_type_identifier"}),
    names=frozenset({"identifier", "field_identifier", "type_identifier", "primitive_type"}),
    comments=frozenset({"line_comment", "block_comment"}),
    decorators=frozenset({"attribute_item"}),
    bodies=frozenset({"macro_rule"}),
    visibility={"pub": "public", "pub(": "internal"},
    top_visibility="private",
    member_visibility={"struct": "private", "union": "private", "impl": "private", "module": "private"},
    separator="::",
    imports="""
(use_declaration argument: (_) @target) @import
(mod_item name: (identifier) @target !body) @import
(extern_crate_declaration name: (identifier) @target) @import
""",
    import_style="use_tree",
)
