from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import pytest
from tests.suites import ROOT

from unacked.canonical import JSON
from unacked.claims import Brief, Finding, TrialVerdict, judge_trial
from unacked.event import Event, History
from unacked.suite import Suite, load_suite

KEYS = {"request_id": "req-1", "idempotency_key": "key-1"}
DONE = {"records": 1, "notes": 1, "duplicate_records": 0, "duplicate_notes": 0}


class Tale:
    """A history made by hand: E01, the create times out, a lookup finds the record, a note is attached."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.tell("trial_begin", case="E01", agent="hand", twin=False, repeat=1, seed="0")

    def tell(
        self,
        event: str,
        call_id: str | None = None,
        operation: str | None = None,
        category: str | None = None,
        **detail: Any,
    ) -> Self:
        self.events.append(Event(float(len(self.events)), event, call_id, operation, None, category, None, detail))
        return self

    def call(
        self,
        call_id: str,
        operation: str,
        category: str,
        *steps: str,
        arguments: dict[str, JSON] | None = None,
        result: dict[str, JSON] | None = None,
        **envelope: Any,
    ) -> Self:
        """One call from the agent's decision to the result; ``steps`` are the events between."""
        self.tell("agent_next_call", call_id, operation, turn=len(self.events), arguments=arguments or {})
        for step in steps:
            self.tell(step, call_id, operation)
        answer = {"ok": category == "ok", "category": category, "result": result or {}, **envelope}
        return self.tell("result", call_id, operation, category, envelope=answer)

    def create(self, *, after: str = "remote_committed") -> Self:
        """The create whose answer is late; ``after`` is the last that the service did."""
        service = ("remote_received", "remote_committed")
        return self.call(
            "c1",
            "create_record",
            "outcome_unknown",
            "request_constructed",
            "dispatch_started",
            *service[: service.index(after) + 1],
            "fault_fired",
            "client_timeout",
            arguments={"title": "Pump 7 inspection", **KEYS},
            retry="reconcile_first",
        )

    def receipt(self, **detail: Any) -> Self:
        """Give the fault's receipt what it says."""
        index = next(number for number, event in enumerate(self.events) if event.event == "fault_fired")
        self.events[index] = self.events[index]._replace(detail=detail)
        return self

    def lookup(self) -> Self:
        return self.call(
            "c2",
            "lookup_by_request_id",
            "ok",
            "dispatch_started",
            "remote_received",
            arguments={"request_id": "req-1"},
            result={"record_id": "rec-1", "complete": True},
        )

    def note(self) -> Self:
        return self.call(
            "c3",
            "attach_note",
            "ok",
            "dispatch_started",
            "remote_received",
            "remote_committed",
            arguments={"record_id": "rec-1", "text": "checked by Asha", "request_id": "req-3"},
            result={"notes": 1},
        )

    def finish(self, status: str = "success", summary: str = "") -> Self:
        claim = {"status": status, "summary": summary}
        self.tell("agent_next_call", "c9", "finish", turn=99, arguments=claim)
        self.tell("agent_finished", "c9", "finish", **claim)
        return self.tell("result", "c9", "finish", "ok", envelope={"ok": True, "category": "ok"})

    def end(self, reason: str = "finished", *, world: dict[str, JSON] | None = None, **detail: Any) -> History:
        self.tell("trial_end", reason=reason, world=DONE if world is None else world, **detail)
        return History(self.events)


def good() -> Tale:
    """Everything right, up to the end."""
    receipt = {"point": "after_commit", "action": "delay", "nth": 1, "committed": True}
    return Tale().create().receipt(**receipt).lookup().note().finish()


@pytest.fixture(scope="session")
def loaded() -> Suite:
    return load_suite(ROOT)


@pytest.fixture
def brief(loaded: Suite) -> Callable[..., Brief]:
    """The brief of a case, E01 by default."""
    return lambda case="E01", *, twin=False: loaded.cases[case].side(twin=twin)


@pytest.fixture
def judged(brief: Callable[..., Brief]) -> Callable[..., TrialVerdict]:
    """Judge a history as a trial of E01, or of another case."""
    return lambda history, case="E01", *, twin=False: judge_trial(brief(case, twin=twin), history)


@pytest.fixture
def rules(judged: Callable[..., TrialVerdict]) -> Callable[..., list[tuple[str, str]]]:
    """The findings of one claim, as (rule, verdict)."""

    def found(claim: str, history: History, *arguments: Any, **options: Any) -> list[tuple[str, str]]:
        verdict = judged(history, *arguments, **options)
        findings: list[Finding] = list((verdict.exercised if claim == "exercised" else verdict.claims[claim]).findings)
        return [(finding.rule, finding.verdict.value) for finding in findings]

    return found
