"""Imports of other languages as files of the session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.document import SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.links.linked_rows import link_session
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]


@pytest.mark.parametrize(
    ("files", "targets"),
    [
        (
            {
                "web/x.ts": "import {A} from './orders'\nimport b from '../lib/b.js'\nimport c from './c'\n"
                "import React from 'react'\nimport d from './gone'\n",
                "web/orders.ts": "export class A {}\n",
                "lib/b.ts": "export default 1\n",
                "web/c/index.tsx": "export default 1\n",
                "react.js": "var react = 1\n",
            },
            ["web/orders.ts", "lib/b.ts", "web/c/index.tsx", None, None],
        ),
        (
            {
                "src/x.c": '#include "orders.h"\n#include <shop/price.h>\n#include <stdio.h>\n#include "two.h"\n',
                "src/orders.h": "int f(void);\n",
                "include/shop/price.h": "int g(void);\n",
                "a/two.h": "int h(void);\n",
                "b/two.h": "int h(void);\n",
            },
            ["src/orders.h", "include/shop/price.h", None, None],
        ),
        (
            {
                "app/src/X.java": "package a;\nimport com.acme.Order;\nimport static com.acme.U.f;\n"
                "import java.util.List;\n",
                "lib/src/com/acme/Order.java": "package com.acme;\nclass Order {}\n",
                "lib/src/com/acme/U.java": "package com.acme;\nclass U {}\n",
            },
            ["lib/src/com/acme/Order.java", "lib/src/com/acme/U.java", None],
        ),
        (
            {
                "src/x.rs": "use crate::orders::Order;\nuse std::fmt;\nmod y;\nuse super::z;\n",
                "src/orders.rs": "pub struct Order;\n",
                "src/x/y.rs": "pub fn f() {}\n",
                "src/z/mod.rs": "pub fn g() {}\n",
            },
            ["src/orders.rs", None, "src/x/y.rs", "src/z/mod.rs"],
        ),
    ],
)
def test_imports_lead_to_files(
    code: CodeIndexingPipeline, source: Make, files: dict[str, str], targets: list[str | None]
) -> None:
    linked = link_session({path: code.index_file(source(path, text)) for path, text in files.items()})
    edges = [row for row in linked[next(iter(files))] if row.layer is Layer.C2_DEPENDENCY_GRAPH]
    assert [row.attributes["lang_payload"].get("dst_path") for row in edges] == targets  # type: ignore[attr-defined]


def test_a_go_package_is_no_python_module(code: CodeIndexingPipeline, source: Make) -> None:
    files = {"x.go": 'package a\nimport "json"\n', "json.py": "def load(): ...\n"}
    linked = link_session({path: code.index_file(source(path, text)) for path, text in files.items()})
    edge = next(row for row in linked["x.go"] if row.layer is Layer.C2_DEPENDENCY_GRAPH)
    assert edge.attributes["dst_symbol_id"] is None
    assert "dst_path" not in edge.attributes["lang_payload"]  # type: ignore[operator]
