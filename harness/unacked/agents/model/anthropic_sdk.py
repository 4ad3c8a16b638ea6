"""The Anthropic SDK. This is the only module that imports it, and it is imported by name."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import anthropic
import httpx2

from unacked.agents.model.answer import Delivery
from unacked.agents.model.driver import Access
from unacked.agents.model.fault import refused, unreachable
from unacked.agents.model.raw import check_stream, strict_body
from unacked.agents.protocol import ProviderError
from unacked.canonical import JSON

__all__ = ["connect"]


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


def connect(access: Access) -> AnthropicConnection:
    """Return a connection for one trial."""
    return AnthropicConnection(access)


class AnthropicConnection:
    """The Messages API through the SDK: no retries of its own, no redirects."""

    def __init__(self, access: Access) -> None:
        self._http = httpx2.Client(verify=_certificates(), follow_redirects=False, timeout=access.timeout_s)
        self._client = anthropic.Anthropic(
            api_key=access.key, base_url=access.base_url, http_client=self._http, max_retries=0
        )
        version = self._client.default_headers.get("anthropic-version")
        self.api_version = version if isinstance(version, str) else None

    def send(self, body: Mapping[str, JSON]) -> Delivery:
        """One request, one whole answer."""
        with _told():
            raw: Any = self._client.messages.with_raw_response.create(**body)
        return Delivery(strict_body(raw.http_response.content), raw.headers.get("request-id"))

    def stream(self, body: Mapping[str, JSON], gather: Callable[..., JSON]) -> Delivery:
        """One request, the events of one answer."""
        with _told():
            raw: Any = self._client.messages.with_raw_response.create(**body)
            check_stream(raw.headers)
            with raw.parse() as events:
                whole = gather(event.to_dict() for event in events)
        return Delivery(whole, raw.headers.get("request-id"))

    def close(self) -> None:
        """Close the client."""
        self._client.close()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except anthropic.APIStatusError as error:
        raise refused(error.status_code, error.response.headers, error.body) from None
    except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
        raise unreachable("timeout", "the provider did not answer in time", error) from None
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        raise unreachable("no_connection", "the connection to the provider failed or broke off", error) from None
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, anthropic.AnthropicError) as error:
        raw = {"error": [type(error).__name__, str(error)[:1000]]}
        raise ProviderError(
            "sdk_refused", f"the SDK could not make or read this request: {type(error).__name__}", raw=raw
        ) from None
