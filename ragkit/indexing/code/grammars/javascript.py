"""JavaScript, JSX included."""

from __future__ import annotations

from ragkit.indexing.code.grammars.table import Grammar, Rule

FUNCTIONS = {
    "arrow_function": "function",
    "function_expression": "function",
    "generator_function": "function",
    "class": "class",
}
"""Values that make what is bound to them a function or a class."""
METHODS = {**dict.fromkeys(FUNCTIONS, "method"), "class": "class"}

RULES = {
    "function_declaration": Rule(kind="function"),
    "generator_function_declaration": Rule(kind="function"),
    "class_declaration": Rule(kind="class"),
    "method_definition": Rule(kind="method", members_only=True),
    "field_definition": Rule(kind="field", name="property", by_value=FUNCTIONS),
    "variable_declarator": Rule(kind="variable", by_value=FUNCTIONS),
    "assignment_expression": Rule(name="left", value="right", by_value=FUNCTIONS),
    "pair": Rule(name="key", by_value=METHODS, members_only=True),
}
WRAPPERS = frozenset({"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"})
NAMES = frozenset(
    {
        "identifier", "property_identifier", "private_property_identifier", "type_identifier", "string", "number",
        "computed_property_name", "member_expression", "nested_identifier",
    }
)  # fmt: skip
ANONYMOUS = frozenset({"arrow_function", "function_expression", "generator_function", "arguments"})
EXPORTED = """
(export_specifier name: (_) @name)
(export_statement value: (identifier) @name)
((assignment_expression left: (_) @left right: (identifier) @name) (#eq? @left "module.exports"))
((assignment_expression left: (_) @left right: (object (shorthand_property_identifier) @name))
 (#eq? @left "module.exports"))
((assignment_expression left: (member_expression object: (_) @left property: (property_identifier) @name))
 (#match? @left "^(module\\.)?exports$"))
"""
IMPORTS = """
(import_statement source: (string) @target) @import
(export_statement source: (string) @target) @import
((call_expression function: (identifier) @call arguments: (arguments . (string) @target)) @import
 (#eq? @call "require"))
(call_expression function: (import) arguments: (arguments . (string) @target)) @import
"""
UNPREFIXED = r"^(?:module\.)?exports\.|^(?:window|globalThis|self|this)\.|\bprototype\."

JAVASCRIPT = Grammar(
    package="tree_sitter_javascript",
    rules=RULES,
    anonymous=ANONYMOUS,
    wrappers=WRAPPERS,
    names=NAMES,
    comments=frozenset({"comment", "html_comment"}),
    decorators=frozenset({"decorator"}),
    bodies=frozenset({"statement_block", "class_body"}),
    visibility={"export": "public"},
    top_visibility="internal",
    name_visibility=(("#", "private"), ("_", "protected")),
    constant_words=frozenset({frozenset({"const"})}),
    unprefixed=UNPREFIXED,
    exported=EXPORTED,
    imports=IMPORTS,
)
