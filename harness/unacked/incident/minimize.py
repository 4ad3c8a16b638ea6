"""Makes an incident small: whatever can go while the same rule still catches it, goes.

Delta debugging (Zeller and Hildebrandt, 2002) over the steps, then over faults, graphs, roles, arguments, seeds and
tools, until nothing more can go. A fault stays with the step that it struck, so it is counted anew when steps before
it go. Nothing is random: the same case becomes the same small one.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON, digest
from unacked.errors import SpecificationError
from unacked.incident.pin import pin_world
from unacked.incident.rehearse import case_document, rehearse
from unacked.incident.wording import task_of
from unacked.suite import Suite
from unacked.tools import REGISTRY

__all__ = ["Minimized", "minimize"]

Case = dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Minimized:
    """The small case, what was removed in words, and how many candidates were tried."""

    value: Case
    removed: Sequence[str]
    tried: int


def minimize(suite: Suite, value: Mapping[str, JSON], file: str) -> Minimized:
    """Return the smallest case found that the rule of ``value`` still catches; what the careful agent passes stays so.

    Raises SpecificationError where the rule does not catch the case as it is.
    """
    oracle = _Oracle(suite, file, value)
    before = copy.deepcopy(dict(value))
    small, previous = _without_world(before), None
    while small != previous:
        previous = small
        small = _unbound(_fewer_steps(small, oracle), oracle)
        oracle.watch_care(small)
        for shrink in (_lists, _members):
            small = shrink(small, oracle)
    if before["task"] == task_of(before.get("effects", {})):
        small["task"] = task_of(small.get("effects", {}))
    small = pin_world(suite, small, file)
    return Minimized(small, _told(before, small), oracle.tried)


@dataclass(slots=True)
class _Oracle:
    """Says whether a candidate is still the same incident."""

    suite: Suite
    file: str
    whole: Mapping[str, JSON]
    tried: int = 0
    rule: str = ""
    careful: bool = False
    _known: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        document = case_document(self.whole, self.file)
        if "behaviour" not in self.whole.get("incident", {}):
            hint = "an incident of a tool's code is one call already"
            raise SpecificationError([document.problem(("incident",), "has no behaviour to make smaller", hint)])
        rehearsal = rehearse(self.suite, document)
        self.rule = self.whole["incident"]["caught"]
        if not all(self.rule in each.path_rules for each in rehearsal.repeated):
            seen = rehearsal.rule or "no rule"
            message = f"{self.rule} does not catch the recorded behaviour on every side ({seen} does)"
            raise SpecificationError([document.problem(("incident", "caught"), message)])
        self.careful = rehearsal.careful_passes

    def __call__(self, value: Case) -> bool:
        key = digest(value)
        if key not in self._known:
            self.tried += 1
            self._known[key] = self._still(value)
        return self._known[key]

    def watch_care(self, value: Case) -> None:
        """From here on a candidate must also be met with care, if ``value`` is."""
        if not self.careful and rehearse(self.suite, case_document(value, self.file)).careful_passes:
            self.careful = True
            self._known.clear()

    def _still(self, value: Case) -> bool:
        try:
            shown = rehearse(self.suite, case_document(value, self.file), careful=self.careful)
        except SpecificationError:
            return False
        same = all(self.rule in each.path_rules and not each.verdict.exercised.findings for each in shown.repeated)
        return same and (shown.careful_passes or not self.careful)


def _without_world(value: Case) -> Case:
    """Leave the expected world out meanwhile: it counts effects that may go."""
    expect = {name: item for name, item in value.get("expect", {}).items() if name != "world"}
    return {**value, "expect": expect} if "expect" in value else value


# Steps


def _fewer_steps(value: Case, still: Callable[[Case], bool]) -> Case:
    """Delta debugging over the steps of the behaviour."""
    steps = list(range(len(value["incident"]["behaviour"])))
    kept = _ddmin(steps, lambda chosen: bool(chosen) and still(_with_steps(value, chosen)))
    return value if kept == steps else _with_steps(value, kept)


def _ddmin(items: Sequence[int], still: Callable[[Sequence[int]], bool]) -> Sequence[int]:
    """Return a subset from which no single part can be left out, in the order of ``items``."""
    parts = 2
    while len(items) >= 2:
        size = -(-len(items) // parts)
        chunks = [items[at : at + size] for at in range(0, len(items), size)]
        for number in range(len(chunks)):
            rest = [item for other, chunk in enumerate(chunks) if other != number for item in chunk]
            if still(rest):
                items, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(parts * 2, len(items))
    return items


def _with_steps(value: Case, kept: Sequence[int]) -> Case:
    """Return the case with some of its steps; faults and expectations follow theirs, effects of the others go."""
    steps = value["incident"]["behaviour"]
    where = _places(steps)
    renumbered = {(name, nth): _nth(steps, kept, index) for (name, nth), index in where.items() if index in kept}
    left = [steps[index] for index in kept]
    gone = [steps[index] for index in range(len(steps)) if index not in kept]
    small = copy.deepcopy(value)
    small["incident"]["behaviour"] = left
    if isinstance(small.get("faults"), list):
        small["faults"] = [
            {**fault, "nth": renumbered.get(_struck(fault), fault.get("nth", 1))}
            for fault in small["faults"]
            if _struck(fault) in renumbered or _struck(fault) not in where
        ]
    result = small.get("expect", {}).get("result")
    if result is not None:
        key = (result["operation"], result.get("nth", 1))
        if key in where and key not in renumbered:
            del small["expect"]["result"]
        elif key in renumbered:
            result["nth"] = renumbered[key]
    _drop_effects(small, gone, left)
    return small


def _struck(fault: Mapping[str, JSON]) -> tuple[str, int]:
    return fault["operation"], fault.get("nth", 1)


def _places(steps: Sequence[Mapping[str, JSON]]) -> dict[tuple[str, int], int]:
    counts: Counter[str] = Counter()
    places = {}
    for index, step in enumerate(steps):
        name = next(iter(step))
        counts[name] += 1
        places[name, counts[name]] = index
    return places


def _nth(steps: Sequence[Mapping[str, JSON]], kept: Sequence[int], index: int) -> int:
    name = next(iter(steps[index]))
    return sum(next(iter(steps[other])) == name for other in kept if other <= index)


def _drop_effects(case: Case, gone: Sequence[JSON], left: Sequence[JSON]) -> None:
    """Ask no longer for what only steps did that are gone."""

    def lost(name: str, wanted: Mapping[str, JSON]) -> bool:
        return any(_does(step, name, wanted) for step in gone) and not any(_does(step, name, wanted) for step in left)

    for name, each in list(case.get("effects", {}).items()):
        case["effects"][name] = [effect for effect in each if not lost(name, effect)]
        if not case["effects"][name]:
            del case["effects"][name]
    case["script"] = [
        step for step in case.get("script", []) if not any(lost(name, args) for name, args in step.items())
    ]


def _does(step: Mapping[str, JSON], name: str, wanted: Mapping[str, JSON]) -> bool:
    arguments = step.get(name)
    return arguments is not None and all(arguments.get(key) == item for key, item in wanted.items())


# Everything else


def _unbound(value: Case, oracle: _Oracle) -> Case:
    """Unbind the roles that nobody plays any more: what a graph still waits for, no careful agent would do."""
    steps = (*value["incident"]["behaviour"], *value.get("script", []))
    played = {name for step in steps for name in step}
    played |= {REGISTRY[name].reconcile for name in played if name in REGISTRY} - {None}
    graphs = []
    for use in value["graphs"]:
        name, bound = (use, {}) if isinstance(use, str) else next(iter(use.items()))
        roles = {**oracle.suite.graphs[name].roles, **bound}
        free = {role: None for role, operation in roles.items() if operation not in played}
        graphs.append({name: {**bound, **free}} if {**bound, **free} else name)
    candidate = {**value, "graphs": graphs}
    return candidate if oracle(candidate) else value


def _lists(value: Case, still: Callable[[Case], bool]) -> Case:
    """Leave out items of lists, one at a time from the last: whatever the case can do without."""
    for way in list(_list_ways(value)):
        for index in reversed(range(len(_at(value, way)))):
            if way[0] == "services" and _named(_at(value, way)[index], value):
                continue
            candidate = copy.deepcopy(value)
            del _at(candidate, way)[index]
            if _sensible(candidate) and still(candidate):
                value = candidate
    return value


def _named(row: JSON, case: Case) -> bool:
    """Whether a step names this object of the world: without it the incident would be about nothing."""
    steps = (*case["incident"]["behaviour"], *case.get("script", []))
    given = [argument for step in steps for arguments in step.values() for argument in arguments.values()]
    own = row.values() if isinstance(row, dict) else (row,)
    return any(isinstance(item, str) and item in given for item in own)


def _list_ways(value: Case) -> Iterator[tuple[str | int, ...]]:
    for name in ("faults", "answers", "script", "tools"):
        if isinstance(value.get(name), list):
            yield (name,)
    if len(value["graphs"]) > 1:
        yield ("graphs",)
    for operation in value.get("effects", {}):
        yield ("effects", operation)
    for service, use in value["services"].items():
        for part, items in use.get("seed", {}).items():
            if isinstance(items, list):
                yield ("services", service, "seed", part)


def _members(value: Case, still: Callable[[Case], bool]) -> Case:
    """Leave out optional members: arguments, contract terms, limits, empty seeds and services; unbind roles."""
    for way in list(_member_ways(value)):
        candidate = copy.deepcopy(value)
        if not _dropped(candidate, way):
            continue
        if _sensible(candidate) and still(candidate):
            value = candidate
    return value


def _dropped(case: Case, way: Sequence[str | int]) -> bool:
    """Drop a member, or an argument of every call of an operation alike; returns whether there was one."""
    if way[0] == "argument":
        _, operation, key = way
        lost = [step[operation].pop(key, None) for step in case["incident"]["behaviour"] if operation in step]
        return any(value is not None for value in lost)
    holder = _at(case, way[:-1])
    return way[-1] in holder and (holder.pop(way[-1]) is not holder)


def _member_ways(value: Case) -> Iterator[tuple[str | int, ...]]:
    yield from ((name,) for name in ("limits", "contract") if name in value)
    given = {(name, key): None for step in value["incident"]["behaviour"] for name in step for key in step[name]}
    yield from (("argument", name, key) for name, key in given)
    yield from (("effects", operation) for operation, each in value.get("effects", {}).items() if not each)
    for service, use in value["services"].items():
        parts = use.get("seed", {}).items()
        yield from (("services", service, "seed", part) for part, items in parts if not items)
        yield from ((("services", service, "seed"),) if use.get("seed") == {} else ())
        yield ("services", service)


def _sensible(value: Case) -> bool:
    """Whether a candidate still asks for something and can be met with care: the oracle sees only the incident."""
    offered = set(value["tools"])
    writers = {name for step in value.get("script", []) for name in step}
    finders = {REGISTRY[name].reconcile for name in writers if name in REGISTRY} - {None}
    required = all(
        argument.name in arguments
        for step in value["incident"]["behaviour"]
        for name, arguments in step.items()
        if name in REGISTRY
        for argument in REGISTRY[name].arguments
        if argument.required
    )
    needed = {"finish", "ask_human", "wait"} | finders
    return bool(value.get("script")) and required and needed <= offered


def _at(value: JSON, way: Sequence[str | int]) -> JSON:
    for step in way:
        value = value[step]
    return value


_LISTS = {"faults": "faults", "tools": "tools", "graphs": "graphs", "script": "careful steps", "answers": "answers"}


def _told(before: Case, after: Case) -> list[str]:
    """Say what is gone."""
    told = []
    steps, left = before["incident"]["behaviour"], after["incident"]["behaviour"]
    if len(steps) > len(left):
        names = Counter(next(iter(step)) for step in steps)
        names.subtract(next(iter(step)) for step in left)
        told.append(f"{len(steps) - len(left)} of {len(steps)} calls: {_counted(names)}")
    for name, words in _LISTS.items():
        lost = len(before.get(name) or []) - len(after.get(name) or [])
        if lost > 0:
            told.append(f"{lost} of {len(before[name])} {words}")
    told += [f"{name}" for name in ("limits", "contract") if name in before and name not in after]
    arguments = sum(len(args) for step in left for args in step.values())
    same = [step for step in steps if any(next(iter(step)) == next(iter(other)) for other in left)]
    if len(left) == len(steps) and (lost := sum(len(args) for step in same for args in step.values()) - arguments) > 0:
        told.append(f"{lost} arguments")
    for what, count in (("effects", _effects), ("world items", _items)):
        if (lost := count(before) - count(after)) > 0:
            told.append(f"{lost} of {count(before)} {what}")
    return told


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(names.items()) if count > 0)


def _effects(value: Case) -> int:
    return sum(len(each) for each in value.get("effects", {}).values())


def _items(value: Case) -> int:
    seeds = [use.get("seed", {}) for use in value["services"].values()]
    return sum(len(items) for seed in seeds for items in seed.values() if isinstance(items, list))
