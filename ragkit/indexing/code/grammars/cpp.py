"""C++: C's table and what classes add."""

from __future__ import annotations

from dataclasses import replace

from ragkit.indexing.code.grammars.c import DECLARATORS, FRAMES, NAMES, RULES, C
from ragkit.indexing.code.grammars.table import Rule

CPP = replace(
    C,
    package="tree_sitter_cpp",
    rules={
        **RULES,
        "class_specifier": Rule(kind="class", needs="body", hidden_in="type_definition"),
        "namespace_definition": Rule(kind="namespace", is_scope_only=True),
        "alias_declaration": Rule(kind="type_alias"),
        "concept_definition": Rule(kind="concept"),
    },
    anonymous=frozenset({"parameter_list", "lambda_expression"}),
    wrappers=frozenset({"template_declaration"}),
    declarators=DECLARATORS | {"reference_declarator"},
    names=NAMES
    | {
        "qualified_identifier", "nested_namespace_specifier", "namespace_identifier", "destructor_name",
        "operator_name", "operator_cast", "template_function", "template_type",
    },
    frames=FRAMES | {"namespace_definition", "linkage_specification"},
    member_visibility={"class": "private"},
    sections="access_specifier",
    constant_words=frozenset({frozenset({"const"}), frozenset({"constexpr"})}),
    separator="::",
)  # fmt: skip
