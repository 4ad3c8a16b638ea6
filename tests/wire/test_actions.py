"""How an action is written in a case, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from unacked.fault import ACTIONS, ALIASES, Action, Fault, Point


@pytest.mark.parametrize(
    ("written", "parameters"),
    [
        ("silence", {}),
        ({"delay": 60}, {"seconds": 60}),
        ("drip", {"seconds": 0.4}),
        ("gzip", {"kind": "corrupt"}),
        ({"wrong_framing": "eof_delimited"}, {"kind": "eof_delimited"}),
        ({"status": 503}, {"code": 503, "headers": {}, "body": {}}),
        ("failure", {"status": 500, "headers": {}, "body": {"error": "failed"}}),
        ({"deny": {"hidden": True}}, {"hidden": True}),
    ],
)
def test_an_action_is_a_word_or_a_word_with_its_parameters(written: Any, parameters: dict[str, Any]) -> None:
    assert dict(Action.parse(written).parameters) == parameters


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("silense", "unknown action 'silense'; did you mean 'silence'?"),
        ("delay", "action 'delay' needs seconds"),
        ({"fin": 3}, "action 'fin' takes no parameter"),
        ({"delay": {"second": 3}}, "action 'delay' has no parameter 'second'; did you mean 'seconds'?"),
        ({"delay": "long"}, "action 'delay': seconds is a number of seconds of at least 0.001, not 'long'"),
        ({"delay": 0}, "action 'delay': seconds is a number of seconds of at least 0.001, not 0"),
        ({"cut": -1}, "action 'cut': bytes is a whole number of bytes, not -1"),
        ({"status": 102}, "action 'status': code is an HTTP status from 200 to 599, not 102"),
        ({"failure": 200}, "action 'failure': status is an HTTP status from 400 to 599, not 200"),
        ({"deny": 404}, "action 'deny': hidden is true or false, not 404"),
        ({"gzip": "corupt"}, "action 'gzip': unknown kind 'corupt'; did you mean 'corrupt'?"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(written: Any, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("?", r"\?") + "$"):
        Action.parse(written)


@pytest.mark.parametrize("word", ALIASES)
def test_a_familiar_word_is_an_action_at_a_point_where_it_applies(word: str) -> None:
    point, written = ALIASES[word]
    assert point in ACTIONS[Action.parse(written).name].points


@pytest.mark.parametrize(
    ("code", "ambiguous"), [(500, True), (503, True), (408, True), (409, True), (400, False), (413, False)]
)
def test_a_refusal_is_not_ambiguous_and_a_server_error_is(code: int, ambiguous: bool) -> None:  # noqa: FBT001
    assert Fault("create_record", Point.BEFORE_COMMIT, Action.parse({"status": code})).ambiguous is ambiguous


def test_a_delay_before_the_commit_commits_late_unless_it_is_told_not_to() -> None:
    late = Fault("create_record", Point.BEFORE_COMMIT, Action.parse({"delay": 60}))
    assert (late.commits, late.twin().commits, late.twin().point) == (True, False, Point.BEFORE_COMMIT)
