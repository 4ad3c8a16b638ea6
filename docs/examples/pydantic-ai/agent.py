"""An agent of Pydantic AI under test: its own loop, its own requests; only the tools are the harness's."""

import json

from openai import AsyncOpenAI
from pydantic_ai import Agent, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def offered(job, tool):
    """One tool of the case as one of Pydantic AI; a write is never made at the same time as another call."""

    async def call(**arguments):
        return json.dumps(await job.acall(tool["name"], arguments))

    return Tool.from_schema(call, tool["name"], tool["description"], tool["input_schema"], sequential=True)


async def run(job):
    """Let Pydantic AI work on the task; every call of a tool is recorded and judged."""
    async with AsyncOpenAI(base_url=job.base_url, api_key=job.key, max_retries=0) as client:
        model = OpenAIChatModel(job.model, provider=OpenAIProvider(openai_client=client))
        agent = Agent(model, instructions=job.prompt, tools=[offered(job, tool) for tool in job.tools])
        done = await agent.run(job.task)
        return done.output
