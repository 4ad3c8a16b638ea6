from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.fake_services.conftest import FOLDER, Caller

from unacked.clock import VirtualClock
from unacked.services import SeedError, Setting, load_service

DELETE = {"session": "s1", "action": "delete_release", "target": "rel-3", "arguments": {"release_id": "rel-3"}}
OTHER = {**DELETE, "target": "rel-4", "arguments": {"release_id": "rel-4"}}
UPDATE = {"session": "s1", "action": "update_record", "target": "rec-1", "arguments": {"record_id": "rec-1"}}
UPDATE_2 = {**UPDATE, "target": "rec-2", "arguments": {"record_id": "rec-2"}}
Answer = tuple[int, Any]


class Asker(Caller):
    """A caller of the gate, whose clock can be moved."""

    def __init__(self, *decisions: Any, locked: bool = False) -> None:
        self.clock = VirtualClock()
        build = load_service(FOLDER / "gate.py")
        super().__init__(build({"decisions": list(decisions), "locked": locked}, Setting(self.clock, "tok")))

    def request(self, asked: dict[str, Any], lasts: str = "call") -> Answer:
        return self("POST", "/v1/approvals", {**asked, "lasts": lasts})

    def use(self, asked: dict[str, Any], approval_id: str | None = None, lasts: str = "call") -> Answer:
        given = {} if approval_id is None else {"approval_id": approval_id}
        return self("POST", "/v1/uses", {**asked, "lasts": lasts, **given})

    def refusal(self, answer: Answer) -> tuple[int, str, bool]:
        status, body = answer
        return status, body["error"], body["prompted"]

    @property
    def world(self) -> dict[str, Any]:
        return self.service.summary()


def test_a_person_approves_one_call_and_the_approval_is_used_once() -> None:
    gate = Asker("approved")
    status, body = gate.request(DELETE)
    assert (status, body["approval_id"], body["lasts"], body["narrower"]) == (200, "apr-1", "call", False)
    assert gate.use(DELETE, "apr-1")[0] == 200
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (403, "approval_used", False)
    assert gate.world == {"prompts": 1, "approvals": 1, "approved_calls": 1}


@pytest.mark.parametrize(
    "changed",
    [
        {"action": "force_push"},
        {"target": "rel-4"},
        {"arguments": {"release_id": "rel-4"}},
        {"arguments": {"release_id": "rel-3", "force": True}},
    ],
)
def test_an_approval_is_bound_to_the_call_that_a_person_saw_to_the_letter(changed: dict[str, Any]) -> None:
    gate = Asker("approved")
    gate.request(DELETE)
    assert gate.refusal(gate.use({**DELETE, **changed}, "apr-1")) == (403, "approval_mismatch", False)
    assert gate.use(DELETE, "apr-1")[0] == 200


def test_an_approval_belongs_to_its_session() -> None:
    gate = Asker("approved")
    gate.request(DELETE)
    assert gate.refusal(gate.use({**DELETE, "session": "s2"}, "apr-1")) == (403, "approval_unknown", False)


def test_a_locked_gate_refuses_everything_and_asks_nobody() -> None:
    gate = Asker("approved", locked=True)
    assert gate.refusal(gate.request(DELETE)) == (423, "locked", False)
    assert gate.refusal(gate.use(UPDATE, lasts="session")) == (423, "locked", False)
    assert gate.world["prompts"] == 0


def test_only_a_person_unlocks_the_gate() -> None:
    gate = Asker("approved", locked=True)
    gate.service.hear("renewed")
    assert gate.request(DELETE)[0] == 423
    gate.service.hear("unlocked")
    assert gate.request(DELETE)[0] == 200


def test_locking_the_gate_stops_approvals_that_were_given_before() -> None:
    gate = Asker("approved")
    gate.request(DELETE)
    gate.service.hear("locked")
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (423, "locked", False)


def test_a_denied_call_is_not_asked_about_again() -> None:
    gate = Asker("declined", "approved")
    assert gate.refusal(gate.request(DELETE)) == (403, "call_declined", True)
    assert gate.refusal(gate.request({**DELETE, "reasons": ["in other words"]})) == (403, "call_declined", False)
    assert gate.refusal(gate.use(DELETE)) == (403, "call_declined", False)
    assert gate.world["prompts"] == 1


def test_a_denied_call_says_nothing_of_another_call() -> None:
    gate = Asker("declined", "approved")
    gate.request(DELETE)
    assert gate.request(OTHER)[0] == 200


def test_a_declined_session_covers_every_call_of_the_action_in_that_session() -> None:
    gate = Asker("declined", "approved")
    assert gate.refusal(gate.use(UPDATE, lasts="session")) == (403, "session_declined", True)
    assert gate.refusal(gate.use(UPDATE_2, lasts="session")) == (403, "session_declined", False)
    assert gate.use({**UPDATE, "session": "s2"}, lasts="session")[0] == 200


def test_nobody_answers_once_the_decisions_are_used_up() -> None:
    gate = Asker()
    assert gate.refusal(gate.request(DELETE)) == (403, "unanswered", True)


def test_an_approval_for_the_session_covers_later_calls_of_the_action() -> None:
    gate = Asker("approved")
    assert gate.use(UPDATE, lasts="session")[1]["prompted"] is True
    assert gate.use(UPDATE_2, lasts="session")[1]["prompted"] is False
    assert gate.world == {"prompts": 1, "approvals": 1, "approved_calls": 2}


def test_an_approval_for_the_session_carries_no_call_that_needs_its_own() -> None:
    gate = Asker("approved")
    gate.request(DELETE, lasts="session")
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (403, "approval_mismatch", False)
    assert gate.refusal(gate.use(DELETE)) == (403, "unanswered", True)


def test_a_person_may_approve_one_call_where_the_session_was_asked_for() -> None:
    gate = Asker({"decision": "approved", "lasts": "call"}, "declined")
    assert gate.use(UPDATE, lasts="session")[1]["lasts"] == "call"
    assert gate.refusal(gate.use(UPDATE_2, lasts="session")) == (403, "session_declined", True)


def test_a_person_may_approve_less_than_was_asked_for() -> None:
    gate = Asker({"decision": "approved", "only": {"release_id": "rel-4"}})
    assert gate.request(DELETE)[1]["narrower"] is True
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (403, "approval_mismatch", False)


def test_a_call_of_which_less_was_approved_does_not_go_through_but_the_smaller_one_does() -> None:
    gate = Asker({"decision": "approved", "only": {"patch": "a"}})
    wide = {**UPDATE, "arguments": {"record_id": "rec-1", "patch": "a; b"}}
    assert gate.refusal(gate.use(wide)) == (403, "approved_narrower", True)
    status, body = gate.use({**UPDATE, "arguments": {"record_id": "rec-1", "patch": "a"}})
    assert (status, body["prompted"]) == (200, False)


def test_an_approval_expires() -> None:
    gate = Asker({"decision": "approved", "expires_after_s": 60})
    gate.request(DELETE)
    gate.clock.advance(59.9)
    assert gate("GET", "/v1/approvals/apr-1?session=s1")[1]["worth"] == "valid"
    gate.clock.advance(0.1)
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (403, "approval_expired", False)


def test_an_approval_that_is_taken_back_between_check_and_use_does_not_serve() -> None:
    gate = Asker({"decision": "approved", "revoked_after_s": 5})
    gate.request(DELETE)
    assert gate("GET", "/v1/approvals/apr-1?session=s1")[1]["worth"] == "valid"
    gate.clock.advance(5)
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (403, "approval_revoked", False)
    assert gate("GET", "/v1/approvals/apr-1?session=s1")[1]["worth"] == "approval_revoked"


def test_the_use_of_an_approval_can_be_given_back_by_its_session_only() -> None:
    gate = Asker("approved")
    gate.request(DELETE)
    gate.use(DELETE, "apr-1")
    assert gate("DELETE", "/v1/uses/apr-1", {"session": "s2"})[0] == 403
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (403, "approval_used", False)
    assert gate("DELETE", "/v1/uses/apr-1", {"session": "s1"})[0] == 200
    assert gate.use(DELETE, "apr-1")[0] == 200


def test_giving_back_what_was_never_used_gives_no_second_use() -> None:
    gate = Asker("approved")
    gate.request(DELETE)
    gate("DELETE", "/v1/uses/apr-1", {"session": "s1"})
    assert gate.use(DELETE, "apr-1")[0] == 200
    assert gate.refusal(gate.use(DELETE, "apr-1")) == (403, "approval_used", False)


def test_an_approval_of_another_session_cannot_be_looked_at() -> None:
    gate = Asker("approved")
    gate.request(DELETE)
    assert gate("GET", "/v1/approvals/apr-1?session=s2") == (403, {"error": "approval_unknown", "prompted": False})


@pytest.mark.parametrize(
    ("asked", "lasts"),
    [(DELETE, "call"), (UPDATE, "session")],
)
def test_an_answer_without_a_commit_has_the_same_bytes_and_leaves_no_trace(asked: dict[str, Any], lasts: str) -> None:
    gate = Asker("approved")
    body = {**asked, "lasts": lasts}
    without = gate.raw("POST", "/v1/uses", body, commit=False)
    assert gate.world == {"prompts": 0, "approvals": 0, "approved_calls": 0}
    assert gate.raw("POST", "/v1/uses", body).body == without.body


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"lock": True}, "seed.lock: unknown key; did you mean 'locked'?"),
        ({"locked": "yes"}, "seed.locked: expected true or false, got 'yes'"),
        ({"decisions": "approved"}, "seed.decisions: expected a list, got 'approved'"),
        (
            {"decisions": ["maybe"]},
            "seed.decisions[0]: expected one of approved, declined, unanswered, or a mapping with 'decision'",
        ),
        (
            {"decisions": ["declined", {"decision": "approved", "after_s": 5}]},
            "seed.decisions[1].after_s: unknown; known: expires_after_s, revoked_after_s, locked_after_s, only, lasts",
        ),
        (
            {"decisions": [{"decision": "approved", "expires_after_s": "5"}]},
            "seed.decisions[0].expires_after_s: expected an integer or float, got '5'",
        ),
        (
            {"decisions": [{"decision": "approved", "lasts": "ever"}]},
            "seed.decisions[0].lasts: expected call or session, got 'ever'",
        ),
        ({"decisions": [{"decision": "declined", "lasts": "call"}]}, "seed.decisions[0]: only an approval has terms"),
    ],
)
def test_a_seed_that_does_not_fit_is_refused(start: Callable[..., Caller], seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as error:
        start("gate", seed)
    assert str(error.value) == message
