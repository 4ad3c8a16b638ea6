"""Agents with a model: one conversation for all of them, an API as pure functions, an SDK behind one small door.

answer      what every API means alike
messages, chat, responses    the three APIs, as pure functions from JSON to JSON
session     one trial's conversation: the loop, the budget, the attempts
driver      which API goes with which SDK and which key
price       what it costs, as far as that is known
fault, raw  what SDKs raise, and what they would let pass
*_sdk       the SDKs, each in a module that is imported by name only
"""

from unacked.agents.model.driver import APIS, Access, ModelDriver

__all__ = ["APIS", "Access", "ModelDriver"]
