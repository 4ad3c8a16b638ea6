from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from unacked.agents import Call, Reply, ScriptedDriver, Seat, Session, Step, Task, load_policy
from unacked.agents.recorded import repeat_incident
from unacked.errors import SpecificationError

TASK = Task("do it", {})


def session(policy: Any, task: Task = TASK) -> Session:
    return ScriptedDriver(policy).begin(task, Seat())


def test_a_policy_receives_the_result_of_each_call() -> None:
    def act(_task: Task) -> Generator[Call, Any, None]:
        first = yield Call("a")
        yield Call("b", {"seen": first["category"]})

    agent = session(act)
    assert agent.next(()) == Reply((Call("a"),))
    assert agent.next([{"category": "ok"}]) == Reply((Call("b", {"seen": "ok"}),))


def test_a_policy_that_makes_several_calls_receives_all_their_results() -> None:
    def act(_task: Task) -> Generator[list[Call], Any, None]:
        results = yield [Call("a"), Call("b")]
        yield [Call("c", {"seen": [result["category"] for result in results]})]

    agent = session(act)
    assert agent.next(()) == Reply((Call("a"), Call("b")))
    assert agent.next([{"category": "ok"}, {"category": "conflict"}]) == Reply(
        (Call("c", {"seen": ["ok", "conflict"]}),)
    )


def test_a_policy_that_returns_has_stopped() -> None:
    def act(_task: Task) -> Generator[Call, Any, None]:
        yield Call("a")

    agent = session(act)
    agent.next(())
    assert agent.next([{"category": "ok"}]) == Reply()


def test_each_task_is_begun_anew() -> None:
    def act(_task: Task) -> Generator[Call, Any, None]:
        yield Call("a")
        yield Call("b")

    driver = ScriptedDriver(act)
    first, second = driver.begin(TASK, Seat()), driver.begin(TASK, Seat())
    first.next(())
    assert first.next([{"category": "ok"}]) == Reply((Call("b"),))
    assert second.next(()) == Reply((Call("a"),))


def test_what_a_policy_raises_is_left_to_the_trial() -> None:
    def act(_task: Task) -> Generator[Call, Any, None]:
        yield Call("a", {"x": 1 // 0})

    with pytest.raises(ZeroDivisionError):
        session(act).next(())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "policy.py: defines no policy"),
        ("act = 7\n", "policy.py: defines no policy"),
        ("def act(:\n", "policy.py:1:9: is not Python"),
        ("\n1 / 0\n", "policy.py:2:1: fails while it is loaded: ZeroDivisionError"),
    ],
)
def test_a_file_without_a_policy_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "policy.py").write_text(text)
    with pytest.raises(SpecificationError) as raised:
        load_policy(tmp_path / "policy.py")
    assert told in str(raised.value)


def test_a_policy_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match=r"policy\.py: no such file"):
        load_policy(tmp_path / "policy.py")


def test_a_step_takes_fields_of_earlier_results() -> None:
    step = Step("attach_note", {"record_id": "$record_id", "text": "costs 5$", "n": 1})
    assert step.resolved({"record_id": "rec-1"}) == {"record_id": "rec-1", "text": "costs 5$", "n": 1}


def test_a_field_that_was_never_seen_is_null() -> None:
    assert Step("get_record", {"record_id": "$record_id"}).resolved({}) == {"record_id": None}


def test_a_step_takes_a_part_of_every_item_of_an_earlier_result() -> None:
    step = Step("archive_accounts", {"ids": "$items[].id"})
    assert step.resolved({"items": [{"id": "a-1", "status": "active"}, {"id": "a-2"}]}) == {"ids": ["a-1", "a-2"]}
    assert step.resolved({}) == {"ids": None}


def test_an_incident_is_repeated_whatever_the_tools_answer() -> None:
    steps = (Step("a", {"title": "x"}), Step("b", {"id": "$record_id"}), Step("finish", {"status": "success"}))
    agent = session(repeat_incident, Task("do it", {}, behaviour=steps))
    assert agent.next(()) == Reply((Call("a", {"title": "x"}),))
    assert agent.next([{"category": "ok", "result": {"record_id": "rec-1"}}]) == Reply((Call("b", {"id": "rec-1"}),))
    assert agent.next([{"category": "outcome_unknown"}]) == Reply((Call("finish", {"status": "success"}),))
    assert agent.next([{"category": "ok"}]) == Reply()
