"""The gate: people approve, decline, or do not answer; a locked gate lets nothing through.

Who decides what is scripted in the seed, one decision for each time that a person is asked; when the list is used
up, nobody answers.

    decisions:
      - approved
      - {decision: approved, expires_after_s: 60, revoked_after_s: 5}
      - {decision: approved, only: {patch: "owner: asha"}}        # approves something narrower
      - {decision: approved, lasts: call}                         # of what was asked for the whole session
      - {decision: approved, locked_after_s: 5}                   # and the gate is locked before it can be used
      - declined
      - unanswered
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unacked.approval import REFUSALS, Lasts
from unacked.canonical import JSON, digest
from unacked.clock import Clock
from unacked.services import Call, Field, Result, Route, SeedError, Service, Setting, check_seed

TEXT, OPTIONAL = Field(), Field(required=False)
OBJECT, LIST, COUNT = Field((dict,), required=False), Field((list,), required=False), Field((int,), required=False)
ASKED = {"session": TEXT, "action": TEXT, "target": OPTIONAL, "arguments": OBJECT, "lasts": TEXT}
SHOWN = {"reasons": LIST, "scope": OPTIONAL, "options": LIST, "returned": COUNT, "targets": LIST}

Approval = dict[str, Any]


class Gate(Service):
    """Approvals belong to a session, which the process that asks has named; another session holds none of them."""

    name = "gate"

    def __init__(self, setting: Setting, state: dict[str, Any]) -> None:
        super().__init__(setting, state)
        self._clock: Clock = setting.clock

    def hear(self, decision: str) -> None:
        """Unlock where a person says so, and lock again likewise."""
        if decision in ("unlocked", "locked"):
            self.state["locked_from_s"] = self._clock.now() if decision == "locked" else math.inf

    @property
    def _is_locked(self) -> bool:
        return bool(self._clock.now() >= self.state["locked_from_s"])

    def request(self, call: Call) -> Result:
        """Ask a person in advance; the approval is used later, by its id."""
        if self._is_locked:
            return self._refuse("locked")
        return self._ask(call)

    def use(self, call: Call) -> Result:
        """Let one call through, or not: by its approval, by one that covers it, or by asking a person now."""
        if self._is_locked:
            return self._refuse("locked")
        approval_id = call.fields["approval_id"]
        if approval_id is None:
            approval_id = self._covering(call)
        if approval_id is not None:
            return self._use(approval_id, call)
        asked = self._ask(call)
        if asked.status != 200:
            return asked
        approval_id = asked.body["approval_id"]
        if not self._fits(self.state["approvals"][approval_id], call):
            return self._refuse("approved_narrower", prompted=True)
        return self._use(approval_id, call, prompted=True)

    def give_back(self, call: Call) -> Result:
        """Take back the use of an approval: its call was never sent."""
        approval = self._of_session(call.path["approval_id"], call.fields["session"])
        if approval is None:
            return self._refuse("approval_unknown")
        approval["uses"] = max(0, approval["uses"] - 1)
        return Result(200, {"approval_id": approval["approval_id"]}, committed=True)

    def check(self, call: Call) -> Result:
        """Say what an approval is worth at this moment; only its use is a promise."""
        approval = self._of_session(call.path["approval_id"], call.fields["session"])
        if approval is None:
            return self._refuse("approval_unknown")
        worth = self._worth(approval) or "valid"
        return Result(200, {"approval_id": approval["approval_id"], "lasts": approval["lasts"], "worth": worth})

    # Asking a person

    def _ask(self, call: Call) -> Result:
        fields = call.fields
        earlier = self._declined_before(call)
        if earlier is not None:
            return self._refuse(earlier)
        decisions = self.state["decisions"]
        decided: dict[str, Any] = decisions.pop(0) if decisions else {"decision": "unanswered"}
        self.state["prompts"] += 1
        if decided["decision"] != "approved":
            return self._refuse(self._turn_down(call, decided["decision"]), prompted=True)
        if "locked_after_s" in decided:
            self.state["locked_from_s"] = self._clock.now() + decided["locked_after_s"]
        asked_for: dict[str, Any] = fields["arguments"] or {}
        arguments = {**asked_for, **decided.get("only", {})}
        lasts = decided.get("lasts", fields["lasts"])
        approval = {
            "approval_id": self.ids.new("apr", self.state["approvals"]),
            "session": fields["session"],
            "action": fields["action"],
            "lasts": lasts,
            "digest": None if lasts == Lasts.SESSION else _digest(fields["action"], fields["target"], arguments),
            "at_s": self._clock.now(),
            "expires_after_s": decided.get("expires_after_s"),
            "revoked_after_s": decided.get("revoked_after_s"),
            "uses": 0,
        }
        self.state["approvals"][approval["approval_id"]] = approval
        narrower = (arguments, lasts) != (asked_for, fields["lasts"])
        return Result(200, {**_shown(approval), "narrower": narrower, "prompted": True}, committed=True)

    def _turn_down(self, call: Call, decision: str) -> str:
        """Remember a no, so that nobody is asked twice; returns its code."""
        fields = call.fields
        code = "unanswered"
        if decision == "declined":
            code = "session_declined" if fields["lasts"] == Lasts.SESSION else "call_declined"
        self.state["declined"][_key(call, fields["lasts"])] = code
        return code

    def _declined_before(self, call: Call) -> str | None:
        """The no that covers this call already: to this very call, or to its action for the whole session."""
        codes = (self.state["declined"].get(_key(call, lasts)) for lasts in Lasts)
        return next((code for code in codes if code is not None), None)

    # Using an approval

    def _use(self, approval_id: str, call: Call, *, prompted: bool = False) -> Result:
        approval = self._of_session(approval_id, call.fields["session"])
        if approval is None:
            return self._refuse("approval_unknown")
        trouble = None if self._fits(approval, call) else "approval_mismatch"
        trouble = trouble or self._worth(approval)
        if trouble is not None:
            return self._refuse(trouble, prompted=prompted)
        approval["uses"] += 1
        return Result(200, {**_shown(approval), "narrower": False, "prompted": prompted}, committed=True)

    def _covering(self, call: Call) -> str | None:
        """An approval of this session that covers the call and is still good."""
        for approval_id, approval in self.state["approvals"].items():
            mine = approval["session"] == call.fields["session"]
            if mine and self._fits(approval, call) and self._worth(approval) is None:
                return str(approval_id)
        return None

    def _fits(self, approval: Approval, call: Call) -> bool:
        """Whether an approval is for this call; one for a session never carries a call that needs its own."""
        fields = call.fields
        if approval["digest"] is None:
            return bool(approval["action"] == fields["action"] and fields["lasts"] == Lasts.SESSION)
        wanted = _digest(fields["action"], fields["target"], fields["arguments"] or {})
        return bool(approval["digest"] == wanted)

    def _worth(self, approval: Approval) -> str | None:
        """Why an approval is good for nothing now; None where it is good."""
        age_s = self._clock.now() - approval["at_s"]
        if approval["lasts"] == Lasts.CALL and approval["uses"] > 0:
            return "approval_used"
        if approval["revoked_after_s"] is not None and age_s >= approval["revoked_after_s"]:
            return "approval_revoked"
        if approval["expires_after_s"] is not None and age_s >= approval["expires_after_s"]:
            return "approval_expired"
        return None

    def _of_session(self, approval_id: str, session: str) -> Approval | None:
        approval: Approval | None = self.state["approvals"].get(approval_id)
        return approval if approval is not None and approval["session"] == session else None

    def _refuse(self, code: str, *, prompted: bool = False) -> Result:
        status = 423 if REFUSALS[code].category == "locked" else 403
        return Result(status, {"error": code, "prompted": prompted})

    def summary(self) -> dict[str, JSON]:
        """Count how often people were asked, what they approved, and how often that was used."""
        approvals = self.state["approvals"].values()
        return {
            "prompts": self.state["prompts"],
            "approvals": len(approvals),
            "approved_calls": sum(approval["uses"] for approval in approvals),
        }

    routes = (
        Route("request_approval", "POST", "/v1/approvals", request, fields={**ASKED, **SHOWN}),
        Route("use_approval", "POST", "/v1/uses", use, fields={**ASKED, "approval_id": OPTIONAL}),
        Route("check_approval", "GET", "/v1/approvals/{approval_id}", check, fields={"session": TEXT}),
        Route("give_back_approval", "DELETE", "/v1/uses/{approval_id}", give_back, fields={"session": TEXT}),
    )


def _shown(approval: Approval) -> dict[str, JSON]:
    return {name: approval[name] for name in ("approval_id", "action", "lasts")}


def _digest(action: str, target: JSON, arguments: Mapping[str, JSON]) -> str:
    """What a person approved, to the letter."""
    return digest([action, target, dict(arguments)])


def _key(call: Call, lasts: str) -> str:
    """What a no covers: the very call, or in this session the whole action."""
    fields = call.fields
    what = _digest(fields["action"], fields["target"], fields["arguments"] or {}) if lasts == Lasts.CALL else ""
    return f"{fields['session']} {fields['action']} {what}"


DECISIONS = ("approved", "declined", "unanswered")
SECONDS = Field((int, float))
TERMS = {
    "expires_after_s": SECONDS,
    "revoked_after_s": SECONDS,
    "locked_after_s": SECONDS,
    "only": Field((dict,)),
    "lasts": TEXT,
}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the gate with its scripted decisions; raises SeedError where the seed does not fit."""
    check_seed(seed, ["locked", "decisions"])
    locked, decisions = seed.get("locked", False), seed.get("decisions", [])
    if not isinstance(locked, bool):
        raise SeedError(("locked",), f"expected true or false, got {locked!r}")
    if not isinstance(decisions, list):
        raise SeedError(("decisions",), f"expected a list, got {decisions!r}")
    scripted = [_decision(number, given) for number, given in enumerate(decisions)]
    begun = {"locked_from_s": -math.inf if locked else math.inf, "decisions": scripted}
    return Gate(setting, {**begun, "approvals": {}, "declined": {}, "prompts": 0})


def _decision(number: int, given: JSON) -> dict[str, JSON]:
    decided = {"decision": given} if isinstance(given, str) else given
    if not isinstance(decided, dict) or decided.get("decision") not in DECISIONS:
        raise SeedError(("decisions", number), f"expected one of {', '.join(DECISIONS)}, or a mapping with 'decision'")
    terms = {name: value for name, value in decided.items() if name != "decision"}
    for name, value in terms.items():
        if name not in TERMS:
            raise SeedError(("decisions", number, name), f"unknown; known: {', '.join(TERMS)}")
        if not TERMS[name].accepts(value):
            raise SeedError(("decisions", number, name), f"expected {TERMS[name]}, got {value!r}")
        if name == "lasts" and value not in list(Lasts):
            raise SeedError(("decisions", number, name), f"expected {' or '.join(Lasts)}, got {value!r}")
    if terms and decided["decision"] != "approved":
        raise SeedError(("decisions", number), "only an approval has terms")
    return decided
