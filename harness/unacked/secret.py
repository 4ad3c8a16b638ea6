"""Credentials as canaries: made for one trial, and looked for in every sink afterwards.

A secret leaks in more spellings than its own: inside base64 at any of three alignments, percent-encoded,
escaped in JSON (or in JSON inside JSON, as a raw answer stands in the record), as hexadecimal. All of them
are looked for.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any
from urllib.parse import quote

__all__ = ["BEGINNING", "PREFIX", "PROVIDER", "Scanner", "mint", "texts_of"]

PREFIX = "tok_"
"""How every canary begins."""

PROVIDER = "provider"
"""The last name of the canary that stands for the key of a model's provider."""


def mint(*parts: str) -> str:
    """Derive a canary credential from the seed and the names of its trial; equal parts give equal canaries."""
    return PREFIX + hashlib.sha256("\x00".join(("canary", *parts)).encode()).hexdigest()[:40]


class Scanner:
    """Finds and removes the canaries of one trial in text."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._spellings = [spelling for secret in secrets for spelling in _spellings(secret)]

    def leaks(self, text: str) -> bool:
        """Return whether any spelling of any canary stands in ``text``."""
        return any(spelling in text for spelling in self._spellings)

    def found(self, text: str) -> list[str]:
        """Return every spelling of any canary that stands in ``text``."""
        return [spelling for spelling in self._spellings if spelling in text]

    def places(self, text: str) -> Iterator[int]:
        """Yield where any spelling of any canary begins in ``text``."""
        for spelling in self._spellings:
            place = text.find(spelling)
            while place >= 0:
                yield place
                place = text.find(spelling, place + 1)

    def leaks_in(self, value: object) -> bool:
        """Return whether a canary stands in a JSON value: whole in one of its texts, or split over several."""
        return self.leaks(texts_of(value))

    def redact(self, text: str) -> str:
        """Return ``text`` with every spelling of every canary replaced."""
        if self.leaks(text):
            for spelling in self._spellings:
                text = text.replace(spelling, "[redacted]")
        return text

    def redact_in(self, value: Any) -> Any:
        """Return a JSON value, its members in the same order, with every text redacted."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, _OBJECT):
            return {key: self.redact_in(member) for key, member in value.items()}
        return [self.redact_in(member) for member in value] if isinstance(value, list | tuple) else value


def texts_of(value: object) -> str:
    """Return every text of a JSON value, one a line, and what the texts that stand side by side make together.

    Those are put together for each object and array, in the order in which they were written and in the order
    of their keys: a credential in pieces is one of them.
    """
    return "\n".join(_collect(value, []))


_OBJECT = (dict, Mapping)
"""Asked in this order: a plain dict is told at once, the abstract class takes its time."""
_NUMBER = (int, float, NoneType)


def _collect(value: object, found: list[str]) -> list[str]:
    """Gather every text of a JSON value, and what the texts that stand beside one another make together."""
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, _OBJECT):
        found += value
        if _collect_members(value.values(), found) > 1:
            found.append("".join(member for _, member in sorted(value.items()) if isinstance(member, str)))
    elif isinstance(value, list | tuple):
        _collect_members(value, found)
    return found


def _collect_members(members: Iterable[object], found: list[str]) -> int:
    """Gather from the members of one object or array; returns how many of them are texts."""
    texts = []
    for member in members:
        if isinstance(member, str):
            texts.append(member)
        elif not isinstance(member, _NUMBER):
            _collect(member, found)
    found.append("".join(texts))
    return len(texts)


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

BEGINNING = Scanner([PREFIX])
"""Finds what begins like a canary of any trial, in every spelling in which a whole one would be found."""
