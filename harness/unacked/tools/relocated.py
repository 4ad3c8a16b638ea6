"""The tools' client for services that are elsewhere than their names say."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.tools.client import Exchange, Timeouts, ToolClient

__all__ = ["RelocatedClient"]


class RelocatedClient(ToolClient):
    """``base_url`` maps services to their URLs, without a slash at its end; ``timeout`` is for each wait, in s."""

    def __init__(self, timeout: float) -> None:
        super().__init__(Timeouts(timeout, timeout, timeout, 2 * timeout))
        self.base_url: Mapping[str, str] = {}

    def send(self, method: str, url: str, *, headers: Mapping[str, str], content: bytes) -> Exchange:
        """Send one request, once, to where the service is."""
        for service, base_url in self.base_url.items():
            url = url.replace(f"https://{service}.test", base_url, 1)
        return super().send(method, url, headers=headers, content=content)
