"""TypeScript and TSX: JavaScript's table and what types add."""

from __future__ import annotations

from dataclasses import replace

from ragkit.indexing.code.grammars.javascript import FUNCTIONS, JAVASCRIPT, RULES, WRAPPERS
from ragkit.indexing.code.grammars.table import Rule

_RULES = {
    **{node: rule for node, rule in RULES.items() if node != "field_definition"},
    "public_field_definition": Rule(kind="field", by_value=FUNCTIONS),
    "abstract_class_declaration": Rule(kind="class"),
    "interface_declaration": Rule(kind="interface"),
    "type_alias_declaration": Rule(kind="type_alias"),
    "enum_declaration": Rule(kind="enum"),
    "enum_assignment": Rule(kind="enum_member"),
    "property_identifier": Rule(kind="enum_member", name="", only_in="enum_body"),
    "function_signature": Rule(kind="function"),
    "method_signature": Rule(kind="method", members_only=True),
    "abstract_method_signature": Rule(kind="method"),
    "property_signature": Rule(kind="field", members_only=True),
    "internal_module": Rule(kind="namespace"),
    "module": Rule(kind="namespace"),
}

TYPESCRIPT = replace(
    JAVASCRIPT,
    package="tree_sitter_typescript",
    function="language_typescript",
    rules=_RULES,
    wrappers=WRAPPERS | {"ambient_declaration"},
    anonymous=JAVASCRIPT.anonymous | {"object_type", "formal_parameters"},
    visibility={"export": "public", "private": "private", "protected": "protected", "public": "public"},
    bodies=JAVASCRIPT.bodies | {"interface_body", "enum_body"},
    imports=JAVASCRIPT.imports + "(import_require_clause source: (string) @target) @import\n",
)
TSX = replace(TYPESCRIPT, function="language_tsx")
