"""README's test command and `.ci/run` are the same command."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_readme_holds_one_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- test-command -->\n(.*?)<!-- /test-command -->", readme, flags=re.DOTALL)
    lines = [line for line in block.strip().splitlines() if line and not line.startswith("```")]
    assert len(lines) == 1
    for part in (
        "python3 -m venv .venv",
        "-c constraints.txt",
        "-m tests.browser.ensure_chromium",
        ".venv/bin/python -m pytest",
    ):
        assert part in lines[0]


def test_ci_runs_exactly_that_command() -> None:
    """`.ci/run --print-test-command` prints what it would run, and holds no copy of it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    printed = subprocess.run(
        [ROOT / ".ci" / "run", "--print-test-command"], capture_output=True, text=True, check=True, cwd="/"
    ).stdout.rstrip("\n")
    fenced = rf"<!-- test-command -->\n```\w*\n{re.escape(printed)}\n```\n<!-- /test-command -->"
    assert len(re.findall(fenced, readme)) == 1
    assert "pip install" not in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["run", "long"])
def test_scripts_can_be_run(name: str) -> None:
    script = ROOT / ".ci" / name
    assert script.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
    assert os.stat(script).st_mode & stat.S_IXUSR


def test_run_checks_style_types_and_imports() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for tool in ("ruff check", "ruff format --check", "basedpyright", "lint-imports"):
        assert f".venv/bin/{tool}" in text
