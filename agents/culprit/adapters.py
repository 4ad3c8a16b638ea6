"""The code of tools as it was when an incident happened: each function makes one call, and lets the credential out."""

import logging
from collections.abc import Mapping
from typing import Any

import httpx2

from unacked.adapter import Link
from unacked.tools import TOOLS

__all__ = ["key_in_the_address", "key_into_the_arguments", "quotes_the_key", "quotes_the_refusal"]

LOG = logging.getLogger(__name__)


def key_into_the_arguments(operation: str, arguments: dict[str, Any], link: Link) -> dict[str, Any]:
    """Put the credential among the caller's own arguments, on their way to the request."""
    arguments["authorization"] = f"Bearer {link.token}"
    headers = {"authorization": str(arguments["authorization"])}
    response = _send(operation, arguments, link, headers=headers)
    return _told(operation, link, "ok", "none", "Done.", result=response.json())


def quotes_the_refusal(operation: str, arguments: dict[str, Any], link: Link) -> dict[str, Any]:
    """Make a log line, and the message of the result, of whatever the service wrote in its refusal."""
    response = _send(operation, arguments, link, headers=_bearer(link))
    LOG.error("%s failed: %s", operation, response.text)
    return _told(operation, link, "authentication_failed", "never", f"The service said: {response.text}")


def key_in_the_address(operation: str, arguments: dict[str, Any], link: Link) -> dict[str, Any]:
    """Send the credential as a part of the address, which every trace and every error shows."""
    response = _send(operation, arguments, link, headers=_bearer(link), query=f"?key={link.token}")
    LOG.info("span: http.url=%s http.status_code=%s", response.url, response.status_code)
    return _told(operation, link, "outcome_unknown", "within_budget", "No usable answer came.")


def quotes_the_key(operation: str, arguments: dict[str, Any], link: Link) -> dict[str, Any]:
    """Name the key that was not good enough in the error."""
    response = _send(operation, arguments, link, headers=_bearer(link))
    if response.status_code == 403:
        raise PermissionError(f"the key {link.token} may not read this")
    return _told(operation, link, "ok", "none", "Done.", result=response.json())


def _bearer(link: Link) -> dict[str, str]:
    return {"authorization": f"Bearer {link.token}"}


def _send(
    operation: str, arguments: Mapping[str, Any], link: Link, *, headers: Mapping[str, str], query: str = ""
) -> httpx2.Response:
    endpoint = TOOLS[operation].endpoint
    assert endpoint is not None  # noqa: S101 - the incidents are those of tools with one
    url = endpoint.url(arguments).replace(f"https://{endpoint.service}.test", link.base_url[endpoint.service], 1)
    content = endpoint.content(arguments, link.correlation_id) or None
    return link.http.request(
        endpoint.method, url + query, headers={**headers, "x-correlation-id": link.correlation_id}, content=content
    )


def _told(
    operation: str, link: Link, category: str, retry: str, message: str, result: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "ok": category == "ok",
        "category": category,
        "operation": operation,
        "retry": retry,
        "correlation_id": link.correlation_id,
        "message": message,
        "result": dict(result or {}),
    }
