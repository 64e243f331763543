from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import OpenService

FILES = {
    "nul.md": '---\ntitle: "a\\0b"\ntags: ["\\ud83d"]\nowners: ["\\0"]\n---\n# Nul\n\nText with an odd title.\n',
    "nul.yaml": 'openapi: "3.0.0"\ninfo: {title: "a\\0"}\npaths: {"/a\\0": {get: {operationId: "x\\0"}}}\n',
    "nul.py": '"""a\\0b \\ud800"""\n\n\n@app.get("/\\0")\ndef f(x="\\0"):\n    """a\\0b."""\n',
    "nul.ipynb": json.dumps({"cells": [{"cell_type": "markdown", "source": ["# T \0 \ud800\n", "Text."]}]}),
    "broken.ipynb": '{"cells": [',
    "bomb.md": "---\na: &a [x]\n" + "".join(f"a{n}: &a{n} [*a, *a]\n" for n in range(60)) + "---\n# Bomb\n\nText.\n",
    "deep.rst": "".join("  " * n + "- x\n\n" for n in range(60)),
    "paper.pdf": "%PDF",
    "посылка 📦.md": "# Посылка\n\nЛежит в ячейке семь дней.\n",
}


def test_hostile_files_never_cost_the_job(tmp_path: Path, database_url: str, open_service: OpenService) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "latin.md").write_bytes(bytes(range(128, 256)) * 4)
    (tmp_path / "loop.md").symlink_to("loop.md")
    job = open_service(database_url).index_snapshot("hostile", tmp_path)
    assert job.status == "done"
    assert job.files["indexed"] == 7
    assert job.files["left_out"] == {"binary": 1, "malformed": 1, "symlink": 1, "undecodable": 1}
    named = job.files["left_out_paths"]
    assert isinstance(named, dict)
    assert (named["malformed"], named["undecodable"]) == (["broken.ipynb"], ["latin.md"])
    told = sorted((str(warning["code"]), warning["params"]["path"]) for warning in job.warnings)  # pyright: ignore
    assert told == [("front_matter_invalid", "bomb.md"), ("rst_by_lines", "deep.rst")]
