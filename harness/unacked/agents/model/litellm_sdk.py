"""LiteLLM. This is the only module that imports it, and it is imported by name: it takes seconds."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")  # or its import fetches a price list from the network
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

from unacked.agents.model.answer import Delivery
from unacked.agents.model.driver import Access
from unacked.agents.model.fault import refused, unreachable
from unacked.agents.protocol import ProviderError
from unacked.canonical import JSON

__all__ = ["connect"]

litellm.suppress_debug_info = True
litellm.telemetry = False


def connect(access: Access) -> LiteLLMConnection:
    """Return a connection for one trial."""
    return LiteLLMConnection(access)


class LiteLLMConnection:
    """Chat Completions of whatever provider LiteLLM knows: no retries of its own."""

    api_version: str | None = None

    def __init__(self, access: Access) -> None:
        self._address = access.address
        self._options: dict[str, Any] = {
            "api_key": access.key,
            "base_url": access.base_url,
            "timeout": access.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
        }

    def send(self, body: Mapping[str, JSON]) -> Delivery:
        """One request, one whole answer."""
        with _told(self._address):
            answer: Any = litellm.completion(**body, **self._options)
            return Delivery(answer.model_dump(exclude_none=True), _request_id(answer))

    def stream(self, body: Mapping[str, JSON], gather: Callable[..., JSON]) -> Delivery:
        """One request, the chunks of one answer."""
        with _told(self._address):
            chunks: Any = litellm.completion(**body, **self._options)
            whole = gather(chunk.model_dump(exclude_none=True) for chunk in chunks)
            return Delivery(whole, _request_id(chunks))

    def close(self) -> None:
        """Close the clients that LiteLLM keeps for later; it leaves that to nobody."""
        kept = litellm.in_memory_llm_clients_cache
        for client in list(kept.cache_dict.values()):
            close = getattr(client, "close", None)
            if close is not None and not inspect.iscoroutinefunction(close):
                close()
        kept.flush_cache()


def _request_id(answer: Any) -> str | None:
    headers = (getattr(answer, "_hidden_params", None) or {}).get("additional_headers") or {}
    found = headers.get("llm_provider-x-request-id") or headers.get("llm_provider-request-id")
    return found if isinstance(found, str) else None


@contextmanager
def _told(address: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LiteLLM's modules, loaded late, warn of themselves
            yield
    except ProviderError:
        raise
    except litellm.Timeout as error:
        raise unreachable(error, address, late=True) from None
    except Exception as error:  # noqa: BLE001 - its errors share no class
        response = getattr(error, "response", None)
        status = getattr(error, "status_code", None)
        if isinstance(error, litellm.APIConnectionError) or not isinstance(status, int):
            raise unreachable(error, address) from None
        raise refused(status, getattr(response, "headers", {}), getattr(error, "body", None) or str(error)) from None
