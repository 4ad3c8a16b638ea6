"""The OpenAI SDK. This is the only module that imports it, and it is imported by name."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpx2
import openai

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


def connect(access: Access) -> OpenAIConnection:
    """Return a connection for one trial."""
    return OpenAIConnection(access)


class OpenAIConnection:
    """Chat Completions or Responses through the SDK: no retries of its own, no redirects."""

    api_version: str | None = None

    def __init__(self, access: Access) -> None:
        self._http = httpx2.Client(verify=_certificates(), follow_redirects=False, timeout=access.timeout_s)
        self._client = openai.OpenAI(
            api_key=access.key, base_url=access.base_url, http_client=self._http, max_retries=0
        )
        resource: Any = self._client.responses if access.operation == "responses" else self._client.chat.completions
        self._create = resource.with_raw_response.create

    def send(self, body: Mapping[str, JSON]) -> Delivery:
        """One request, one whole answer."""
        with _told():
            raw = self._create(**body)
        return Delivery(strict_body(raw.http_response.content), raw.headers.get("x-request-id"))

    def stream(self, body: Mapping[str, JSON], gather: Callable[..., JSON]) -> Delivery:
        """One request, the events of one answer."""
        with _told():
            raw = self._create(**body)
            check_stream(raw.headers)
            with raw.parse() as events:
                whole = gather(event.to_dict() for event in events)
        return Delivery(whole, raw.headers.get("x-request-id"))

    def close(self) -> None:
        """Close the client."""
        self._client.close()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except openai.APIStatusError as error:
        raise refused(error.status_code, error.response.headers, error.body) from None
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise unreachable("timeout", "the provider did not answer in time", error) from None
    except (openai.APIConnectionError, httpx2.HTTPError) as error:
        raise unreachable("no_connection", "the connection to the provider failed or broke off", error) from None
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, openai.OpenAIError) as error:
        raw = {"error": [type(error).__name__, str(error)[:1000]]}
        raise ProviderError(
            "sdk_refused", f"the SDK could not make or read this request: {type(error).__name__}", raw=raw
        ) from None
