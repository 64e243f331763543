"""RouteResult as JSON: what is missing counts as empty, what has another type is refused at its field."""

from __future__ import annotations

import pytest

from ragkit.errors import InvalidInput
from ragkit.routing.route import RouteResult, route_from_json

LISTS = ("entity_names", "file_names", "endpoint_paths", "target_doc_hints", "matched_aliases")
FALSY: tuple[object, ...] = ("", 0, False, 0.0)


def test_missing_and_null_are_empty() -> None:
    bare = RouteResult(intent="DOCS_QA")
    assert route_from_json({"intent": "DOCS_QA"}) == bare
    nulls = {"subintent": None, "target_terms": None, "anchors": None}
    assert route_from_json({"intent": "DOCS_QA", **nulls}) == bare
    anchors = {name: None for name in (*LISTS, "process_domain", "process_subdomain")}
    assert route_from_json({"intent": "DOCS_QA", "anchors": anchors}) == bare
    assert route_from_json(bare.to_json()) == bare


@pytest.mark.parametrize("value", [*FALSY, [], {}], ids=repr)
def test_a_falsy_value_of_another_type_is_refused(value: object) -> None:
    def field_of(body: object) -> object:
        with pytest.raises(InvalidInput) as refused:
            route_from_json(body)
        return refused.value.params["field"]

    assert field_of({"intent": value}) == "intent"
    assert field_of({"intent": "DOCS_QA", "subintent": value}) == "subintent"
    if value != {}:
        assert field_of({"intent": "DOCS_QA", "anchors": value}) == "anchors"
    if value != []:
        assert field_of({"intent": "DOCS_QA", "target_terms": value}) == "target_terms"
        for name in LISTS:
            assert field_of({"intent": "DOCS_QA", "anchors": {name: value}}) == f"anchors.{name}"
    if value != "":
        assert field_of({"intent": "DOCS_QA", "anchors": {"process_domain": value}}) == "anchors.process_domain"
