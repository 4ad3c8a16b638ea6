"""JSON as evidence: one spelling for every value, and no tolerance when reading.

Canonical means sorted keys, no spaces, ASCII (what is not is escaped, a lone surrogate too), no NaN and no
infinities. Strict means that duplicate keys, NaN, numbers too large to hold, surplus bytes and invalid
UTF-8 are refused: most of them pass the default reader unseen.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any

import orjson

__all__ = ["JSON", "InvalidJSON", "digest", "dumps", "freeze", "loads", "quoted"]

JSON = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""


class InvalidJSON(ValueError):
    """The text is not strict JSON; the message says why, without quoting the text."""


def dumps(value: JSON) -> str:
    """Return the canonical text of ``value``; raises ValueError on NaN and infinities."""
    return "".join(_chunks(value, 0))


def quoted(text: str) -> str:
    """Return the canonical text of one string, with its quotation marks."""
    return encode_basestring_ascii(text)


def loads(text: str | bytes) -> JSON:
    """Read strict JSON; raises InvalidJSON on whatever a lenient reader would let pass."""
    try:
        if isinstance(text, bytes):
            value = _as_written(text)
            if value is not _OTHERWISE:
                return value
            text = text.decode("utf-8")
        return _scanned(text)
    except UnicodeDecodeError as error:
        raise InvalidJSON(f"invalid UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise InvalidJSON(f"{error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise InvalidJSON("nested too deeply") from None
    except InvalidJSON:
        raise
    except ValueError:  # an integer of so many digits that Python neither reads nor writes it
        raise InvalidJSON("a number is too large") from None


def _as_written(text: bytes) -> JSON:
    """Read a text that a writer of canonical JSON wrote: whoever spells it the same again has missed nothing of it.

    Records are read a million lines at a time, and this takes a third of the time of the scanner below. Whatever
    orjson refuses, or spells otherwise than ``dumps``, is ``_OTHERWISE``.
    """
    try:
        value = orjson.loads(text)
        spelled = orjson.dumps(value, None, _LINE if text.endswith(b"\n") else _TEXT)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return _OTHERWISE
    return value if spelled == text else _OTHERWISE


def _scanned(text: str) -> JSON:
    """Read one value with the decoder's own scanner; whatever is not one plain value goes the long way."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        return _decoder.decode(text)
    return value if end == len(text) or not text[end:].strip(_BLANKS) else _decoder.decode(text)


def digest(value: JSON) -> str:
    """SHA-256 of the canonical text of ``value``, 64 hexadecimal digits."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()


def freeze(value: JSON) -> Any:
    """Return a hashable stand-in for a JSON value: equal values give equal stand-ins, an object never a list's."""
    if type(value) in _HASHABLE:
        return value
    if isinstance(value, Mapping):
        return frozenset((key, freeze(item)) for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(freeze(item) for item in value)
    return value


def _not_json(value: object) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")


# JSONEncoder.encode builds this very encoder anew for every value; a trial writes dozens of small ones.
_chunks: Callable[[JSON, int], tuple[str, ...]] = c_make_encoder(
    None, _not_json, encode_basestring_ascii, None, ":", ",", True, False, False
)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise InvalidJSON("duplicate key in an object")
    return result


def _constant(name: str) -> Any:
    raise InvalidJSON(f"{name} is not a JSON number")


def _float(digits: str) -> float:
    number = float(digits)
    if number in _INFINITIES:
        raise InvalidJSON("a number is too large")
    return number


_OTHERWISE = object()
_TEXT, _LINE = 0, orjson.OPT_APPEND_NEWLINE
_HASHABLE = frozenset({str, int, float, bool, type(None)})
_INFINITIES = (math.inf, -math.inf)
_BLANKS = " \t\n\r"

_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
_scan: Callable[[str, int], tuple[JSON, int]] = _decoder.scan_once  # type: ignore[attr-defined]
