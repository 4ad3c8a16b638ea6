"""The desk: what never leaves the harness. Claims, questions to a person, waiting, credentials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.case import Answer
from unacked.clock import VirtualClock
from unacked.event import Emit
from unacked.outcome import CATEGORIES, Envelope, Retry

__all__ = ["CLAIMS", "Consequences", "Desk"]

CLAIMS: Mapping[str, str] = {"finish": "agent_finished", "hand_over": "handed_over"}
"""The operations that end an agent's part, and how the record calls what it said."""

NOBODY = "nobody answered"
"""The decision when no answer is scripted: people are not always there."""


@dataclass(frozen=True, slots=True)
class Consequences:
    """What follows from a call at the desk: a person decided something, or the agent takes another credential."""

    decided: Callable[[str], None]
    switched: Callable[[str], None]


class Desk:
    """Answers the control tools of one trial."""

    def __init__(self, clock: VirtualClock, emit: Emit, answers: Sequence[Answer], consequences: Consequences) -> None:
        self._clock = clock
        self._emit = emit
        self._answers = {(answer.operation, answer.nth): answer for answer in answers}
        self._consequences = consequences
        self._asked: Counter[str] = Counter()

    def call(self, operation: str, arguments: Mapping[str, JSON], correlation_id: str) -> Envelope:
        """Answer one control call; its arguments hold the contract."""
        result: dict[str, JSON] = {}
        match operation:
            case "finish" | "hand_over":
                self._emit(CLAIMS[operation], id=correlation_id, operation=operation, detail=dict(arguments))
            case "wait":
                self._clock.advance(max(0.0, float(arguments["seconds"])))
            case "ask_human":
                result = self._ask(arguments, correlation_id)
            case "switch_credential":
                self._consequences.switched(str(arguments["name"]))
        return Envelope(
            category="ok",
            operation=operation,
            retry=Retry.NONE,
            correlation_id=correlation_id,
            message=CATEGORIES["ok"].message,
            result=result,
        )

    def _ask(self, arguments: Mapping[str, JSON], correlation_id: str) -> dict[str, JSON]:
        self._asked["ask_human"] += 1
        self._emit("approval_requested", id=correlation_id, operation="ask_human", detail=dict(arguments))
        answer = self._answers.get(("ask_human", self._asked["ask_human"]))
        decided: dict[str, JSON] = {"decision": answer.decision if answer else NOBODY}
        if answer is not None and answer.credential is not None:
            decided["credential"] = answer.credential
        self._consequences.decided(str(decided["decision"]))
        self._emit("approval_decided", id=correlation_id, operation="ask_human", detail=decided)
        return decided
