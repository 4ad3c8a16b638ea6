"""Carries out a plan as a LangGraph graph: every step is a node, what it runs after are its edges."""

from __future__ import annotations

import asyncio
import json
import operator
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.errors import NodeTimeoutError
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy

from unacked.conformance.walk import StepFailed, run_probe


class State(TypedDict):
    """The values of all steps so far."""

    values: Annotated[dict[str, Any], operator.or_]


def graph_of(plan: dict[str, Any]) -> StateGraph[State]:
    """Return the graph of a plan."""

    def node(step: dict[str, Any]) -> Any:
        async def run(state: State) -> dict[str, Any]:
            context = [[name, state["values"][name]] for name in step["after"] if name in state["values"]]
            return {"values": {step["id"]: await run_probe(plan["probe"], step["id"], step["argument"], context)}}

        return run

    graph = StateGraph(State)
    for step in plan["steps"]:
        retry = RetryPolicy(
            initial_interval=step["first_s"],
            backoff_factor=step["factor"],
            max_attempts=step["attempts"],
            jitter=step["jitter"] > 0,
            retry_on=StepFailed,
        )
        graph.add_node(step["id"], node(step), retry_policy=retry, timeout=step["timeout_s"])
    for step in plan["steps"]:
        if step["when"]:
            name, value = step["when"]

            def chosen(state: State, name: str = name, value: Any = value, to: str = step["id"]) -> list[str]:
                return [to] if state["values"].get(name) == value else []

            chosen.__name__ = f"to {step['id']}"  # LangGraph names branches after their functions
            graph.add_conditional_edges(name, chosen, [step["id"]])
        elif step["after"]:
            graph.add_edge(list(step["after"]), step["id"])
        else:
            graph.add_edge(START, step["id"])
    return graph


async def main(verb: str, plan: dict[str, Any], state: str) -> None:
    """Start a run, or go on with one."""
    async with AsyncSqliteSaver.from_conn_string(f"{state}/checkpoints.sqlite") as saver:
        graph = graph_of(plan).compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": plan["run"]}, "max_concurrency": plan["cap"]}
        try:
            await graph.ainvoke({"values": {}} if verb == "start" else None, config, durability="sync")
        except NodeTimeoutError:
            if "timed_out" in plan["on"]:
                await run_probe(plan["probe"], plan["on"]["timed_out"], None, [])


asyncio.run(main(sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")), sys.argv[3]))
