"""S and R: what runs when, how much at once, and how soon again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from unacked.conformance.check import Check, Fails, Pace, Scenario, Start, insist, settle
from unacked.conformance.plan import Plan, Script, Step, step
from unacked.conformance.record import Observation

__all__ = ["RETRIES", "SCHEDULE"]


def _shuffled(pace: Pace) -> Iterable[Scenario]:
    steps = [step("d", "c"), step("b", "a"), step("c", "b"), step("a")]
    yield Scenario([Plan(steps, {name: Script(pace.beats(0.5)) for name in "abcd"})], [Start(), settle("d")])


def _in_order(seen: Observation, _: Pace, scenario: Scenario) -> str:
    plan = scenario.plans[0]
    for found in plan.steps:
        begin = seen.first("begin", found.id)
        if begin is None:
            raise Fails(f"{found.id!r} never began")
        for before in found.after:
            end = seen.first("end", before)
            insist(end and end.number < begin.number, f"{begin} came before the end of {before!r}, {end}")
        right = [(before, plan.value(before)) for before in found.after]
        insist(list(begin.context) == right, f"{begin} was handed {list(begin.context)}, not {right}")
    return f"in the order of their dependencies: {', '.join(seen.began())}"


def _uneven(pace: Pace) -> Iterable[Scenario]:
    scripts = {name: Script(pace.beats(beats)) for name, beats in (("a", 1), ("b", 2), ("c", 14))}
    plan = Plan([*map(step, "abc"), step("join", *"abc")], scripts)
    yield Scenario([plan], [Start(), settle("join", quiet_beats=14)])


def _joined(seen: Observation, _: Pace, __: Scenario) -> str:
    begun = seen.of("begin", "join")
    insist(len(begun) == 1, f"the join began {len(begun)} times: {'; '.join(map(str, begun))}")
    for name in "abc":
        end = seen.first("end", name)
        insist(end and end.number < begun[0].number, f"{begun[0]} did not wait for {name!r}: {end or 'it has no end'}")
    return f"{begun[0]} came after all three ends"


def _conditions(_: Pace) -> Iterable[Scenario]:
    yes = Step("yes", ["x"], when=("x", "x()"))
    no = Step("no", ["x"], when=("x", "another value"))
    plan = Plan([step("x"), yes, no, step("after-no", "no"), step("last", "yes")])
    yield Scenario([plan], [Start(), settle("last")])


def _condition(seen: Observation, _: Pace, __: Scenario) -> str:
    begun = seen.began()
    insist(sorted(begun) == ["last", "x", "yes"], f"x gave 'x()', so x, yes and last had to run; what ran: {begun}")
    return f"only where its condition held: {', '.join(begun)}"


def _failing(_: Pace) -> Iterable[Scenario]:
    run = Step("c", ["a"], after_failure="run")
    plan = Plan([step("a"), step("b", "a"), step("bb", "b"), run, step("d")], {"a": Script(raises=9)})
    yield Scenario([plan], [Start(), settle("c", quiet_beats=4)])


def _propagated(seen: Observation, _: Pace, __: Scenario) -> str:
    failed = seen.first("raise", "a")
    for name in ("b", "bb"):
        begun = seen.first("begin", name)
        insist(begun is None, f"{failed} failed, and yet {begun}")
    for name in ("c", "d"):
        insist(seen.first("end", name), f"{name!r} was to run although {failed} failed, and has no end")
    return f"after {failed}: b and bb skipped, c and d ran"


def _many(pace: Pace) -> Iterable[Scenario]:
    names = [f"s{number:02}" for number in range(12)]
    plan = Plan([*map(step, names), step("join", *names)], {name: Script(pace.beats(2)) for name in names}, cap=3)
    yield Scenario([plan], [Start(), settle("join")])


def _capped(seen: Observation, _: Pace, scenario: Scenario) -> str:
    cap, most, running = scenario.plans[0].cap, 0, 0
    for line in seen.lines:
        running += {"begin": 1, "end": -1}.get(line.event, 0)
        most = max(most, running)
        insist(running <= cap, f"{line} is the {running}th at once; the plan allows {cap}")
    insist(seen.first("end", "join"), "the run did not finish: 'join' has no end")
    insist(most > 1, "nothing ran at the same time, so there was nothing to hold back")
    return f"at most {most} at once"


def _stream(pace: Pace) -> Iterable[Scenario]:
    lasts_s = 2 * (pace.wait_bound_s + pace.slack_s) + pace.beats(4)
    length = math.ceil(lasts_s / pace.beats(1))
    steps = [
        Step(f"{chain}{number}", [f"{chain}{number - 1}"] if number else [], priority=5)
        for number in range(length)
        for chain in "gh"
    ]
    scripts = {high.id: Script(pace.beats(0.5)) for high in steps}
    yield Scenario([Plan([*steps, step("low")], scripts, cap=1)], [Start(), settle("low", more_s=lasts_s)])


def _bounded(seen: Observation, pace: Pace, _: Scenario) -> str:
    first, low = seen.lines[0], seen.first("begin", "low")
    if low is None:
        raise Fails(f"'low' never began; the last line is {seen.lines[-1]}")
    waited_s, bound_s = low.at_s - first.at_s, pace.wait_bound_s
    insist(waited_s <= bound_s + pace.slack_s, f"{low} waited for {waited_s:.1f} s; at most {bound_s} s is claimed")
    return f"{low} waited for {waited_s:.1f} s, at most {bound_s} s is claimed"


def _one_long(pace: Pace) -> Iterable[Scenario]:
    short = [step("s1"), step("s2", "s1"), step("s3", "s2"), step("s4", "s3"), *map(step, ("q1", "q2", "q3", "q4"))]
    scripts = {"long": Script(pace.beats(28)), **{found.id: Script(pace.beats(1)) for found in short}}
    yield Scenario([Plan([step("long"), *short], scripts, cap=2)], [Start(), settle("long", quiet_beats=8)])


def _not_idle(seen: Observation, _: Pace, scenario: Scenario) -> str:
    end = seen.first("end", "long")
    if end is None:
        raise Fails("'long' has no end")
    for found in scenario.plans[0].steps[1:]:
        done = seen.first("end", found.id)
        insist(done and done.number < end.number, f"{found.id!r} waited for the long step: {done or 'no end'}, {end}")
    return f"eight short steps ended before {end}"


def _delays(seen: Observation, name: str) -> list[float]:
    raised, begun = seen.of("raise", name), seen.of("begin", name)[1:]
    return [again.at_s - failed.at_s for failed, again in zip(raised, begun, strict=False)]


def _thrice(pace: Pace) -> Iterable[Scenario]:
    plan = Plan([Step("a", attempts=4, first_s=pace.beats(2))], {"a": Script(raises=3)})
    yield Scenario([plan], [Start(), settle("a")])


def _growing(seen: Observation, _: Pace, scenario: Scenario) -> str:
    delays, asked_s = _delays(seen, "a"), scenario.plans[0].steps[0].first_s
    told = ", ".join(f"{delay:.2f}" for delay in delays)
    insist(len(delays) == 3 and seen.first("end", "a"), f"3 attempts failed, {len(delays)} were made again ({told} s)")
    for number, delay in enumerate(delays):
        least_s = 0.95 * asked_s * 2**number
        insist(delay >= least_s, f"asked for {asked_s} s, then twice as long each time; waited {told} s")
    for shorter, longer in itertools.pairwise(delays):
        insist(longer > 1.3 * shorter, f"asked for delays that grow twofold; waited {told} s")
    return f"waited {told} s"


def _together(pace: Pace) -> Iterable[Scenario]:
    names = [f"s{number:02}" for number in range(12)]
    steps = [Step(name, attempts=2, first_s=pace.beats(4), jitter=0.5) for name in names]
    plan = Plan([*steps, step("join", *names)], {name: Script(raises=1) for name in names}, cap=12)
    yield Scenario([plan], [Start(), settle("join")])


def _jittered(seen: Observation, _: Pace, scenario: Scenario) -> str:
    asked_s = scenario.plans[0].steps[0].first_s
    delays = [delay for found in scenario.plans[0].steps for delay in _delays(seen, found.id)]
    insist(len(delays) == 12, f"12 steps failed once, {len(delays)} were tried again")
    shortest_s, longest_s = min(delays), max(delays)
    told = f"12 steps that failed at the same time waited {shortest_s:.2f} to {longest_s:.2f} s"
    insist(longest_s - shortest_s > 0.3 * asked_s, f"{told}: asked for half of {asked_s} s more or less")
    return told


_TIMER_S, _COARSE_S = 0.2, 0.4
"""What is asked for, and how much later than that is too coarse."""


def _timers(_: Pace) -> Iterable[Scenario]:
    names = ["a", "b", "c", "d"]
    steps = [step("a"), *(Step(name, [names[index]], delay_s=_TIMER_S) for index, name in enumerate(names[1:]))]
    yield Scenario([Plan(steps)], [Start(), settle("d")])


def _precise(seen: Observation, _: Pace, scenario: Scenario) -> str:
    waited = []
    for found in scenario.plans[0].steps[1:]:
        end, begin = seen.first("end", found.after[0]), seen.first("begin", found.id)
        if end is None or begin is None:
            raise Fails(f"{found.id!r} never began")
        waited.append(begin.at_s - end.at_s)
        insist(
            waited[-1] >= 0.99 * _TIMER_S, f"{begin} came {waited[-1]:.2f} s after {end}; {_TIMER_S} s were asked for"
        )
    best = min(waited)  # what is coarse is never punctual; what is punctual may once be held up
    insist(best <= _TIMER_S + _COARSE_S, f"asked for {_TIMER_S} s, got {best:.2f} s at best")
    return f"asked for {_TIMER_S} s, got {best:.2f} s at best"


SCHEDULE = (
    Check("S1", "steps run in the order of their dependencies", ["order"], _shuffled, _in_order),
    Check("S2", "a join waits for all, once", ["parallel"], _uneven, _joined),
    Check("S3", "a condition decides", ["condition"], _conditions, _condition),
    Check("S4", "failure is propagated as declared", ["propagation"], _failing, _propagated),
    Check("S5", "the cap is never exceeded", ["cap"], _many, _capped),
    Check("S6", "no step waits for ever under a stream of higher ones", ["ageing"], _stream, _bounded),
    Check("S7", "a long step does not idle other slots", ["cap"], _one_long, _not_idle),
)
RETRIES = (
    Check("R1", "delays between attempts grow", ["retry"], _thrice, _growing),
    Check("R2", "delays between attempts vary", ["jitter"], _together, _jittered),
    Check("R3", "timers are precise", ["timer"], _timers, _precise),
)
