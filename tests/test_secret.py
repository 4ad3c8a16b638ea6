"""Canary credentials: equal for equal names, found in every spelling, and in nothing else."""

from __future__ import annotations

import base64
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.canonical import dumps
from unacked.secret import Scanner, mint

SECRET = "tok_9f2c61d7a0b4e8835cd1f6a7b2093e4d5c6f7a8b"
SCANNER = Scanner([SECRET])


def escaped(text: str, form: str = "\\u%04x") -> str:
    return "".join(form % ord(character) for character in text)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "itself": str,
    "in a header": lambda secret: f"Authorization: Bearer {secret}\r\n",
    "in a URL": lambda secret: f"https://x.test/?key={quote(secret, safe='')}&a=b",
    "every byte percent-encoded": lambda secret: escaped(secret, "%%%02X"),
    "percent-encoded in lower case": lambda secret: escaped(secret, "%%%02x"),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal in upper case": lambda secret: secret.encode().hex().upper(),
    "escaped": escaped,
    "escaped in upper case": lambda secret: escaped(secret, "\\u%04X"),
    "escaped in JSON in JSON": lambda secret: dumps({"body": '{"key":"' + escaped(secret) + '"}'}),
    "escaped in JSON in JSON in JSON": lambda secret: dumps(dumps(escaped(secret))),
    "the representation of bytes": lambda secret: repr(f"Bearer {secret}\n".encode()),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "basic authorization": lambda secret: base64.b64encode(f"user:{secret}".encode()).decode(),
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_a_secret_is_found_in_every_spelling(spell: Callable[[str], str]) -> None:
    assert SCANNER.leaks(f"before {spell(SECRET)} after")


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_a_secret_is_removed_in_every_spelling(spell: Callable[[str], str]) -> None:
    redacted = SCANNER.redact(f"before {spell(SECRET)} after")
    assert not SCANNER.leaks(redacted)
    assert "[redacted]" in redacted
    assert (redacted[:7], redacted[-6:]) == ("before ", " after")


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_a_secret_is_found_inside_base64_at_every_alignment(before: bytes, after: bytes) -> None:
    wrapped = before + SECRET.encode() + after
    assert SCANNER.leaks(base64.b64encode(wrapped).decode())
    assert SCANNER.leaks(base64.urlsafe_b64encode(wrapped).decode().rstrip("="))


@given(st.text(min_size=8), st.integers(0, 2))
def test_a_secret_of_any_characters_is_found_inside_base64(secret: str, offset: int) -> None:
    raw = secret.encode()
    assert Scanner([secret]).leaks(base64.b64encode(b"x" * offset + raw + b"y").decode())


@given(st.text(min_size=8))
def test_a_secret_of_any_characters_is_found_as_the_record_writes_it(secret: str) -> None:
    assert Scanner([secret]).leaks(dumps({"arguments": {"title": f"the key is {secret}"}}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tok_",
        "the token was not accepted; renew it",
        SECRET[:-1],
        SECRET[1:],
        "tok_9f2c61d7a0b4e883 5cd1f6a7b2093e4d5c6f7a8b",
        mint("7", "C02", "careful", "1", "0"),
        base64.b64encode(b"tok_9f2c61d7a0b4e8835cd1f6a7b2093e4d").decode(),
        "%74%6F%6B",
        "\\u0074\\u006f\\u006b\\u005f",
    ],
    ids=range(10),
)
def test_what_is_not_the_secret_is_left_alone(text: str) -> None:
    assert not SCANNER.leaks(text)
    assert SCANNER.redact(text) == text


@given(st.text())
def test_ordinary_text_raises_no_alarm(text: str) -> None:
    assert not SCANNER.leaks(text)


def test_each_of_several_secrets_is_found_and_removed() -> None:
    first, second = mint("a"), mint("b")
    scanner = Scanner([first, second])
    assert (scanner.leaks(first), scanner.leaks(second)) == (True, True)
    assert scanner.redact(f"{first} and {second}") == "[redacted] and [redacted]"


def test_without_secrets_nothing_leaks() -> None:
    assert not Scanner([]).leaks(SECRET)


def test_a_canary_is_the_same_for_the_same_names() -> None:
    assert mint("7", "C02", "careful", "1", "0") == "tok_a0841fc53486ca86080fadabfbb10f12bc12061c"


def test_canaries_of_other_names_differ() -> None:
    assert len({mint("a", "b"), mint("ab"), mint("b", "a"), mint("a", "b", "")}) == 4
