"""The reference adapter: unacked's own tools, as any adapter under test is called."""

from __future__ import annotations

from functools import cache

import httpcore2

from unacked.adapter.link import Link
from unacked.canonical import JSON
from unacked.tools import TOOLS, Tokens, TokenSource, Toolbox
from unacked.tools.relocated import RelocatedClient

__all__ = ["LinkedClient", "call"]


class LinkedClient(RelocatedClient):
    """The tools' client over links."""

    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self._backend: httpcore2.NetworkBackend | None = None

    def use(self, link: Link) -> None:
        """Work over ``link``; connections stay open for as long as its backend is the same."""
        if self._backend is not link.backend:
            self.connect(link.backend, link.clock)
        self._backend, self.base_url = link.backend, link.base_url


_client = cache(LinkedClient)


def call(operation: str, arguments: dict[str, JSON], link: Link) -> dict[str, JSON]:
    """Make one call with the tools of unacked."""
    client = _client(link.timeout)
    client.use(link)
    source = TokenSource(Tokens(link.token, link.refresh_token))
    toolbox = Toolbox(TOOLS, client, source=source, emit=_ignore, diagnose=lambda _: "d1")
    return toolbox.call(operation, arguments, link.correlation_id).as_json()


def _ignore(event: str, **_: object) -> None:
    """Record nothing: the record is the business of whoever calls an adapter."""
