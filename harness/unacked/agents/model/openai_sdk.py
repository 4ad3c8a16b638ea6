"""The OpenAI SDK. This is the only module that imports it, and it is imported by name."""

from __future__ import annotations

import openai

from unacked.agents.model.driver import Access
from unacked.agents.model.sdk import SdkConnection

__all__ = ["connect"]


def connect(access: Access) -> SdkConnection:
    """Return a connection to Chat Completions or Responses for one trial."""
    connection = SdkConnection(
        openai, access, client_class=openai.OpenAI, failure=openai.OpenAIError, request_id="x-request-id"
    )
    client = connection.client
    resource = client.responses if access.operation == "responses" else client.chat.completions
    connection.create = resource.with_raw_response.create
    return connection
