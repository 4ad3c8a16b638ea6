from __future__ import annotations

from pathlib import Path

import pytest

from unacked.document import parse_yaml
from unacked.graph import load_graph
from unacked.graph.lint import lint_graph
from unacked.incident import sketch, written
from unacked.tools import REGISTRY

WRITES = sorted(name for name, operation in REGISTRY.items() if operation.writes and operation.broadcast is None)


@pytest.mark.parametrize("name", WRITES)
def test_the_draft_of_every_write_is_a_sound_graph(name: str, tmp_path: Path) -> None:
    document = parse_yaml(written(sketch(REGISTRY[name])), str(tmp_path / "draft.yaml"))
    graph = load_graph(document, REGISTRY)

    assert [str(finding) for finding in lint_graph(graph, REGISTRY)] == []
