from __future__ import annotations

from collections.abc import Callable

import pytest

from unacked.contract import Registry
from unacked.errors import SpecificationError
from unacked.graph import Graph
from unacked.graph.lint import Finding, lint_graph

Found = Callable[..., list[Finding]]


@pytest.fixture
def found(load: Callable[[str], Graph], registry: Registry) -> Found:
    """What the lints find in a graph file g.yaml of this text; ``only`` these ids."""

    def lint(text: str, *only: str, fired: set[str] | None = None) -> list[Finding]:
        findings = lint_graph(load(text), registry, fired=fired)
        return [item for item in findings if not only or item.id in only]

    return lint


@pytest.fixture
def refused(load: Callable[[str], Graph]) -> Callable[[str], list[tuple[str, int]]]:
    """The ids, with their lines, for which the loader refuses a file."""

    def lint(text: str) -> list[tuple[str, int]]:
        with pytest.raises(SpecificationError) as caught:
            load(text)
        return [(problem.rule, problem.place.line) for problem in caught.value.problems]

    return lint
