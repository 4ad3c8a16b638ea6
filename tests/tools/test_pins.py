"""What is pinned of a tool: its contract and its endpoint."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unacked.tools import TOOLS
from unacked.tools.endpoint import Endpoint, Tool

TOOL = TOOLS["create_record"]


@pytest.mark.parametrize(
    "changes", [{"path": "/v2/records"}, {"success": 200}, {"hides_denial": True}, {"body": ("title",)}], ids=str
)
def test_a_changed_endpoint_is_another_tool(changes: dict[str, object]) -> None:
    endpoint = TOOL.endpoint
    assert isinstance(endpoint, Endpoint)

    changed = Tool(TOOL.operation, replace(endpoint, **changes))  # type: ignore[arg-type]

    assert changed.as_json() != TOOL.as_json()


def test_a_changed_contract_is_another_tool() -> None:
    assert Tool(replace(TOOL.operation, identity=None), TOOL.endpoint).as_json() != TOOL.as_json()
