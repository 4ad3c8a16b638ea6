"""L and T: how runs end, what comes too late, and what a time limit really ends."""

from __future__ import annotations

from collections.abc import Iterable

from unacked.conformance.check import Cancel, Check, Fails, Move, Pace, Scenario, Start, Until, Wait, insist, settle
from unacked.conformance.plan import Plan, Script, Step, step
from unacked.conformance.record import Observation

__all__ = ["LIFECYCLE", "TIMEOUTS"]

_ENDS = {"timed_out": "timed-out", "cancelled": "cancelled"}
"""The steps that run when a run ends in one of these states."""


def _slow(pace: Pace, script: Script, *, limit_beats: float) -> Plan:
    return Plan([Step("a", timeout_s=pace.beats(limit_beats))], {"a": script}, on=_ENDS)


def _two_ends(pace: Pace) -> Iterable[Scenario]:
    script, over = Script(pace.beats(40)), settle(*_ENDS.values())
    yield Scenario([_slow(pace, script, limit_beats=3)], [Start(), over], "timed-out")
    cancelled: list[Move] = [Start(), Until("begin", "a"), Wait(pace.beats(1)), Cancel(), over]
    yield Scenario([Plan([step("a")], {"a": script}, on=_ENDS)], cancelled, "cancelled")


def _told_apart(seen: Observation, _: Pace, scenario: Scenario) -> str:
    told = [line.step for line in seen.of("begin", *_ENDS.values())]
    insist(told == [scenario.name], f"{seen.lines[0]} was {scenario.name}; what ran at the end: {told or 'nothing'}")
    return "what timed out and what was cancelled ended differently"


def _duplicate(pace: Pace) -> Iterable[Scenario]:
    plans = [Plan([Step("a", argument=argument), step("b", "a")]) for argument in (1, 2)]
    yield Scenario(plans, [Start(), settle("b"), Start(plan=1), settle("b", limit_beats=16, more_s=2 * pace.start_s)])


def _not_merged(seen: Observation, _: Pace, __: Scenario) -> str:
    starts = [command for command in seen.commands if command.verb == "start"]
    insist(seen.first("end", "b"), "the first run did not finish: 'b' has no end")
    own = next((line for line in seen.of("begin", "a") if line.argument == 2), None)
    if own is not None:
        return f"the second start ran on its own: {own}"
    insist(starts[-1].refused, f"a second {starts[-1]} was taken for the first: no line has its argument")
    return f"the second one was refused: {starts[-1]}"


def _late(pace: Pace) -> Iterable[Scenario]:
    plan = Plan([step("a"), step("b", "a")], {"a": Script(pace.late_s, stubborn=True)}, on=_ENDS)
    moves: list[Move] = [
        Start(),
        Until("begin", "a"),
        Wait(pace.beats(1)),
        Cancel(),
        settle("b", "cancelled", quiet_s=pace.late_s),
    ]
    yield Scenario([plan], moves)


def _too_late(seen: Observation, _: Pace, __: Scenario) -> str:
    begun = seen.first("begin", "b")
    insist(begun is None, f"the run was cancelled while 'a' ran, and yet {begun}")
    told = seen.of("begin", "cancelled")
    insist(len(told) < 2, f"the run was cancelled once while 'a' ran, and told so {len(told)} times")
    return f"nothing followed the late end of 'a': {seen.lines[-1]}"


def _step_limit(pace: Pace) -> Iterable[Scenario]:
    plan = _slow(pace, Script(pace.beats(14)), limit_beats=3)
    yield Scenario([plan], [Start(), settle(*_ENDS.values(), quiet_beats=12)])


def _in_time(seen: Observation, pace: Pace, scenario: Scenario) -> str:
    limit_s = scenario.plans[0].steps[0].timeout_s or 0.0
    begin, told = seen.the("begin", "a"), seen.first("begin", *_ENDS.values())
    end = seen.first("end", "a")
    insist(end is None, f"{begin} had {limit_s} s and went on to its end: {end}")
    if told is None:
        raise Fails(f"{begin} had {limit_s} s, and nothing came of that")
    took_s = told.at_s - begin.at_s
    insist(took_s <= limit_s + pace.slack_s, f"{begin} had {limit_s} s; {told} came after {took_s:.1f} s")
    return f"asked for {limit_s} s: {told} came after {took_s:.2f} s"


def _run_limit(pace: Pace) -> Iterable[Scenario]:
    steps = [step("a"), step("b", "a"), step("c", "b")]
    scripts = {"a": Script(pace.beats(1)), "b": Script(pace.beats(16))}
    plan = Plan(steps, scripts, deadline_s=pace.beats(6), on=_ENDS)
    yield Scenario([plan], [Start(), settle("timed-out", quiet_beats=12)])


def _run_ended(seen: Observation, pace: Pace, scenario: Scenario) -> str:
    limit_s, first = scenario.plans[0].deadline_s or 0.0, seen.lines[0]
    told = seen.first("begin", "timed-out")
    for late in (seen.first("end", "b"), seen.first("begin", "c")):
        insist(late is None, f"the run of {first} had {limit_s} s, and yet {late}")
    if told is None:
        raise Fails(f"the run of {first} had {limit_s} s; it did not end as timed out")
    took_s = told.at_s - first.at_s
    insist(took_s <= limit_s + pace.slack_s, f"the run of {first} had {limit_s} s; {told} came after {took_s:.1f} s")
    return f"asked for {limit_s} s: {told} came after {took_s:.2f} s"


def _clean_up(pace: Pace) -> Iterable[Scenario]:
    script = Script(pace.beats(20), cleanup_s=pace.beats(1))
    yield Scenario([_slow(pace, script, limit_beats=3)], [Start(), settle(*_ENDS.values(), quiet_beats=8)])


def _released(seen: Observation, _: Pace, __: Scenario) -> str:
    begin, released = seen.the("begin", "a"), seen.first("released", "a")
    told = seen.of("begin", *_ENDS.values())
    insist(told, f"{begin} did not time out")
    insist(released, f"{begin} timed out, and its clean-up did not run")
    end = next(line for line in reversed(seen.lines) if line.step in _ENDS.values())
    later = seen.after(end).lines
    insist(not later, f"the run was over at {end}, and yet {', '.join(map(str, later))}")
    return f"clean-up before the end: {released}"


LIFECYCLE = (
    Check("L1", "a timeout is told from a cancellation", ["step_timeout", "cancel"], _two_ends, _told_apart),
    Check("L2", "a second start with other input is not merged silently", ["order"], _duplicate, _not_merged),
    Check("L3", "what comes after a cancellation changes nothing", ["cancel"], _late, _too_late),
)
TIMEOUTS = (
    Check("T1", "a step's time limit ends it", ["step_timeout"], _step_limit, _in_time),
    Check("T2", "a run's time limit ends it as timed out", ["run_timeout"], _run_limit, _run_ended),
    Check("T3", "clean-up ran, and nothing came after the end", ["step_timeout"], _clean_up, _released),
)
