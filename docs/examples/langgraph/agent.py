"""An agent that is a graph of LangGraph under test: two nodes, a model and its tools; only the tools are the harness's."""

import json
import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from openai import OpenAI


class State(TypedDict):
    """What goes along the edges: every message so far."""

    messages: Annotated[list, operator.add]


def graph(job, client):
    """A model that is asked, and tools that are called, until it calls none."""
    tools = [
        {
            "type": "function",
            "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]},
        }
        for tool in job.tools
    ]

    def ask(state):
        answer = client.chat.completions.create(model=job.model, messages=state["messages"], tools=tools)
        return {"messages": [answer.choices[0].message.model_dump(exclude_none=True)]}

    def act(state):
        results = []
        for call in state["messages"][-1]["tool_calls"]:
            result = job.call(call["function"]["name"], json.loads(call["function"]["arguments"]))
            results.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(dict(result))})
        return {"messages": results}

    built = StateGraph(State)
    built.add_node("ask", ask)
    built.add_node("act", act)
    built.add_edge(START, "ask")
    built.add_conditional_edges("ask", lambda state: "act" if state["messages"][-1].get("tool_calls") else END)
    built.add_edge("act", "ask")
    return built.compile()


def run(job):
    """Let the graph work on the task; every call of a tool is recorded and judged."""
    opening = [{"role": "system", "content": job.prompt}, {"role": "user", "content": job.task}]
    with OpenAI(base_url=job.base_url, api_key=job.key, max_retries=0) as client:
        done = graph(job, client).invoke({"messages": opening}, {"recursion_limit": 50})
    return done["messages"][-1].get("content") or ""
