"""The Anthropic SDK. This is the only module that imports it, and it is imported by name."""

from __future__ import annotations

import anthropic

from unacked.agents.model.driver import Access
from unacked.agents.model.sdk import SdkConnection

__all__ = ["connect"]


def connect(access: Access) -> SdkConnection:
    """Return a connection to the Messages API for one trial."""
    connection = SdkConnection(
        anthropic,
        access,
        client_class=anthropic.Anthropic,
        failure=anthropic.AnthropicError,
        request_id="request-id",
    )
    connection.create = connection.client.messages.with_raw_response.create
    version = connection.client.default_headers.get("anthropic-version")
    connection.api_version = version if isinstance(version, str) else None
    return connection
