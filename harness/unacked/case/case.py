"""The files users write: a case, and a contract fixture.

These are the shapes only; what needs the rest of the suite (operations, graphs, services that exist) is
checked where the suite is loaded.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from unacked.approval import REFUSALS, Lasts
from unacked.canonical import JSON
from unacked.contract import Idempotency
from unacked.errors import nearest
from unacked.event import EVENTS
from unacked.fault import ALIASES, KINDS, PAGED, Action, Fault, Point
from unacked.outcome import CATEGORIES, OutcomeClass, Retry

__all__ = [
    "Answer",
    "CannedResponse",
    "CaseFile",
    "ContractTerms",
    "Decision",
    "Expectation",
    "ExpectedPrompt",
    "ExpectedResult",
    "FaultFile",
    "Faults",
    "FinalStatus",
    "FixtureFile",
    "GraphUse",
    "Identifier",
    "Limits",
    "Member",
    "ServiceUse",
    "SessionUse",
    "Strict",
]


class Strict(BaseModel):
    """A mapping in which every key is known, and no value is taken for one of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


def _category(name: str) -> str:
    if name not in CATEGORIES:
        raise ValueError(f"unknown category; {nearest(name, CATEGORIES)}")
    return name


def _refusal(code: str) -> str:
    if code not in REFUSALS:
        raise ValueError(f"unknown refusal; {nearest(code, REFUSALS)}")
    return code


def _event(name: str) -> str:
    if name not in EVENTS:
        raise ValueError(f"unknown event; {nearest(name, EVENTS)}")
    return name


Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=64)]
"""A name that is safe in a file name, a command line and a report."""

Decision = Literal["continue_search", "refuse_or_request_review", "perform_cleanup", "report_complete"]
"""What an agent makes of a collection: it looks on, stops or asks, destroys, or claims to know all of it."""

FinalStatus = Literal["success", "unknown", "declined", "failed", "refused"]

# A file holds the word, not the member of the enumeration.
PointWord = Annotated[Point, Field(strict=False)]
RetryWord = Annotated[Retry, Field(strict=False)]
LastsWord = Annotated[Lasts, Field(strict=False)]
IdempotencyWord = Annotated[Idempotency, Field(strict=False)]

WrittenAction = Annotated[
    Action,
    BeforeValidator(Action.parse),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": sorted(KINDS)},
                {"type": "object", "propertyNames": {"enum": sorted(KINDS)}, "minProperties": 1, "maxProperties": 1},
            ]
        }
    ),
]
"""A word of ``KINDS``, or one word with its parameters."""


class FaultFile(Strict):
    """A fault as a case writes it: point and action, or one of the familiar words."""

    operation: str
    nth: Annotated[int, Field(ge=1)] = 1
    point: PointWord | None = None
    action: WrittenAction | None = None
    fault: str | None = None
    committed: bool | None = None
    persistent: bool = False
    page: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.fault is not None:
            if self.point or self.action:
                raise ValueError("give either 'fault' or 'point' and 'action', not both")
            if self.fault not in ALIASES:
                raise ValueError(f"unknown fault {self.fault!r}; {nearest(self.fault, ALIASES)}")
            return self
        if self.point is None or self.action is None:
            raise ValueError("a fault needs 'point' and 'action' (or 'fault' with a familiar word)")
        allowed = KINDS[self.action.name].points
        if self.point not in allowed:
            places = ", ".join(sorted(allowed))
            raise ValueError(f"action {self.action.name!r} cannot act at {self.point.value!r}; it can at: {places}")
        if self.page is not None and self.point not in PAGED:
            raise ValueError(f"a fault of one page acts at: {', '.join(sorted(PAGED))}; not at {self.point.value!r}")
        return self

    def value(self) -> Fault:
        """Return the fault itself."""
        point, action = self.point, self.action
        if self.fault is not None:
            point, written = ALIASES[self.fault]
            action = Action.parse(written)
        assert point is not None  # noqa: S101 - the validator saw to it
        assert action is not None  # noqa: S101 - the validator saw to it
        return Fault(self.operation, point, action, self.nth, self.committed, self.persistent, self.page)


class ServiceUse(Strict):
    """A fake service in this case: its seed state, and whether the tools sign in before the task begins."""

    seed: dict[str, JSON] = Field(default_factory=dict)
    sign_in: bool = False


class SessionUse(Strict):
    """What the tools hold when the task begins, in a case with an issuer of tokens.

    ``cached_for_s`` is how long they believe that their access token is good; the service may know better.
    """

    cached_for_s: Annotated[float, Field(ge=0)] = 3600.0


class ExpectedResult(Strict):
    """What the tool must say at one call."""

    operation: str
    nth: Annotated[int, Field(ge=1)] = 1
    category: Annotated[str, AfterValidator(_category)]
    retry: RetryWord | None = None
    failed_field: str | None = None
    refusal: Annotated[str, AfterValidator(_refusal)] | None = None


class ExpectedFinish(Strict):
    """What the final claim may be, and words that its summary must hold."""

    status: list[FinalStatus] = Field(min_length=1)
    mentions: list[str] = Field(default_factory=list)


class ExpectedPrompt(Strict):
    """One time that a person is asked: by which call, about what, for how long, and when (virtual seconds).

    What is left out is not compared; the time is, to the second.
    """

    operation: str
    target: str | None = None
    lasts: LastsWord | None = None
    at_s: Annotated[int, Field(ge=0)] | None = None


class Expectation(Strict):
    """The four claims in the words of the case.

    ``prompts`` lists every time that a person is asked; ``within_s`` is by when the agent has ended, in virtual
    seconds. ``requests`` is how often at most an operation may reach its service, on the side that the case declares:
    on the other one what was not done may have to be asked for again.
    """

    result: ExpectedResult | None = None
    world: dict[str, JSON] = Field(default_factory=dict)
    trail: list[Annotated[str, AfterValidator(_event)]] = Field(default_factory=list)
    requests: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    finish: ExpectedFinish | None = None
    within_s: Annotated[float, Field(gt=0)] | None = None
    prompts: list[ExpectedPrompt] | None = None


class Known(Strict):
    """The column "remote effect known?" after the fault, and the class of the outcome."""

    effect_known: bool
    outcome_class: OutcomeClass = Field(alias="class", strict=False)


class Answer(Strict):
    """What a person says at the nth question.

    With the decision ``granted``, ``credential`` names the stored credential that may be used from now on.
    """

    operation: str = "ask_human"
    nth: Annotated[int, Field(ge=1)] = 1
    decision: str
    credential: str | None = None

    @model_validator(mode="after")
    def _grant_names_a_credential(self) -> Self:
        if (self.decision == "granted") is not (self.credential is not None):
            raise ValueError("'credential' belongs to the decision 'granted', and to no other")
        return self


class ContractTerms(Strict):
    """What the service declares for one operation in this case.

    ``hides_denial``: to whoever may not see an object the service answers as if it were not there. ``approval``: the
    tool asks the gate before it sends anything, for this one call or once for the whole session.
    """

    idempotency: IdempotencyWord | None = None
    hides_denial: bool = False
    approval: LastsWord | None = None


class Limits(Strict):
    """Where a trial is cut; a cut trial is never a failure by itself."""

    turns: Annotated[int, Field(ge=1)] = 12
    deadline_s: Annotated[float, Field(gt=0)] = 600.0


def _day(written: JSON) -> dt.date:
    if isinstance(written, str) and _DAY.fullmatch(written):
        with suppress(ValueError):
            return dt.date.fromisoformat(written)
    raise ValueError("expected a day, such as 2027-01-31")


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class ExpectedFailure(Strict):
    """A failure that is known and owned, until a day."""

    agent: str
    reason: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    until: Annotated[dt.date, BeforeValidator(_day)]


Step = Annotated[dict[str, dict[str, JSON]], Field(min_length=1, max_length=1)]
"""One call: an operation and its arguments; ``$name`` stands for a field of an earlier result."""


class Provenance(Strict):
    """Where an incident that was imported came from: format and digest of the trace, and what was left out of it."""

    format: str
    trace: str = Field(pattern=r"^[0-9a-f]{64}$")
    calls: Annotated[int, Field(ge=1)]
    added: Annotated[dt.date, BeforeValidator(_day)] | None = None
    removed: list[str] = Field(default_factory=list)


class Incident(Strict):
    """What really happened: where it was reported, who did it, and the rule that catches it.

    ``behaviour`` are the calls that an agent made. Where it was the code of a tool that went wrong, ``adapter`` names
    that code as it was, a function in ``adapters.py`` of the agent that repeats incidents, and ``operation`` the call.
    Where what runs agents made the calls, ``orchestrator`` names the check of orchestrators that must catch it, too.
    """

    source: str = Field(min_length=1)
    behaviour: list[Step] = Field(default_factory=list)
    adapter: str | None = None
    operation: str | None = None
    orchestrator: str | None = None
    caught: str = Field(min_length=1)
    provenance: Provenance | None = None

    @model_validator(mode="after")
    def _one_culprit(self) -> Self:
        if bool(self.behaviour) is (self.adapter is not None):
            raise ValueError("give either 'behaviour', what an agent did, or 'adapter', the code of a tool")
        if (self.adapter is None) is not (self.operation is None):
            raise ValueError("'adapter' and 'operation' belong together: the code of a tool, and the call that it got")
        return self


class Sweep(Strict):
    """Every fault at every place of one operation, at its nth call."""

    operation: str
    nth: Annotated[int, Field(ge=1)] = 1


class SweepFile(Strict):
    """The faults of a case that is swept."""

    sweep: Sweep


Faults = Annotated[
    Annotated[list[FaultFile], Tag("list")] | Annotated[SweepFile, Tag("sweep")],
    Discriminator(lambda value: "sweep" if isinstance(value, dict | SweepFile) else "list"),
]
"""A list of faults, or ``{sweep: {operation: ...}}``."""

GraphUse = Annotated[dict[str, dict[str, str | None]], Field(min_length=1, max_length=1)]


class Member(Strict):
    """One agent of a team: its part of the task, and whom it comes after.

    It knows its own task and what those before it hand over, nothing else. ``agent`` drives it; without one, the
    agent of the trial does. ``tools`` are those of the case that it may call (default: all); the one to end its part
    with is added. ``effects`` are what its part asks for. One that ``compensates`` another begins only where one of
    those it comes ``after`` told anything but success, and the other one may have done something.
    """

    member: Identifier
    task: str = Field(min_length=1)
    agent: Identifier | None = None
    tools: list[str] | None = None
    after: list[Identifier] = Field(default_factory=list)
    compensates: Identifier | None = None
    effects: dict[str, list[dict[str, JSON]]] = Field(default_factory=dict)
    script: list[Step] = Field(default_factory=list)

    @property
    def waits_for(self) -> list[str]:
        """Everybody whose end it waits for, and of whom it learns."""
        return [*self.after, *([self.compensates] if self.compensates and self.compensates not in self.after else [])]


def _or_extend(schema: dict[str, JSON]) -> None:
    """Let editors know that a case which extends another need not say again what that one says."""
    required = [name for name in schema["required"] if name != "case"]
    schema.update(required=["case"], anyOf=[{"required": ["extends"]}, {"required": required}])


class CaseFile(Strict):
    """One case: task, services and their seed, faults, graphs, and what is expected.

    ``undo`` takes back what ``script`` does, in this order, where a step of it fails for good.
    ``response`` holds result fields that the tool must give at the call of ``expect.result``, and
    ``expected_agent_decision`` what the agent must do upon it. A ``team`` shares the task between agents; what its
    members' parts ask for is added to ``effects``.
    """

    model_config = ConfigDict(json_schema_extra=_or_extend)

    case: Identifier
    title: str = Field(min_length=1)
    tags: list[Identifier] = Field(default_factory=list)
    task: str = Field(min_length=1)
    services: dict[str, ServiceUse] = Field(min_length=1)
    tools: list[str] = Field(min_length=1)
    graphs: list[str | GraphUse] = Field(min_length=1)
    effects: dict[str, list[dict[str, JSON]]] = Field(default_factory=dict)
    faults: Faults = Field(default_factory=list)
    twins: bool = False
    known: Known | None = None
    expect: Expectation = Expectation()
    response: dict[str, JSON] | None = None
    expected_agent_decision: Decision | None = None
    answers: list[Answer] = Field(default_factory=list)
    contract: dict[str, ContractTerms] = Field(default_factory=dict)
    session: SessionUse = SessionUse()
    trap: bool = False
    limits: Limits = Limits()
    script: list[Step] = Field(default_factory=list)
    team: list[Member] = Field(default_factory=list)
    undo: list[Step] = Field(default_factory=list)
    incident: Incident | None = None
    extends: str | None = None
    xfail: ExpectedFailure | None = None
    pending: str | None = None

    @model_validator(mode="after")
    def _asks_for_what_its_members_ask(self) -> Self:
        for member in self.team:
            for name, effects in member.effects.items():
                self.effects[name] = [*self.effects.get(name, []), *effects]
        return self

    @property
    def own_effects(self) -> dict[str, list[dict[str, JSON]]]:
        """The effects that the case asks for besides those of its members."""
        asked = {name: sum(len(member.effects.get(name, ())) for member in self.team) for name in self.effects}
        own = {name: effects[: len(effects) - asked[name]] for name, effects in self.effects.items()}
        return {name: effects for name, effects in own.items() if effects or not asked[name]}

    @property
    def sweep(self) -> Sweep | None:
        """What is swept, where the case is a sweep."""
        return self.faults.sweep if isinstance(self.faults, SweepFile) else None

    @property
    def listed_faults(self) -> Sequence[FaultFile]:
        """The faults that the case lists; none where it is a sweep."""
        return () if isinstance(self.faults, SweepFile) else self.faults


class RequestForm(Strict):
    """A request by its method and path; whose operation it is, the tools' contracts say."""

    method: str
    path: str


class CannedResponse(Strict):
    """An answer that is given as it is written; ``text`` in place of ``body`` is no JSON.

    A header that is null is left out. ``$correlation_id`` and ``$credential`` stand for those of the call.
    """

    status: Annotated[int, Field(ge=200, le=599)]
    headers: dict[str, str | None] = Field(default_factory=dict)
    body: JSON = None
    text: str | None = None


class WireFault(Strict):
    """A fault in place of an answer."""

    point: PointWord
    action: WrittenAction


class ExpectedEnvelope(Strict):
    """What the tool must make of the answer; what is left out is not compared."""

    category: Annotated[str, AfterValidator(_category)]
    retry: RetryWord | None = None
    failed_field: str | None = None
    secret_in_result: Literal[False] = False


class FixtureFile(Strict):
    """One call of one tool without an agent: what it is answered, and what it must make of that."""

    fixture: Identifier
    title: str | None = None
    operation: str | None = None
    request: RequestForm | None = None
    arguments: dict[str, JSON] = Field(default_factory=dict)
    fixture_response: CannedResponse | None = None
    fault: WireFault | None = None
    expect: ExpectedEnvelope
