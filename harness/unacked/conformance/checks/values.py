"""P and A: what a step is handed, and what becomes of all results together."""

from __future__ import annotations

from collections.abc import Iterable

from unacked.conformance.check import Check, Fails, Kill, Move, Pace, Resume, Scenario, Start, Until, insist, settle
from unacked.conformance.plan import Plan, Script, Step, step
from unacked.conformance.record import Line, Observation

__all__ = ["AGGREGATION", "ISOLATION"]


def _pairs(pace: Pace) -> Iterable[Scenario]:
    steps, scripts = [], {}
    for number in range(1, 7):
        steps += [Step(f"u{number}", argument=number), Step(f"v{number}", [f"u{number}"], argument=number)]
        scripts[f"u{number}"] = Script(pace.beats((7 - number) / 4))
    yield Scenario(
        [Plan([*steps, step("join", *(f"v{number}" for number in range(1, 7)))], scripts)], [Start(), settle("join")]
    )


def _own_context(seen: Observation, _: Pace, scenario: Scenario) -> str:
    plan = scenario.plans[0]
    for found in plan.steps[:-1]:
        begin = seen.first("begin", found.id)
        if begin is None:
            raise Fails(f"{found.id!r} never began")
        insist(begin.argument == found.argument, f"{begin} was given argument {begin.argument}, not {found.argument}")
        right = [(before, plan.value(before)) for before in found.after]
        insist(list(begin.context) == right, f"{begin} was handed {list(begin.context)}, not {right}")
    return "every step was handed what is its own, and no more"


def _fan_in(pace: Pace, count: int, beats: float) -> Plan:
    """So many steps that end in reverse order, and one that is handed all of their values."""
    names = [f"s{number:02}" for number in range(count)]
    scripts = {name: Script(pace.beats(beats * (count - index) / count)) for index, name in enumerate(names)}
    return Plan([*map(step, names), step("all", *names)], scripts)


def _handed(seen: Observation) -> Line:
    begun = seen.of("begin", "all")
    insist(begun, f"nothing was ever handed on; the last line is {seen.lines[-1]}")
    return begun[-1]


def _reversed(pace: Pace) -> Iterable[Scenario]:
    yield Scenario([_fan_in(pace, 8, 8)], [Start(), settle("all")])


def _by_id(seen: Observation, _: Pace, scenario: Scenario) -> str:
    line = _handed(seen)
    for name, value in line.context:
        right = scenario.plans[0].value(name)
        insist(value == right, f"{line} was handed {value!r} as the value of {name!r}, not {right!r}")
    return f"{line} was handed every value under its own id, though they came in reverse order"


def _repeated(pace: Pace) -> Iterable[Scenario]:
    plan = _fan_in(pace, 4, 4)
    scripts = {**plan.scripts, "s02": Script(pace.beats(1), kills_after=[1])}
    moves: list[Move] = [Start(), Until("kill", "s02"), Resume(), settle("all")]
    yield Scenario([Plan(plan.steps, scripts)], moves)


def _once(seen: Observation, _: Pace, __: Scenario) -> str:
    line = _handed(seen)
    names = [name for name, _ in line.context]
    for name in names:
        ends = seen.of("end", name)
        insist(
            names.count(name) == 1, f"{line} was handed {name!r} {names.count(name)} times; it ended {len(ends)} times"
        )
    return f"{line} was handed each result once"


def _paged(pace: Pace) -> Iterable[Scenario]:
    moves: list[Move] = [Start(), Until("end", "s12"), Kill(), Resume(), settle("all")]
    yield Scenario([_fan_in(pace, 20, 4)], moves)


def _whole(seen: Observation, _: Pace, scenario: Scenario) -> str:
    line = _handed(seen)
    handed = {name for name, _ in line.context}
    missing = [name for name in scenario.plans[0].steps[-1].after if name not in handed]
    insist(not missing, f"{line} was not handed the results of {', '.join(missing)}")
    return f"{line} was handed all {len(handed)} results"


ISOLATION = (Check("P1", "parallel branches see only what is theirs", ["parallel"], _pairs, _own_context),)
AGGREGATION = (
    Check("A1", "results belong to their step, whenever they came", ["parallel"], _reversed, _by_id),
    Check("A2", "a result that came twice counts once", ["parallel", "resume"], _repeated, _once),
    Check("A3", "no result is missing after a crash", ["parallel", "resume"], _paged, _whole),
)
