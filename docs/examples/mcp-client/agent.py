"""A small agent for the command line: a model by OpenAI's SDK, tools by the MCP servers of a configuration file.

agent.py --mcp-config FILE --model NAME TASK
"""

import argparse
import asyncio
import json
import os
from pathlib import Path

from mcp import Client, StdioServerParameters, stdio_client
from openai import AsyncOpenAI


def server(config):
    """The server of a configuration, by a process or by its URL."""
    (known,) = json.loads(Path(config).read_text())["mcpServers"].values()
    if "url" in known:
        return known["url"]
    return stdio_client(StdioServerParameters(command=known["command"], args=known["args"]))


async def work(tools, model, prompt, task):
    """Ask the model and call what it wants called, until it calls nothing more."""
    offered = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in (await tools.list_tools()).tools
    ]
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": task}]
    base_url, key = os.environ.get("UNACKED_BASE_URL") or None, os.environ.get("UNACKED_KEY")
    async with AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
        while True:
            answer = await client.chat.completions.create(model=model, messages=messages, tools=offered)
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = await tools.call_tool(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.content[0].text})


async def main():
    """Work on one task and print the last word."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--mcp-config", required=True)
    words.add_argument("--model", required=True)
    words.add_argument("task")
    given = words.parse_args()
    async with Client(server(given.mcp_config)) as tools:
        print(await work(tools, given.model, os.environ.get("UNACKED_PROMPT", ""), given.task))


asyncio.run(main())
