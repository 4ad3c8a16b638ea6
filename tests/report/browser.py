"""A headless Chromium that a test drives over a pipe: no port, no network, nothing downloaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-pipe",
)


def executable() -> str:
    """Where Chromium is; without one the test is skipped, and under CI it fails."""
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    told = "these tests need Chromium: apt-get install chromium"
    if os.environ.get("CI") == "true":
        pytest.fail(told)
    pytest.skip(told)


class Page:
    """One tab, spoken to in the DevTools protocol."""

    def __init__(self, read: int, write: int) -> None:
        self._in = os.fdopen(read, "rb")
        self._out = os.fdopen(write, "wb", buffering=0)
        self._number = 0
        self._session: str | None = None
        self.seen: list[dict[str, Any]] = []
        """Every event so far."""

    def attach(self) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.seen.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        data = bytearray()
        while (byte := self._in.read(1)) != b"\0":
            assert byte, "Chromium has ended"
            data += byte
        value: dict[str, Any] = json.loads(data)
        return value

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.seen.clear()
        self.send("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.seen):
            self.seen.append(self._next())

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def close(self) -> None:
        self._session = None
        self.send("Browser.close")
        self._in.close()
        self._out.close()

    def press(self, key: str) -> None:
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def show(self, *, width: int = 1280, dark: bool = False, paper: bool = False) -> None:
        """Set the width of the window, the colour scheme of its user, and whether it is on paper."""
        phone = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media="print" if paper else "", features=[scheme])


@contextmanager
def browsing(profile: Path) -> Iterator[Page]:
    """Start Chromium, and end it and all its children at the end."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    flags = (*_FLAGS, f"--user-data-dir={profile}")
    shell = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", shell, executable(), *flags],  # noqa: S607 - wherever bash is
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    page = Page(ours_in, ours_out)
    try:
        page.attach()
        yield page
        page.close()
    finally:
        process.terminate()
        process.wait(timeout=30)
