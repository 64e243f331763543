"""C."""

from __future__ import annotations

from ragkit.indexing.code.grammars.table import Grammar, Rule

DECLARED = {"function_declarator": "function", "parenthesized_declarator": "variable"}
"""`int f(void)` is a function, `int (*f)(void)` a variable."""
_MEMBERS = {**DECLARED, "parenthesized_declarator": "field"}
BODIES = {"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"}

RULES = {
    "function_definition": Rule(kind="function", name="declarator"),
    "declaration": Rule(kind="variable", name="declarator", through=DECLARED),
    "field_declaration": Rule(
        kind="field", name="declarator", through={**DECLARED, "parenthesized_declarator": "field"}
    ),
    "struct_specifier": Rule(kind="struct", needs="body", hidden_in="type_definition"),
    "union_specifier": Rule(kind="union", needs="body", hidden_in="type_definition"),
    "enum_specifier": Rule(kind="enum", needs="body", hidden_in="type_definition"),
    "enumerator": Rule(kind="enum_member"),
    "type_definition": Rule(kind="type_alias", name="declarator", value="type", by_value=BODIES),
    "preproc_def": Rule(kind="macro"),
    "preproc_function_def": Rule(kind="macro"),
}
DECLARATORS = frozenset(
    {
        "pointer_declarator", "function_declarator", "array_declarator", "parenthesized_declarator", "init_declarator",
        "attributed_declarator",
    }
)  # fmt: skip
NAMES = frozenset({"identifier", "field_identifier", "type_identifier"})
FRAMES = frozenset({"preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif"})

C = Grammar(
    package="tree_sitter_c",
    rules=RULES,
    anonymous=frozenset({"parameter_list"}),
    declarators=DECLARATORS,
    names=NAMES,
    bodies=frozenset({"compound_statement", "field_declaration_list", "enumerator_list"}),
    frames=FRAMES,
    visibility={"static": "private"},
    top_visibility="public",
    constant_words=frozenset({frozenset({"const"})}),
    is_tolerant=True,
    imports="(preproc_include path: (_) @target) @import",
)
