"""G: what was done is taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from unacked.conformance.check import Cancel, Check, Move, Pace, Resume, Scenario, Start, Until, insist, settle
from unacked.conformance.plan import Plan, Script, Step
from unacked.conformance.record import Observation

__all__ = ["SAGA"]

_UNDOS = ("undo-c", "undo-b", "undo-a")


def _plan(scripts: Mapping[str, Script], on: Mapping[str, str] | None = None) -> Plan:
    """Three steps that can be taken back, and a fourth that fails."""
    done = [Step("a", undo="undo-a"), Step("b", ["a"], undo="undo-b"), Step("c", ["b"], undo="undo-c")]
    return Plan([*done, Step("d", ["c"])], {"d": Script(raises=9), **scripts}, on=on or {})


def _failing(pace: Pace) -> Iterable[Scenario]:
    scripts = {undo: Script(pace.beats(0.5)) for undo in _UNDOS}
    yield Scenario([_plan(scripts)], [Start(), settle("undo-a", quiet_beats=4)])


def _backwards(seen: Observation, _: Pace, scenario: Scenario) -> str:
    begun = [line.step for line in seen.of("begin", *_UNDOS)]
    insist(begun == list(_UNDOS), f"after {seen.first('raise', 'd')} what was taken back: {begun}, not {list(_UNDOS)}")
    for line in seen.of("begin", *_UNDOS):
        name = line.step.removeprefix("undo-")
        right = [(name, scenario.plans[0].value(name))]
        insist(list(line.context) == right, f"{line} was handed {list(line.context)}, not {right}")
    return f"taken back in reverse order after {seen.first('raise', 'd')}"


def _crash(_: Pace) -> Iterable[Scenario]:
    moves: list[Move] = [Start(), Until("kill", "undo-b"), Resume(), settle("undo-a", quiet_beats=4)]
    yield Scenario([_plan({"undo-b": Script(kills=[1])})], moves)


def _not_repeated(seen: Observation, _: Pace, __: Scenario) -> str:
    kill = seen.the("kill", "undo-b")
    done = {line.step for line in seen.of("end", *_UNDOS) if line.number < kill.number}
    later = seen.after(kill)
    again = [line for line in later.of("begin", *_UNDOS) if line.step in done]
    insist(not again, f"taken back before {kill}, and again: {', '.join(map(str, again))}")
    for undo in sorted({*_UNDOS} - done):
        insist(later.first("end", undo), f"after {kill} {undo!r} was never done")
    return f"after {kill} only the rest was taken back"


def _cancelled(pace: Pace) -> Iterable[Scenario]:
    slow = {"undo-b": Script(pace.late_s)}
    moves: list[Move] = [Start(), Until("begin", "undo-b"), Cancel(), settle("undo-a", quiet_s=pace.late_s)]
    yield Scenario([_plan(slow)], moves)


def _shielded(seen: Observation, _: Pace, __: Scenario) -> str:
    for undo in _UNDOS:
        begin = seen.first("begin", undo)
        insist(begin, f"cancelled while what was done was taken back: {undo!r} was never done")
        insist(seen.first("end", undo), f"cancelled while what was done was taken back: {begin} has no end")
    return "a cancellation did not stop what was being taken back"


def _stuck(_: Pace) -> Iterable[Scenario]:
    plan = _plan({"undo-b": Script(raises=9)}, {"compensation_failed": "stuck"})
    yield Scenario([plan], [Start(), settle("stuck", quiet_beats=4)])


def _told(seen: Observation, _: Pace, __: Scenario) -> str:
    failed, told = seen.first("raise", "undo-b"), seen.first("begin", "stuck")
    insist(told, f"{failed} could not take it back, and nobody was told")
    if told is not None:
        insist([name for name, _ in told.context] == ["b"], f"{told} does not say that 'b' is left: {told.context}")
    insist(seen.first("end", "undo-a"), f"after {failed} the rest was not taken back")
    return f"somebody was told: {told}"


SAGA = (
    Check("G1", "what was done is taken back in reverse order", ["saga"], _failing, _backwards),
    Check("G2", "a crash repeats nothing that was taken back", ["saga", "resume"], _crash, _not_repeated),
    Check("G3", "a cancellation does not stop it", ["saga", "cancel"], _cancelled, _shielded),
    Check("G4", "what cannot be taken back is told", ["saga"], _stuck, _told),
)
