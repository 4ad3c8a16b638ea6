from __future__ import annotations

from typing import Any

import pytest
from tests.incident.spans import CANARY, EMAIL, KEY

from unacked.errors import HarnessError
from unacked.incident.recording import Answer, RecordedCall, Recording
from unacked.incident.redact import Redactor, suspicious


def recording(arguments: dict[str, Any], answer: Any = None, task: str = "") -> Recording:
    call = RecordedCall(id="e0", name="pay", arguments=arguments, turn=1, where="a", answer=Answer(content=answer))
    return Recording(name="a", form="otel", calls=[call], task=task)


def arguments(redactor: Redactor, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return dict(redactor.recording(recording(given, **more)).calls[0].arguments or {})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"write to {EMAIL} now", "mail-"),
        ("write to ada%40corp.example.org", "mail-"),
        (f"badge {CANARY}", "token-"),
        (f"key {KEY}", "token-"),
        ("Authorization: Bearer abc.def-ghi", "token-"),
        ("id 9b2f6c1e-7a44-4c0e-9d58-2f1f6c0e7a44", "token-"),
        ("dG9rXzAxMjM0NTY3ODlhYmNkZWYwMTIz", "token-"),
        ("see https://wiki.corp.example.org/x?k=1", "https://host-"),
        ("on db1.corp.example.org:5432", "host-"),
        ("on 10.1.2.3", "host-"),
        ("in /home/ada/notes.txt", "/path-"),
        (r"in C:\Users\ada\notes.txt", "/path-"),
        ("by Ada Lovelace", "name-"),
        ("call +49 170 123 45 67", "number-"),
    ],
)
def test_what_names_people_and_machines_is_replaced(text: str, left: str) -> None:
    clean = Redactor("salt").text(text)

    assert left in clean
    for word in ("ada", "Ada", "corp", "tok_", "sk-", "abc.def", "9b2f", "dG9r", "10.1.2.3", "170"):
        assert word not in clean


@pytest.mark.parametrize(
    "text", ["visit 7", "release 1.4.0", "publish-again-after-409", "owner: asha", "2026-01-31", ""]
)
def test_ordinary_words_stay(text: str) -> None:
    assert Redactor("salt").text(text) == text


def test_equal_values_stay_equal_and_other_values_other() -> None:
    given = arguments(Redactor("salt"), {"a": EMAIL, "b": f"to {EMAIL}", "c": "bob@corp.example.org"})

    assert given["b"] == f"to {given['a']}"
    assert given["c"] != given["a"]


def test_another_salt_gives_other_words() -> None:
    assert Redactor("one").text(EMAIL) != Redactor("two").text(EMAIL)


def test_redacting_again_changes_nothing() -> None:
    once = Redactor("salt").text(f"{EMAIL} {CANARY} /home/ada/x 10.1.2.3 Ada Lovelace")

    assert Redactor("other").text(once) == once


def test_a_name_that_an_email_spells_goes_wherever_it_stands() -> None:
    given = arguments(Redactor("salt"), {"title": "visit of lovelace", "mail": EMAIL}, task="ask Ada")

    assert "lovelace" not in given["title"]


def test_members_that_hold_names_or_secrets_are_replaced_whole() -> None:
    given = arguments(Redactor("salt"), {"customer": "ada", "password": "hunter2", "amount": 7})

    assert given["customer"].startswith("name-")
    assert given["password"].startswith("token-")
    assert given["amount"] == 7


def test_names_of_members_are_looked_through_too() -> None:
    assert EMAIL not in str(arguments(Redactor("salt"), {EMAIL: 1}))


def test_a_word_that_the_user_gives_goes_and_one_to_keep_stays() -> None:
    redactor = Redactor("salt", words=["bluebird"], keep=["Pump Seven"])

    given = arguments(redactor, {"title": "project Bluebird, Pump Seven"})

    assert "bluebird" not in given["title"].casefold()
    assert "Pump Seven" in given["title"]


def test_the_report_counts_and_quotes_nothing() -> None:
    redactor = Redactor("salt")
    arguments(redactor, {"a": f"{EMAIL} {CANARY}", "b": "bob@corp.example.org"})

    assert redactor.report() == "redacted: 2 emails, 1 token"


def test_nothing_is_written_that_still_holds_what_was_replaced() -> None:
    redactor = Redactor("salt")
    redactor.text(CANARY)

    with pytest.raises(HarnessError, match="nothing was written: token of the trace would have stood in it"):
        redactor.insist(f"title: {CANARY}")


def test_what_looks_like_an_email_or_a_token_is_suspicious_and_our_own_words_are_not() -> None:
    assert suspicious(f"{EMAIL} {CANARY}") == ["email", "token"]
    assert suspicious(Redactor("salt").text(f"{EMAIL} {CANARY}")) == []


def test_a_secret_of_a_member_goes_wherever_else_it_stands() -> None:
    given = arguments(Redactor("salt"), {"password": "correct horse", "note": "log in with correct horse"})

    assert given["note"] == f"log in with {given['password']}"


def test_a_short_secret_does_not_keep_anything_from_being_written() -> None:
    redactor = Redactor("salt")
    arguments(redactor, {"password": "a"})

    redactor.insist("a case")
