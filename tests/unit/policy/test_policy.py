"""A policy file is checked key by key, and what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragkit import bundle
from ragkit.errors import InvalidInput, UnknownName
from ragkit.layers import Layer
from ragkit.policy.policy import parse_policy, policy_hash

SPEC = bundle.read_text("policy/spec.toml")
LOGIC_MARKERS = '["/logic/", "logic", "workflow", "flow", "process"]'


def broken(old: str, new: str) -> str:
    assert old in SPEC
    return SPEC.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (broken("limit = 8", "limit = 0"), "profiles.general_qa_grounded_summary.limit"),
        (broken("limit = 8", 'limit = "many"'), "profiles.general_qa_grounded_summary.limit"),
        (broken('["D1_DOCUMENT_CATALOG", "D0_DOC_CHUNKS"]', "[]"), "profiles.general_qa_grounded_summary.layers"),
        (broken('["D1_DOCUMENT_CATALOG", "D0', '["D9_NOTHING", "D0'), "profiles.general_qa_grounded_summary.layers.0"),
        (broken('["D1_DOCUMENT_CATALOG", "D0', '["C1", "D0'), "profiles.general_qa_grounded_summary"),
        (broken("[summary]", "[summry]"), "summary"),
        (broken("default_prefer =", "default_prefers ="), "summary.default_prefer"),
        (broken(f"markers = {LOGIC_MARKERS}", 'markers = "logic"'), "signals.LOGIC_FLOW.markers"),
        (broken("[signals.LOGIC_FLOW]", "[signals.LOGIC]"), "signals.LOGIC"),
        (broken("dense = 1.0", "dense = -1.0"), "ranking.docs.dense"),
        (broken("depth = 60", "depth = 100000"), "ranking.docs.depth"),
        (broken("same = 0.6", "same = nan"), "ranking.docs.lexical.same"),
        (broken("[general]", 'marker_match = "words"\n[general]'), "marker_match"),
        (broken("[general]", "domain_filter = true\n[general]"), "domain_filter"),
        (broken("default_prefixes =", 'path_filter = "none"\ndefault_prefixes ='), "find_files.path_filter"),
        (broken("seed_rows = 3", "seed_rows = 3\nseed_title = -1"), "ranking.docs.seed_title"),
        (broken("support = 0.5", 'support = "much"'), "ranking.docs.parts.support"),
        (broken('name = "spec"', 'name = "../spec"'), "name"),
        (broken('profile = "file_lookup"', 'profile = "nothing"'), "policy"),
    ],
    ids=lambda value: value if len(value) < 80 else "",
)
def test_wrong_key_is_named(text: str, key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_policy(text, origin="mine.toml")
    assert caught.value.code == "policy_invalid"
    assert caught.value.params["key"] == key
    sentence = bundle.messages().error(caught.value, "en")
    assert "mine.toml" in sentence
    assert f"'{key}'" in sentence


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("limit = 8", 'limit = "8"', "profiles."),
        ("limit = 8", "limit = 8.0", "profiles."),
        ("limit = 8", "limit = true", "profiles."),
        ("dense = 1.0", 'dense = "1.0"', "ranking.docs.dense"),
        ("dense = 1.0", "dense = true", "ranking.docs.dense"),
        ("dense = 1.0", "dense = nan", "ranking.docs.dense"),
        ("depth = 60", 'depth = "60"', "ranking.docs.depth"),
        ("common_share = 0.25", 'common_share = "0.25"', "ranking.docs.common_share"),
        ("common_share = 0.25", "common_share = 0", "ranking.docs.common_share"),
        ("seed_rows = 3", "seed_rows = 3.0", "ranking.docs.seed_rows"),
        ('"%overview%"', "'%overview%\\'", "general.prefer_like_patterns.1"),
        ('"%overview%"', "'%over\\\\\\'", "general.prefer_like_patterns.1"),
        ('"%overview%"', '"%over\\u0000%"', "general.prefer_like_patterns.1"),
        ('file_name_root = "docs/"', 'file_name_root = "do\\u0000cs/"', "find_files.file_name_root"),
    ],
)
def test_values_are_taken_as_they_are_written(old: str, new: str, key: str) -> None:
    """What the database would refuse at the first question, or pydantic read as another type, is refused at the key."""
    with pytest.raises(InvalidInput) as caught:
        parse_policy(broken(old, new), origin="mine")
    assert str(caught.value.params["key"]).startswith(key)


def test_whole_numbers_are_numbers_too() -> None:
    assert parse_policy(broken("dense = 1.0", "dense = 1"), origin="mine").ranking.docs.dense == 1.0
    escaped = parse_policy(broken('"%overview%"', "'%over\\\\'"), origin="mine").general.prefer_like_patterns[1]
    assert escaped == "%over\\\\"


def test_a_policy_that_is_there_and_no_text_is_not_unknown(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"\xff")
    for path in (tmp_path, tmp_path / "p.toml"):
        with pytest.raises(InvalidInput) as caught:
            bundle.policy(str(path), tmp_path)
        assert caught.value.code == "policy_unreadable"


def test_missing_profile_is_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_policy(broken('profile = "file_lookup"', 'profile = "nothing"'), origin="mine")
    assert "profiles lacks nothing" in str(caught.value.params["problem"])


def test_text_that_is_no_toml() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_policy("name = ", origin="mine")
    assert caught.value.code == "policy_not_toml"
    assert caught.value.params["origin"] == "mine"


def test_older_layer_ids_are_understood() -> None:
    text = broken('["D1_DOCUMENT_CATALOG", "D0_DOC_CHUNKS"]', '["D1_MODULE_CATALOG", "D3_SECTION_INDEX"]')
    chosen = parse_policy(text, origin="mine").profiles["general_qa_grounded_summary"]
    assert chosen.layers == (Layer.D1_DOCUMENT_CATALOG, Layer.D0_DOC_CHUNKS)


def test_hash_is_of_the_text() -> None:
    assert policy_hash("") == "e3b0c44298fc"  # the well-known SHA-256 of nothing
    assert bundle.policy("spec", Path("unused")).hash == policy_hash(SPEC)


def test_own_policy_by_name_and_by_path(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    own = tmp_path / "policies" / "mine.toml"
    own.write_text(broken('name = "spec"', 'name = "mine"'), encoding="utf-8")
    assert bundle.policy("mine", tmp_path).policy.name == "mine"
    assert bundle.policy(str(own), Path("elsewhere")).policy.name == "mine"
    assert bundle.policy_names(tmp_path) == ["spec", "tuned", "mine"]


@pytest.mark.parametrize("name", ["nothing", "", "a\0b", "\ud800", "x" * 5000, "/nonexistent/x.toml", "..", "%s"])
def test_unknown_policy_is_told_with_those_that_exist(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName) as caught:
        bundle.policy(name, tmp_path)
    assert caught.value.params["known"] == ["spec", "tuned"]


def test_policy_too_large(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    large.write_text("#" * 1_000_001, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        bundle.policy(str(large), tmp_path)
    assert caught.value.code == "policy_too_large"


@pytest.mark.parametrize("name", bundle.BUNDLED_POLICIES)
def test_bundled_policies_are_valid_and_called_by_their_file(name: str) -> None:
    assert bundle.policy(name, Path("unused")).policy.name == name


def test_what_a_policy_does_not_say_is_the_specification() -> None:
    policy = parse_policy(SPEC, origin="spec")
    assert (policy.marker_match, policy.domain_filter, policy.find_files.path_filter) == ("substring", "hard", "hard")
    assert policy.ranking.docs.seed_title is None


def test_policies_share_all_weights_but_two() -> None:
    spec, tuned = (bundle.policy(name, Path("unused")).policy.ranking.model_dump() for name in ("spec", "tuned"))
    assert (spec["docs"].pop("seed_title"), tuned["docs"].pop("seed_title")) == (None, 0.0)
    assert (spec["docs"]["parts"].pop("prefer_path"), tuned["docs"]["parts"].pop("prefer_path")) == (0.05, 0.1)
    assert spec == tuned
