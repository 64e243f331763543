"""What a file gives to the link step survives storage, and tells all that matters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tests
from ragkit.document import SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.links.offers import link_part
from ragkit.indexing.links.part import LinkPart, part_from_bytes, part_to_bytes
from ragkit.indexing.links.session_links import NO_LINKS, SessionLinks

Make = Callable[[str, str], SourceFile]
ROOT = Path(tests.__file__).parents[1]
IMPORT_MONEY = {"orders.py", "base.py", "facade.py", "__init__.py"}
FILES = [
    *sorted((ROOT / "tests" / "cases" / "code_edges").rglob("*.py")),
    *sorted((ROOT / "datasets" / "demo").rglob("*.md"))[:20],
]


@pytest.fixture(scope="module")
def parts(code: CodeIndexingPipeline, docs: DocsIndexingPipeline, source: Make) -> list[LinkPart]:
    found: list[LinkPart] = []
    for path in FILES:
        file = source(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
        found.append(link_part(file.path, (docs if path.suffix == ".md" else code).index_file(file)))
    return found


def test_bytes_give_the_part_back(parts: list[LinkPart]) -> None:
    assert all(part_from_bytes(part.path, part_to_bytes(part)) == part for part in parts)
    assert part_from_bytes("x", b"") == LinkPart(path="x")


def test_a_digest_changes_with_what_other_files_say(parts: list[LinkPart]) -> None:
    paths = frozenset(part.path for part in parts)
    whole = SessionLinks(lambda: parts, paths)
    assert NO_LINKS.digest == ""
    digests = {part.path: whole.of(part).digest for part in parts}
    assert any(digests.values())
    assert {part.path: SessionLinks(lambda: parts[::-1], paths).of(part).digest for part in parts} == digests
    fewer = [part for part in parts if not part.path.endswith("shop/money.py")]
    without = SessionLinks(lambda: fewer, frozenset(part.path for part in fewer))
    changed = {part.path.rpartition("/")[2] for part in fewer if without.of(part).digest != digests[part.path]}
    assert changed == IMPORT_MONEY
