"""A tool as one case has it: the contract that its service declares may differ from the tool's usual one."""

from __future__ import annotations

from dataclasses import replace

from unacked.case import CaseFile
from unacked.tools import HAND_OVER, TOOLS, Tool

__all__ = ["declared_tool", "offered_tools"]


def offered_tools(file: CaseFile) -> dict[str, Tool]:
    """Return the tools of a case under the terms that it declares; the members of a team can hand over too."""
    tools = {name: declared_tool(name, file) for name in file.tools}
    return {**tools, HAND_OVER.operation.name: HAND_OVER} if file.team else tools


def declared_tool(name: str, file: CaseFile) -> Tool:
    """Return the tool ``name`` under the terms that the case declares for it."""
    tool, terms = TOOLS[name], file.contract.get(name)
    if terms is None:
        return tool
    operation, endpoint = tool.operation, tool.endpoint
    if terms.idempotency is not None:
        operation = replace(operation, idempotency_mode=terms.idempotency)
    if terms.hides_denial and endpoint is not None:
        endpoint = replace(endpoint, hides_denial=True)
    return replace(tool, operation=operation, endpoint=endpoint, approval=terms.approval)
