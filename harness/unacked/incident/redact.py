"""Takes out of a trace what names people and machines, so that equal things stay equal.

Every replacement is a keyed digest of what it stands for: with the same salt the same value becomes the same
word everywhere, and without the salt nobody can try values out. The salt is kept nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from unacked.canonical import JSON
from unacked.errors import HarnessError
from unacked.incident.recording import Answer, RecordedCall, Recording

__all__ = ["Redactor", "suspicious"]

_KINDS = {
    "ours": r"mail-[0-9a-f]{8}@example\.test|(?:token|host|path|name|number)-[0-9a-f]{8}(?:\.example)?",
    "url": r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>]+",
    "email": r"[\w.+%-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+",
    "token": r"\bBearer\s+[\w.~+/=-]{6,}"
    r"|\beyJ[\w-]{8,}(?:\.[\w-]+)*"
    r"|\b(?:sk|pk|rk|tok|ghp|gho|ghs|ghu|ghr|glpat|xox[abprs]|npm|pypi|hf|github_pat)[-_][\w-]{10,}"
    r"|\b(?:AKIA|ASIA|AIza)[\w-]{10,}",
    "path": r"(?<![\w.:/])~?(?:/[\w.@+-]+){2,}/?|\b[A-Za-z]:\\[^\s\"'<>|]+",
    "random": r"(?<![\w+/])[\w+/-]{20,}={0,2}",
    "host": r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}\b(?::\d+)?",
    "number": r"(?<![\w.-])\+?\d(?:[ ()-]?\d){9,}(?![\w.-])",
    "name": r"\b[A-Z][a-z]+(?:[ -](?:[A-Z]\.|[A-Z][a-z]+))+\b",
}
"""What is looked for, in this order at every place; what stands in for something already is left as it is."""


def _pattern(kinds: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()))


_EVERYTHING = _pattern(_KINDS)
_SECRETS = _pattern({kind: _KINDS[kind] for kind in ("ours", "email", "token", "random")})
_EMAIL = re.compile(_KINDS["email"])
_OURS = re.compile(_KINDS["ours"])
_SECRET_KEYS = re.compile(
    r"(?i)passw|secret|api_?key|authorization|cookie|credential|private_?key|^(?:(?:access|auth|bearer)_?)?token$"
)
_SHORTEST = 8
"""Shorter texts are no secrets that one could look for elsewhere: they stand in other words by chance."""
_NAME_KEYS = re.compile(
    r"(?i)^(?:(?:user|first|last|full|display|given|family|customer|account|client|contact)[_ ]?name|name|users?"
    r"|customer|owner|author|assignee|recipients?|sender|person|employee|contact|to|from|cc|bcc)$"
)
_ROLE_WORDS = frozenset(
    [
        "admin",
        "alerts",
        "billing",
        "bot",
        "contact",
        "dev",
        "finance",
        "help",
        "hello",
        "info",
        "mail",
        "news",
        "noreply",
        "office",
        "ops",
        "orders",
        "payments",
        "root",
        "sales",
        "security",
        "service",
        "support",
        "team",
        "test",
        "user",
        "www",
    ]
)
_WRITTEN = {
    "email": "mail-{}@example.test",
    "token": "token-{}",
    "host": "host-{}.example",
    "path": "/path-{}",
    "name": "name-{}",
    "number": "number-{}",
}
"""What stands in place of each kind."""


class Redactor:
    """Replaces emails, tokens, names, hosts and paths; ``words`` are further names, ``keep`` is what may stay."""

    def __init__(self, salt: str, *, words: Iterable[str] = (), keep: Iterable[str] = ()) -> None:
        self._salt = salt.encode()
        self._keep = {word.casefold() for word in keep}
        self._names = {word for word in words if word}
        self._pattern = _EVERYTHING
        self._given: dict[tuple[str, str], str] = {}

    def recording(self, recording: Recording) -> Recording:
        """Return the recording with everything replaced; names are gathered from all of it before."""
        self._learn(recording)
        return replace(
            recording,
            task=self.text(recording.task),
            calls=tuple(self._call(call) for call in recording.calls),
            begin=None,
        )

    def text(self, text: str) -> str:
        """Return a text of people with everything replaced that looks like one of the kinds."""
        return self._pattern.sub(self._found, text)

    def word(self, word: str) -> str:
        """Return an identifier, such as a tool's or an argument's name: only emails and tokens are looked for."""
        return _SECRETS.sub(self._found, word)

    def value(self, value: JSON, key: str = "") -> JSON:
        """Return a JSON value with all its texts, and the names of its members, replaced."""
        if isinstance(value, str):
            return self._member(value, key)
        if isinstance(value, Mapping):
            return {self.word(name): self.value(item, name) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item, key) for item in value]
        return value

    def insist(self, text: str) -> None:
        """Raise HarnessError where an email or a token that was replaced still stands in ``text``."""
        left = [
            kind
            for (kind, original) in self._given
            if kind in ("email", "token") and len(original) >= _SHORTEST and original in text
        ]
        if left:
            raise HarnessError(
                f"nothing was written: {', '.join(sorted(set(left)))} of the trace would have stood in it"
            )

    def report(self) -> str:
        """Return how many different values of each kind were replaced."""
        kinds = Counter("host" if kind == "url" else kind for kind, _ in self._given)
        if not kinds:
            return "redacted: nothing that looks like an email, token, name, host or path"
        return "redacted: " + ", ".join(
            f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in sorted(kinds.items())
        )

    def _member(self, text: str, key: str) -> str:
        if text and _SECRET_KEYS.search(key):
            return self._replaced("token", text)
        if text and _NAME_KEYS.search(key) and not _EMAIL.search(text):
            return self._replaced("name", text.casefold())
        return self.text(text)

    def _found(self, found: re.Match[str]) -> str:
        kind, text = str(found.lastgroup), found[0]
        if kind == "random":
            return self._replaced("token", text) if _is_random(text) else text
        if kind == "secret":
            return self._replaced("token", text)
        if kind == "word":
            return self._replaced("name", text.casefold())
        return self._replaced(kind, text)

    def _replaced(self, kind: str, original: str) -> str:
        if _OURS.fullmatch(original) or original.casefold() in self._keep:
            return original
        if kind == "url":
            scheme, _, rest = original.partition("://")
            self._given["url", original] = ""
            return f"{scheme}://{self._stand_in('host', rest.split('/')[0])}" + ("/..." if "/" in rest else "")
        return self._stand_in(kind, original)

    def _stand_in(self, kind: str, original: str) -> str:
        if (kind, original) not in self._given:
            mark = hmac.new(self._salt, f"{kind}\0{original}".encode(), hashlib.sha256).hexdigest()[:8]
            self._given[kind, original] = _WRITTEN[kind].format(mark)
        return self._given[kind, original]

    def _call(self, call: RecordedCall) -> RecordedCall:
        arguments = call.arguments
        return replace(
            call,
            name=self.word(call.name),
            arguments=None if arguments is None else self.value(arguments),
            agent="agent",
            answer=None if call.answer is None else self._answer(call.answer),
        )

    def _answer(self, answer: Answer) -> Answer:
        return replace(answer, content=self.value(answer.content), error=self.text(answer.error))

    def _learn(self, recording: Recording) -> None:
        """Gather secrets by their members, and names that emails spell or members hold: they stand elsewhere too."""
        secrets: set[str] = set()
        for key, text in _texts(recording):
            if _SECRET_KEYS.search(key) and len(text) >= _SHORTEST and not _OURS.fullmatch(text):
                secrets.add(text)
            for email in _EMAIL.findall(text):
                self._names |= set(re.split(r"[._+\-\d]+", email.partition("@")[0]))
            if _NAME_KEYS.search(key) and not _EMAIL.search(text) and len(text.split()) > 1:
                self._names |= set(text.split())
        words = {word for word in self._names if len(word) > 2 and word.casefold() not in _ROLE_WORDS | self._keep}
        kinds = dict(_KINDS)
        if secrets:
            kinds = {"ours": kinds.pop("ours"), "secret": _either(secrets), **kinds}
        if words:
            kinds["word"] = rf"\b(?i:{_either(words)})\b"
        self._pattern = _pattern(kinds)


def _either(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def suspicious(text: str) -> list[str]:
    """Return the kinds of what looks like an email or a token in a text and is no replacement of ours."""
    kinds = set()
    for found in _SECRETS.finditer(text):
        if found.lastgroup in ("email", "token") or (found.lastgroup == "random" and _is_random(found[0])):
            kinds.add("email" if found.lastgroup == "email" else "token")
    return sorted(kinds)


def _is_random(text: str) -> bool:
    """Whether a long word looks drawn by lot: words and dates joined by hyphens do not."""
    parts = re.split(r"[-_/+=]", text)
    mixed = [part for part in parts if re.search("[0-9]", part) and re.search("[A-Za-z]", part)]
    changes = len(re.findall(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])", text))
    return any(len(part) >= 12 for part in mixed) or changes >= 6


def _texts(recording: Recording) -> Iterator[tuple[str, str]]:
    yield "", recording.task
    for call in recording.calls:
        yield from _inside(call.arguments, "")
        if call.answer is not None:
            yield from _inside(call.answer.content, "")
            yield "", call.answer.error


def _inside(value: JSON, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _inside(item, name)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _inside(item, key)
