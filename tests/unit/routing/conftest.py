from __future__ import annotations

from pathlib import Path

import pytest

from ragkit.routing.router import IntentRouter
from ragkit.routing.rules import RoutingRules
from ragkit.text import Analyzer

PACKAGE = Path(__file__).parents[3] / "ragkit"


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    return Analyzer.parse((PACKAGE / "stems.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def rule_texts() -> tuple[str, str]:
    return (
        (PACKAGE / "routing/cues.toml").read_text(encoding="utf-8"),
        (PACKAGE / "routing/terms.toml").read_text(encoding="utf-8"),
    )


@pytest.fixture(scope="session")
def rules(rule_texts: tuple[str, str]) -> RoutingRules:
    return RoutingRules.parse(*rule_texts)


@pytest.fixture(scope="session")
def router(rules: RoutingRules, analyzer: Analyzer) -> IntentRouter:
    return IntentRouter(rules, analyzer)
