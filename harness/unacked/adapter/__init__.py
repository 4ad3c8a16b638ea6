"""Adapters under test: other people's tool code, called at every fault, its claims held against the ledger."""

from unacked.adapter.check import WIRES, Heard, Report, cases_of, check
from unacked.adapter.link import OVER_MCP, Adapter, Link, load_adapter
from unacked.adapter.replies import Misreply
from unacked.adapter.rules import HONESTY, RULES, judge_call, proof_of
from unacked.adapter.supervise import PATIENCE_S, supervised

__all__ = [
    "HONESTY",
    "OVER_MCP",
    "PATIENCE_S",
    "RULES",
    "WIRES",
    "Adapter",
    "Heard",
    "Link",
    "Misreply",
    "Report",
    "cases_of",
    "check",
    "judge_call",
    "load_adapter",
    "proof_of",
    "supervised",
]
