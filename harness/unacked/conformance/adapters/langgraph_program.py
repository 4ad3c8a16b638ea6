"""Carries out a plan as a LangGraph graph: every step is a node, what it runs after are its edges."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.errors import NodeTimeoutError
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy

from unacked.conformance.job import Job, StepFailed, context_of, is_wanted

JOB = Job.told()


class State(TypedDict):
    """The values of all steps so far."""

    values: Annotated[dict[str, Any], operator.or_]


def add_node(graph: StateGraph[State], step: Any) -> None:
    """Add a step to the graph."""

    async def run(state: State) -> dict[str, Any]:
        context = context_of(step, state["values"])
        return {"values": {step["id"]: await JOB.probe(step["id"], step["argument"], context)}}

    pause = {"initial_interval": step["first_s"], "backoff_factor": step["factor"], "jitter": step["jitter"] > 0}
    retry = RetryPolicy(max_attempts=step["attempts"], retry_on=StepFailed, **pause)
    graph.add_node(step["id"], run, retry_policy=retry, timeout=step["timeout_s"])


def add_edges(graph: StateGraph[State], step: Any) -> None:
    """Lead to a step from those that it runs after."""

    def chosen(state: State) -> list[str]:
        return [step["id"]] if is_wanted(step, state["values"]) else []

    chosen.__name__ = f"to {step['id']}"  # LangGraph names branches after their functions
    if step["when"]:
        graph.add_conditional_edges(step["when"][0], chosen, [step["id"]])
    else:
        graph.add_edge(step["after"] or START, step["id"])


async def main() -> None:
    """Start a run, or go on with one."""
    graph = StateGraph(State)
    for add in (add_node, add_edges):
        for step in JOB.plan["steps"]:
            add(graph, step)
    async with AsyncSqliteSaver.from_conn_string(f"{JOB.state}/checkpoints.sqlite") as saver:
        given: Any = {"values": {}} if JOB.verb == "start" else None
        config: Any = {"configurable": {"thread_id": JOB.plan["run"]}, "max_concurrency": JOB.plan["cap"]}
        try:
            await graph.compile(checkpointer=saver).ainvoke(given, config, durability="sync")
        except NodeTimeoutError:
            await JOB.tell_end(["timed_out"])


asyncio.run(main())
