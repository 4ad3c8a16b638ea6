"""Every spelling of a credential is found in every sink of a trial, and named by its sink."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from unacked.canonical import dumps
from unacked.event import Event, History
from unacked.secret import mint
from unacked.trail import Diagnostics
from unacked.trial.sinks import leaking_sinks
from unacked.trial.world import Vault

SECRET = mint("7", "C02", "careful", "1", "0")
HALF = len(SECRET) // 2


def vault() -> Vault:
    return Vault("7", "C02", "careful", "1")


SPELLINGS: dict[str, Callable[[], str]] = {
    "itself": lambda: f"Bearer {SECRET}",
    "hexadecimal": lambda: SECRET.encode().hex(),
    "upper case hexadecimal": lambda: SECRET.encode().hex().upper(),
    "percent-encoded": lambda: "".join(f"%{byte:02X}" for byte in SECRET.encode()),
    "escaped": lambda: "".join(f"\\u{ord(character):04x}" for character in SECRET),
    "escaped twice": lambda: "".join(f"\\\\u{ord(character):04x}" for character in SECRET),
    "base64": lambda: base64.b64encode(SECRET.encode()).decode(),
    "base64, one byte on": lambda: base64.b64encode(f"a{SECRET}".encode()).decode(),
    "base64, two bytes on": lambda: base64.b64encode(f"ab{SECRET}".encode()).decode(),
    "URL-safe base64": lambda: base64.urlsafe_b64encode(f"agent:{SECRET}".encode()).decode(),
}


def found(events: Sequence[Event] = (), **more: Any) -> list[str]:
    written = "".join(f"{dumps(event.as_json())}\n" for event in events)
    return leaking_sinks(vault(), written=written, history=History(events), **more)


def result(envelope: dict[str, Any]) -> Event:
    return Event(1.0, "result", "cid-1", "create_issue", category="ok", detail={"envelope": envelope})


SINKS: dict[str, Callable[[str], list[str]]] = {
    "result": lambda text: found([result({"message": text})]),
    "events": lambda text: found([Event(1.0, "agent_message", detail={"text": text})]),
    "exception": lambda text: found(raised=[f"RuntimeError: failed <- ValueError: {text}"]),
    "diagnostics": lambda text: found(diagnostics=[{"ref": "d1", "error": ["ReadError", text]}]),
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("sink", SINKS)
def test_every_spelling_is_found_in_every_sink(sink: str, spell: Callable[[], str]) -> None:
    assert SINKS[sink](spell()) == [sink]


@pytest.mark.parametrize("sink", SINKS)
def test_what_is_no_credential_raises_no_alarm(sink: str) -> None:
    assert SINKS[sink](f"{SECRET[:-1]} or {mint('another')}") == []


@pytest.mark.parametrize(
    "pieces",
    [
        {"a": SECRET[:HALF], "b": SECRET[HALF:]},
        {"b": SECRET[:HALF], "a": SECRET[HALF:]},
        {"z": SECRET[HALF:], "a": SECRET[:HALF]},
        {"a": SECRET[:HALF], "n": 7, "b": SECRET[HALF:]},
        {"parts": [SECRET[:HALF], SECRET[HALF:]]},
        {"a": SECRET[:3], "b": SECRET[3:20], "c": SECRET[20:]},
    ],
    ids=["as written", "in both orders", "in the order of the keys", "a number between", "a list", "three pieces"],
)
@pytest.mark.parametrize("sink", ["result", "events", "diagnostics"])
def test_a_credential_in_pieces_is_found(sink: str, pieces: dict[str, Any]) -> None:
    sinks = {
        "result": lambda: found([result({"result": pieces})]),
        "events": lambda: found([Event(1.0, "agent_next_call", detail={"arguments": pieces})]),
        "diagnostics": lambda: found(diagnostics=[{"ref": "d1", "body": pieces}]),
    }
    assert sinks[sink]() == [sink]


def test_pieces_in_two_events_are_two_events() -> None:
    events = [Event(1.0, "agent_message", detail={"text": text}) for text in (SECRET[:HALF], SECRET[HALF:])]
    assert found(events) == []


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_redaction_keeps_diagnostics_clean(spell: Callable[[], str]) -> None:
    trial = vault()
    diagnostics = Diagnostics(trial.redact, trial.leaked_in_json)
    diagnostics.keep({"error": ["LocalProtocolError", spell()], "status": 401})
    (entry,) = diagnostics.entries
    assert entry["status"] == 401
    assert found(diagnostics=diagnostics.entries) == []


def test_diagnostics_that_hold_a_credential_in_pieces_are_withheld() -> None:
    trial = vault()
    diagnostics = Diagnostics(trial.redact, trial.leaked_in_json)
    diagnostics.keep({"user": SECRET[:HALF], "password": SECRET[HALF:]})
    assert diagnostics.entries == [{"ref": "d1", "user": "[redacted]", "password": "[redacted]"}]


def test_a_renewed_credential_is_looked_for_as_well() -> None:
    trial = vault()
    renewed = trial.another()
    assert leaking_sinks(trial, written=f"using {renewed}", history=History([])) == ["events"]
