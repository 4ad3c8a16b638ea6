"""What the SDKs of Anthropic and OpenAI have in common: they are made by one generator, down to their exceptions."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import httpx2

from unacked.agents.model.answer import Delivery
from unacked.agents.model.driver import Access
from unacked.agents.model.fault import refused, unreachable
from unacked.agents.model.raw import check_stream, strict_body
from unacked.agents.protocol import ProviderError
from unacked.canonical import JSON

__all__ = ["SdkConnection"]


_UNKNOWN = re.compile(r"unexpected keyword argument '(\w+)'")


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


class SdkConnection:
    """One API of an SDK, for one trial: no retries of the SDK's own, no redirects.

    ``client_class`` is the SDK's client, ``failure`` the base of its own exceptions, ``request_id`` the header in
    which the provider names a request.
    """

    api_version: str | None = None

    def __init__(
        self, sdk: ModuleType, access: Access, *, client_class: Any, failure: type[Exception], request_id: str
    ) -> None:
        self._sdk, self._failure, self._request_id = sdk, failure, request_id
        self._address = access.address
        http = httpx2.Client(verify=_certificates(), follow_redirects=False, timeout=access.timeout_s)
        self.client: Any = client_class(api_key=access.key, base_url=access.base_url, http_client=http, max_retries=0)
        self.create: Callable[..., Any]

    def send(self, body: Mapping[str, JSON]) -> Delivery:
        """One request, one whole answer."""
        with self._told():
            raw = self.create(**body)
        return Delivery(strict_body(raw.http_response.content), raw.headers.get(self._request_id))

    def stream(self, body: Mapping[str, JSON], gather: Callable[..., JSON]) -> Delivery:
        """One request, the events of one answer."""
        with self._told():
            raw = self.create(**body)
            check_stream(raw.headers)
            with raw.parse() as events:
                whole = gather(event.to_dict() for event in events)
        return Delivery(whole, raw.headers.get(self._request_id))

    def close(self) -> None:
        """Close the client."""
        self.client.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell what the SDK raises as what the provider did."""
        sdk = self._sdk
        try:
            yield
        except sdk.APIStatusError as error:
            raise refused(error.status_code, error.response.headers, error.body) from None
        except (sdk.APITimeoutError, httpx2.TimeoutException) as error:
            raise unreachable(error, self._address, late=True) from None
        except (sdk.APIConnectionError, httpx2.HTTPError) as error:
            raise unreachable(error, self._address) from None
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, self._failure) as error:
            raw = {"error": [type(error).__name__, str(error)[:1000]]}
            unknown = _UNKNOWN.search(str(error)) if isinstance(error, TypeError) else None
            told = f"it has no parameter {unknown[1]!r}" if unknown else type(error).__name__
            message = f"the SDK could not make or read this request: {told}"
            raise ProviderError("sdk_refused", message, raw=raw) from None
