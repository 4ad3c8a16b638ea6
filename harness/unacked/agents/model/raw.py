"""An answer as it came, before an SDK made something of it that looks right."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.agents.model.answer import malformed
from unacked.canonical import JSON, InvalidJSON, loads

__all__ = ["check_stream", "strict_body"]


def strict_body(content: bytes) -> JSON:
    """Return the JSON object that an answer holds; raises ProviderError for HTML, error bodies, anything else."""
    try:
        body = loads(content)
    except InvalidJSON as error:
        kind = (
            "HTML or XML, and no JSON; is the base URL right?" if content.lstrip()[:1] == b"<" else f"not JSON: {error}"
        )
        raise malformed(f"it is {kind}") from None
    if not isinstance(body, dict):
        raise malformed("it is no JSON object")
    if body.get("error") is not None:
        raise malformed("it is an error with the status of a success")
    return body


def check_stream(headers: Mapping[str, str]) -> None:
    """Raise ProviderError where an answer is no stream of events: an SDK would read it as an empty one."""
    kind = headers.get("content-type", "")
    if not kind.startswith("text/event-stream"):
        raise malformed(f"a stream was asked for, and {kind.partition(';')[0] or 'something'} came")
