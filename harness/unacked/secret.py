"""Credentials as canaries: made for one trial, and looked for in every sink afterwards.

A secret leaks in more spellings than its own: inside base64 at any of three alignments, percent-encoded,
escaped in JSON (or in JSON inside JSON, as a raw answer stands in the record), as hexadecimal. All of them
are looked for.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from urllib.parse import quote

__all__ = ["Scanner", "mint"]


def mint(*parts: str) -> str:
    """Derive a canary credential from the seed and the names of its trial; equal parts give equal canaries."""
    return "tok_" + hashlib.sha256("\x00".join(("canary", *parts)).encode()).hexdigest()[:40]


class Scanner:
    """Finds and removes the canaries of one trial in text."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._spellings = [spelling for secret in secrets for spelling in _spellings(secret)]

    def leaks(self, text: str) -> bool:
        """Return whether any spelling of any canary stands in ``text``."""
        return any(spelling in text for spelling in self._spellings)

    def redact(self, text: str) -> str:
        """Return ``text`` with every spelling of every canary replaced."""
        if self.leaks(text):
            for spelling in self._spellings:
                text = text.replace(spelling, "[redacted]")
        return text


def _spellings(secret: str) -> list[str]:
    raw, units = secret.encode(), secret.encode("utf-16-be").hex(" ", 2)
    spellings = [secret, quote(secret, safe=""), json.dumps(secret)[1:-1]]
    for cased in (str.lower, str.upper):
        spellings += [cased(raw.hex()), "%" + cased(raw.hex("%"))]
        spellings += [escape + cased(units).replace(" ", escape) for escape in _ESCAPES]
    for offset in range(3):
        padded = b"\x00" * offset + raw
        start, end = (offset * 8 + 5) // 6, len(padded) * 8 // 6
        spellings.append(base64.b64encode(padded)[start:end].decode())
        spellings.append(base64.urlsafe_b64encode(padded)[start:end].decode())
    return list(dict.fromkeys(spellings))


_ESCAPES = ("\\u", "\\\\u", "\\\\\\\\u")
"""JSON's escape; as it stands in JSON that is itself a string in JSON; and once more so."""
