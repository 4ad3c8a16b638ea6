"""Where a credential of the trial may never stand: the results, the rest of the record, exceptions, diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unacked.canonical import JSON
from unacked.event import History
from unacked.trial.world import Vault

__all__ = ["leaking_sinks"]

_OF_THE_HARNESS = frozenset(
    {
        "trial_begin",
        "request_constructed",
        "dispatch_started",
        "remote_received",
        "remote_committed",
        "remote_started",
        "remote_ended",
        "response_write_delayed",
        "remote_responded",
        "fault_fired",
        "client_timeout",
        "token_refreshed",
        "reconciliation_attempted",
    }
)
"""Events whose details are all the harness's own words: no two of their fields can hold a credential in pieces."""


def leaking_sinks(
    vault: Vault,
    *,
    written: str,
    history: History,
    raised: Sequence[str] = (),
    diagnostics: Sequence[Mapping[str, JSON]] = (),
) -> list[str]:
    """Return the names of the sinks in which a credential stands, in whatever spelling, whole or in two fields.

    ``written`` is the record as it is in the file, ``history`` the same as events. ``raised`` are exceptions with
    those that they came from, before anything was taken out of them.
    """
    sinks = []
    told = [event.detail for event in history if event.event not in _OF_THE_HARNESS]
    if vault.leaked_in(written) or vault.leaked_in_json(told):
        leaking = {event.event == "result" for event in history if vault.leaked_in_json(event.as_json())}
        sinks += ["result"] if True in leaking else []
        sinks += ["events"] if leaking != {True} else []
    if any(vault.leaked_in(text) for text in raised):
        sinks.append("exception")
    if vault.leaked_in_json(diagnostics):
        sinks.append("diagnostics")
    return sinks
