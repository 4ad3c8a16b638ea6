"""The drivers of models: an API, the SDK that speaks it, and where the key comes from."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from unacked.agents.model.answer import Dialect, Setup
from unacked.agents.model.chat import Chat
from unacked.agents.model.messages import Messages
from unacked.agents.model.responses import Responses
from unacked.agents.model.session import Connection, ModelSession
from unacked.agents.protocol import PastTurn, ProviderError, Seat, Session, Task
from unacked.case import AgentFile

__all__ = ["APIS", "Access", "Api", "ModelDriver"]


NO_KEY = "no-key"
"""What is sent to a server of one's own whose agent names no key."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a provider; no ``base_url`` means the SDK's own, ``timeout_s`` is for one request.

    ``address`` is the host, with its port, that the agent's own file names: what a person may have got wrong.
    """

    operation: str
    key: str
    base_url: str | None
    timeout_s: float
    address: str = ""


class Sdk(Protocol):
    """What a leaf module offers: the only place where its SDK is imported."""

    def connect(self, access: Access) -> Connection:
        """Return a connection of its own for one trial."""
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """One driver: ``module`` is the leaf module in this package, ``package`` the SDK, which is an extra."""

    dialect: Dialect
    module: str
    package: str
    key: str
    prefix: str = ""
    """What comes between a fake provider's URL and the paths that the SDK adds."""


APIS: Mapping[str, Api] = {
    "anthropic": Api(Messages(), "anthropic_sdk", "anthropic", "ANTHROPIC_API_KEY"),
    "openai-chat": Api(Chat(), "openai_sdk", "openai", "OPENAI_API_KEY", "/v1"),
    "openai-responses": Api(Responses(), "openai_sdk", "openai", "OPENAI_API_KEY", "/v1"),
    "litellm": Api(Chat(), "litellm_sdk", "litellm", "LITELLM_API_KEY", "/v1"),
}
"""Every driver that talks to a model."""


class ModelDriver:
    """Talks to a model through a provider's SDK."""

    def __init__(self, file: AgentFile, prompt: str) -> None:
        self._file, self._prompt = file, prompt
        self._api = APIS[file.driver]

    def begin(self, task: Task, seat: Seat) -> Session:
        """Open a connection for one trial; raises ProviderError where no key is set."""
        return self._open(task, seat)

    def resume(self, task: Task, seat: Seat, past: Sequence[PastTurn]) -> Session:
        """Open a connection behind turns that lie before; raises ProviderError where no key is set."""
        session = self._open(task, seat)
        session.recall(past)
        return session

    def _open(self, task: Task, seat: Seat) -> ModelSession:
        file, api = self._file, self._api
        sdk: Sdk = importlib.import_module(f"unacked.agents.model.{api.module}")
        if seat.provider is not None:
            prefix = "" if (file.model or "").startswith("anthropic/") else api.prefix
            access = Access(api.dialect.operation, seat.provider.key, seat.provider.url + prefix, file.timeout_s)
        else:
            access = Access(api.dialect.operation, self._key(seat), file.base_url, file.timeout_s, _address(file))
        setup = Setup(file.model or "", self._prompt, task.text, list(task.tools.values()), file.parameters)
        return ModelSession(file, setup, api.dialect, sdk.connect(access), seat)

    def _key(self, seat: Seat) -> str:
        """The key of a real provider; a server of one's own needs none, and gets none that is meant for another."""
        if self._file.base_url is not None and self._file.key_variable is None:
            return NO_KEY
        variable = self._file.key_variable or self._api.key
        key = os.environ.get(variable, "")
        if not key:
            told = f"the environment variable {variable} is not set: {self._file.agent} needs the key of its provider"
            seat.emit("model_failed", detail={"turn": 0, "kind": "no_key", "told": told})
            raise ProviderError("no_key", told)
        seat.hide(key)
        return key


def _address(file: AgentFile) -> str:
    """Host and port of the base URL, and nothing of it that could be a secret."""
    return urlsplit(file.base_url or "").netloc.rpartition("@")[2]
