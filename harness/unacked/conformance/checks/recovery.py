"""C: what a crash leaves behind, who goes on with it, and what they make of it."""

from __future__ import annotations

from collections.abc import Iterable

from unacked.conformance.check import (
    Check,
    Fails,
    Interrupt,
    Kill,
    Move,
    Pace,
    Resume,
    Scenario,
    Standby,
    Start,
    Until,
    UntilLines,
    Wait,
    insist,
    settle,
)
from unacked.conformance.plan import Plan, Script, Step, step
from unacked.conformance.record import Observation

__all__ = ["RECOVERY"]


def chain(*names: str) -> list[Step]:
    """Return steps of which each runs after the one before."""
    return [step(name, *names[index - 1 : index]) if index else step(name) for index, name in enumerate(names)]


def _resumed(pace: Pace) -> Iterable[Scenario]:
    scripts = {name: Script(sleep_s=pace.beats(0.5)) for name in "abde"}
    plan = Plan(chain(*"abcde"), {**scripts, "c": Script(pace.beats(0.5), kills=[1])})
    yield Scenario([plan], [Start(), Until("kill", "c"), Resume(), settle("e")])


def _only_the_broken_step(seen: Observation, _: Pace, scenario: Scenario) -> str:
    kill = seen.of("kill")[0]
    later = seen.after(kill)
    insist(later.began() == [*"cde"], f"after {kill} the resumed run began {later.began()}, not ['c', 'd', 'e']")
    end, right = seen.of("end")[-1], scenario.plans[0].value("e")
    insist(end.value == right, f"{end} gave {end.value!r} in place of {right!r}")
    return f"crashed at {kill}; the resumed run began c, d and e, each once"


def _finished(pace: Pace) -> Iterable[Scenario]:
    again = settle("b", limit_beats=16, more_s=2 * pace.start_s)
    yield Scenario([Plan(chain(*"ab"))], [Start(), settle("b"), Wait(pace.beats(1)), Resume(), again])


def _final(seen: Observation, _: Pace, __: Scenario) -> str:
    end = seen.first("end", "b")
    if end is None:
        raise Fails("the run did not finish at all: 'b' has no end")
    later = seen.after(end).of("begin") if end else []
    insist(not later, f"the run had finished at {end}, and yet: {', '.join(map(str, later))}")
    return f"nothing began after {end}"


def _two_resumers(pace: Pace) -> Iterable[Scenario]:
    scripts = {"b": Script(pace.start_s + pace.beats(2), kills=[1]), "c": Script(pace.beats(2))}
    moves: list[Move] = [Start(), Until("kill", "b"), Resume(count=2), settle("c", quiet_beats=8)]
    yield Scenario([Plan(chain(*"abc"), scripts)], moves)


def _one_goes_on(seen: Observation, _: Pace, __: Scenario) -> str:
    later = seen.after(seen.of("kill")[0])
    for name in "bc":
        begun = later.of("begin", name)
        insist(len(begun) < 2, f"the run went on twice: {'; '.join(map(str, begun))}")
    insist(later.first("end", "c"), "neither resumer finished the run: 'c' has no end")
    return f"one resumer went on, with {later.lines[0]}"


def _living(pace: Pace) -> Iterable[Scenario]:
    plan = Plan(chain(*"abc"), {"b": Script(2 * pace.start_s + pace.beats(8))})
    yield Scenario([plan], [Start(), Until("begin", "b"), Resume(), settle("c", quiet_beats=12)])


def _left_alone(seen: Observation, _: Pace, __: Scenario) -> str:
    for name in "bc":
        begun = seen.of("begin", name)
        insist(len(begun) < 2, f"the first one was alive, and yet: {'; '.join(map(str, begun))}")
    insist(seen.first("end", "c"), "the run did not finish: 'c' has no end")
    return f"the first one kept its run: {seen.of('end', 'c')[0]}"


def _lease(pace: Pace) -> Iterable[Scenario]:
    plan = Plan(chain(*"abc"), {"b": Script(pace.start_s + pace.beats(8))})
    moves: list[Move] = [
        Start(),
        Until("begin", "b"),
        Standby(),
        Wait(pace.start_s + pace.beats(2)),
        Kill(),
        settle("c"),
    ]
    yield Scenario([plan], moves)


def _taken_over(seen: Observation, pace: Pace, scenario: Scenario) -> str:
    assert seen.killed is not None  # noqa: S101 - the scenario has a Kill
    (at_s, host), first = seen.killed, seen.the("begin", "b")
    other = next((line for line in seen.of("begin", "b") if line.host != host), None)
    if other is None:
        raise Fails(f"nobody took over after the worker of {first} was killed")
    took_s = other.at_s - at_s
    late = f"{other} came {took_s:.1f} s after the kill; {pace.lease_s} s are claimed"
    insist(took_s <= pace.lease_s + pace.slack_s, late)
    end, right = seen.first("end", "c"), scenario.plans[0].value("c")
    insist(end and end.value == right, f"the run that was taken over did not finish with {right!r}: {end}")
    return f"taken over {max(took_s, 0):.1f} s after the kill, with {other}"


_BRANCHES = {"p": (3, 0.5, 0.5), "q": (0.5, 3, 0.5), "r": (0.5, 0.5, 3), "s": (1, 1, 1)}
"""Beats of the steps of each branch: what is recorded comes in another order than what is asked for again."""


def _branches(pace: Pace) -> Iterable[Scenario]:
    steps, scripts = [step("a")], {}
    for branch, lengths in _BRANCHES.items():
        for number, length in enumerate(lengths, start=1):
            steps.append(step(f"{branch}{number}", f"{branch}{number - 1}" if number > 1 else "a"))
            scripts[f"{branch}{number}"] = Script(pace.beats(length))
    steps.append(step("join", *(f"{branch}3" for branch in _BRANCHES)))
    plan = Plan(steps, scripts)
    instants = [(count, 0.0) for count in range(3, 25)] + [(count, 0.3) for count in range(4, 24, 2)]
    for count, beats in instants:
        moves: list[Move] = [Start(), UntilLines(count), Wait(pace.beats(beats)), Kill(), Resume(), settle("join")]
        yield Scenario([plan], moves, f"killed {beats} beats after line {count}")


def _right_values(seen: Observation, _: Pace, scenario: Scenario) -> str:
    plan = scenario.plans[0]
    for line in seen.of("end"):
        right = plan.value(line.step)
        insist(line.value == right, f"{line} gave {line.value!r} in place of {right!r}")
    insist(seen.first("end", "join"), "the resumed run did not finish: 'join' has no end")
    return "every recovery gave the right values"


def _poison(pace: Pace) -> Iterable[Scenario]:
    poison = Step("a", attempts=3, first_s=pace.beats(0.5), factor=1)
    plan = Plan([poison, step("b"), step("c", "a")], {"a": Script(raises=99)}, on={"deadletter": "dead"})
    yield Scenario([plan], [Start(), settle("dead", quiet_beats=6)])


def _dead_letter(seen: Observation, _: Pace, __: Scenario) -> str:
    begun = seen.of("begin", "a")
    insist(len(begun) == 3, f"3 attempts were allowed, {len(begun)} were made: {'; '.join(map(str, begun[-1:]))}")
    dead = seen.first("begin", "dead")
    insist(dead, f"{begun[-1]} was the last one allowed, and nobody was told of a dead letter")
    if dead is not None:
        insist([name for name, _ in dead.context] == ["a"], f"{dead} does not say that 'a' died: {dead.context}")
    insist(seen.first("end", "b"), "'b' has nothing to do with 'a', and did not finish")
    return f"after 3 attempts: {dead}"


def _changed(pace: Pace) -> Iterable[Scenario]:
    old, new = (Plan(chain(*names), {"c": Script(kills=[1])}) for names in ("abcd", "axbcd"))
    over = settle("d", limit_beats=40, more_s=2 * pace.start_s)
    yield Scenario([old, new], [Start(), Until("kill", "c"), Resume(plan=1), over])


def _loud(seen: Observation, _: Pace, scenario: Scenario) -> str:
    kill = seen.of("kill")[0]
    later = seen.after(kill)
    end, right = later.first("end", "d"), scenario.plans[1].value("d")
    if end is not None and end.value == right:
        return f"accepted: {end} gave {right!r}"
    begun = later.first("begin", "x", "d")
    insist(begun is None, f"after {kill} 'x' came in before 'b', and the run went on with {begun}, then {end}")
    refusals = [command for command in seen.commands if command.refused]
    insist(refusals, f"after {kill} the changed plan was neither carried out nor refused by any command")
    return f"refused aloud: {refusals[0]}"


_ROWS = [f"row-{number}" for number in range(1, 11)]


def _rows(pace: Pace) -> Iterable[Scenario]:
    plan = Plan([*chain(*_ROWS), step("report", *_ROWS)], {"row-4": Script(pace.start_s + pace.beats(8))})
    moves: list[Move] = [Start(), Until("begin", "row-4"), Wait(pace.beats(2)), Interrupt(), Resume()]
    yield Scenario([plan], [*moves, settle("report", more_s=pace.start_s)])


def _each_once(seen: Observation, _: Pace, scenario: Scenario) -> str:
    resumed = seen.the("begin", "row-4")
    for row in _ROWS:
        ends, report = seen.of("end", row), seen.first("begin", "report")
        insist(len(ends) < 2, f"{row!r} was processed {len(ends)} times: {'; '.join(map(str, ends))}")
        later = seen.first("begin", *_ROWS[_ROWS.index(row) + 1 :], "report")
        insist(ends or later is None, f"interrupted after {resumed}, {row!r} has no end, and yet {later}")
        insist(ends, f"interrupted after {resumed}, the run did not go on to {row!r}: {report or seen.lines[-1]}")
    end, right = seen.first("end", "report"), scenario.plans[0].value("report")
    insist(end and end.value == right, f"the report on all rows did not give {right!r}: {end}")
    return f"interrupted after {resumed}; ten rows, each processed once, and {end}"


RECOVERY = (
    Check("C1", "resume runs only what had not finished", ["resume"], _resumed, _only_the_broken_step),
    Check("C2", "a finished run is final", ["resume"], _finished, _final),
    Check("C3", "of two resumers one goes on", ["resume"], _two_resumers, _one_goes_on, repeat=4),
    Check("C4", "a resumer leaves a living run alone", ["resume"], _living, _left_alone),
    Check("C5", "a dead worker is taken over within its lease", ["lease"], _lease, _taken_over),
    Check(
        "C6",
        "parallel branches recover to the right values",
        ["resume", "parallel"],
        _branches,
        _right_values,
        abreast=True,
    ),
    Check("C7", "poison ends as a dead letter", ["dead_letter"], _poison, _dead_letter),
    Check("C8", "a changed plan is accepted or refused aloud", ["resume"], _changed, _loud),
    Check("C9", "what was interrupted is not taken for done", ["resume"], _rows, _each_once),
)
