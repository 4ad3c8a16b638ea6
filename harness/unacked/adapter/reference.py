"""The reference adapter: unacked's own tools, as any adapter under test is called."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from unacked.adapter.link import Link
from unacked.canonical import JSON
from unacked.tools import TOOLS, Timeouts, Tokens, TokenSource, Toolbox
from unacked.tools.client import Exchange, ToolClient

__all__ = ["RelocatedClient", "call"]


class RelocatedClient(ToolClient):
    """The tools' client, for services that are elsewhere than their names say."""

    def __init__(self, timeout: float) -> None:
        super().__init__(Timeouts(timeout, timeout, timeout, 2 * timeout))
        self._link: Link | None = None

    def use(self, link: Link) -> None:
        """Work over ``link``; connections stay open for as long as its backend is the same."""
        if self._link is None or self._link.backend is not link.backend:
            self.connect(link.backend, link.clock)
        self._link = link

    def send(self, method: str, url: str, *, headers: Mapping[str, str], content: bytes) -> Exchange:
        """Send one request, once, to where the service is."""
        assert self._link is not None  # noqa: S101 - ``use`` comes first
        for service, base_url in self._link.base_url.items():
            url = url.replace(f"https://{service}.test", base_url, 1)
        return super().send(method, url, headers=headers, content=content)


_client = cache(RelocatedClient)


def call(operation: str, arguments: dict[str, JSON], link: Link) -> dict[str, JSON]:
    """Make one call with the tools of unacked."""
    client = _client(link.timeout)
    client.use(link)
    source = TokenSource(Tokens(link.token, link.refresh_token))
    toolbox = Toolbox(TOOLS, client, source=source, emit=_ignore, diagnose=lambda _: "d1")
    return toolbox.call(operation, arguments, link.correlation_id).as_json()


def _ignore(event: str, **_: object) -> None:
    """Record nothing: the record is the business of whoever calls an adapter."""
