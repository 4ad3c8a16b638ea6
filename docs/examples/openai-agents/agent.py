"""An agent of the OpenAI Agents SDK under test: its own loop, its own requests; only the tools are the harness's."""

import json

from openai import AsyncOpenAI

from agents import Agent, FunctionTool, OpenAIResponsesModel, Runner, set_tracing_disabled

set_tracing_disabled(disabled=True)  # it would send every run to its maker


def offered(job, tool):
    """One tool of the case as one of the SDK."""

    async def invoke(_context, arguments):
        return json.dumps(await job.acall(tool["name"], json.loads(arguments)))

    return FunctionTool(tool["name"], tool["description"], tool["input_schema"], invoke, strict_json_schema=False)


async def run(job):
    """Let the SDK work on the task; every call of a tool is recorded and judged."""
    async with AsyncOpenAI(base_url=job.base_url, api_key=job.key, max_retries=0) as client:
        agent = Agent(
            name="under test",
            instructions=job.prompt,
            tools=[offered(job, tool) for tool in job.tools],
            model=OpenAIResponsesModel(job.model, client),
        )
        done = await Runner.run(agent, job.task, max_turns=20)
        return str(done.final_output)
