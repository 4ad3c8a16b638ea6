"""A tool as one case has it: the contract that its service declares may differ from the tool's usual one."""

from __future__ import annotations

from dataclasses import replace

from unacked.case import CaseFile
from unacked.tools import TOOLS, Tool

__all__ = ["declared_tool"]


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
