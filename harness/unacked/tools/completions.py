"""The tool of the service ``completions``: one call of a language model that the agent uses as a tool."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import OPTIONAL_REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

TOOLS = (
    Tool(
        Operation(
            name="complete_text",
            effect=Effect.SPEND,
            description="Have a language model complete a text, such as a summary; every completion is charged.",
            arguments=(
                Argument("model", description="The model's name."),
                Argument("prompt"),
                OPTIONAL_REQUEST,
            ),
            result=(Argument("completion_id"), Argument("text")),
            categories=CATEGORY_SETS["http_write"],
            target="model",
            target_class="model",
            identity="completion_id",
            request="request_id",
        ),
        Endpoint(
            service="completions",
            method="POST",
            path="/v1/completions",
            body=("model", "prompt", "request_id"),
            failures=NOT_DONE,
        ),
    ),
)
