"""What the shape of a case cannot say: that the names in it exist, and that its parts fit together."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from unacked.approval import Lasts
from unacked.case import AgentFile, CaseFile, Expectation, SessionUse
from unacked.clock import VirtualClock
from unacked.contract import Operation
from unacked.document import Document, Location
from unacked.errors import Problem, SpecificationError, nearest
from unacked.fault import CHANGES, LOOKUP_ACTIONS, REMOTE_ACTIONS, Fault, Point
from unacked.graph import Graph
from unacked.guard import guarded
from unacked.outcome import CATEGORIES
from unacked.services import SeedError, Setting, load_service
from unacked.suite.team import team_problems
from unacked.tools import REFRESH, REGISTRY, TOOLS
from unacked.wire.loopback import impossible
from unacked.wire.remote import REMOTE_FAULTS

__all__ = ["case_problems", "provider_problems", "service_problems"]

CONTROL_TOOLS = frozenset(name for name, tool in TOOLS.items() if tool.local)


def case_problems(
    document: Document,
    file: CaseFile,
    graphs: Mapping[str, Graph],
    agents: Collection[str],
    *,
    today: dt.date | None,
) -> Iterator[Problem]:
    """Yield everything that is wrong with one case; the suite's graphs and agents are those that could be read.

    No ``today`` is for a stored suite: an expected failure that ended since then is no fault of the record.
    """
    yield from _tools(document, file)
    yield from _graphs(document, file, graphs)
    yield from _faults(document, file)
    yield from _operations(document, file)
    yield from _script(document, file)
    yield from team_problems(document, file, agents)
    if file.xfail is not None and file.xfail.agent not in agents:
        yield _unknown(document, ("xfail", "agent"), "agent", file.xfail.agent, agents)
    if file.xfail is not None and today is not None and file.xfail.until < today:
        yield document.problem(
            ("xfail", "until"), f"the expected failure ended on {file.xfail.until}", "mend or renew it"
        )


def _unknown(document: Document, location: Location, kind: str, name: str, known: Iterable[str]) -> Problem:
    return document.problem(location, f"unknown {kind} {name!r}", nearest(name, known))


def _tools(document: Document, file: CaseFile) -> Iterator[Problem]:
    for index, name in enumerate(file.tools):
        location: Location = ("tools", index)
        tool = TOOLS.get(name)
        if tool is None:
            yield _unknown(document, location, "operation", name, TOOLS)
        elif name in file.tools[:index]:
            yield document.problem(location, f"operation {name!r} is offered twice")
        else:
            services = [tool.service] if tool.service is not None else []
            services += ["gate"] if tool.at_gate or (name in file.contract and file.contract[name].approval) else []
            for service in services:
                if service not in file.services:
                    yield document.problem(location, f"{name} needs the service {service!r}", "add it under 'services'")
    if "finish" not in file.tools:
        yield document.problem(("tools",), "the agent could not end its task", "add the tool 'finish'")


def _graphs(document: Document, file: CaseFile, graphs: Mapping[str, Graph]) -> Iterator[Problem]:
    for index, use in enumerate(file.graphs):
        name, roles = (use, {}) if isinstance(use, str) else next(iter(use.items()))
        location: Location = ("graphs", index)
        if name not in graphs:
            yield _unknown(document, location, "graph", name, graphs)
            continue
        known = graphs[name].roles
        for role, operation in roles.items():
            place = (*location, name, role)
            if role not in known:
                yield _unknown(document, place, f"role of graph {name!r}", role, known)
            if operation is not None and operation not in REGISTRY:
                yield _unknown(document, place, "operation", operation, REGISTRY)


def _faults(document: Document, file: CaseFile) -> Iterator[Problem]:
    yield from _sweep(document, file)
    if file.session != SessionUse() and not _backstage(file):
        yield document.problem(("session",), "no token is refreshed in this case", "add tokens: {} under 'services'")
    for index, written in enumerate(file.listed_faults):
        location: Location = ("faults", index, "operation")
        if written.operation not in {*file.tools, *_backstage(file)}:
            known = {*file.tools, *_backstage(file)} - CONTROL_TOOLS
            yield _unknown(document, location, "fault target", written.operation, known)
        elif written.operation in CONTROL_TOOLS:
            yield document.problem(location, f"{written.operation} never touches the wire, so no fault can reach it")
        else:
            yield from _reach(document, ("faults", index, "action"), written.value())
    faults = [written.value() for written in file.listed_faults]
    for index, fault in enumerate(faults):
        first = next((other for other in faults[:index] if other.hides(fault)), None)
        if first is not None:
            yield document.problem(
                ("faults", index), f"can never fire: {first} acts in its place", "give it another nth"
            )
    if file.twins and not any(fault.ambiguous for fault in faults):
        yield document.problem(("twins",), "no fault of this case leaves the effect open, so there is no twin")
    if not file.faults and file.expect == Expectation():
        yield document.problem((), "a case without a fault and without expectations proves nothing")
    decides = file.expected_agent_decision is not None or "gate" in file.services
    if file.trap and not file.listed_faults and not decides:
        yield document.problem(("trap",), "a case without a fault, a gate or a decision to take sets no trap")


def _reach(document: Document, location: Location, fault: Fault) -> Iterator[Problem]:
    """A remote command and a request do not meet the same faults."""
    action, point = fault.action.name, fault.point
    if not _is_remote(fault.operation):
        if action in REMOTE_ACTIONS:
            yield document.problem(location, f"{action!r} can act on a remote command only, not on {fault.operation}")
        if action in LOOKUP_ACTIONS and not _is_lookup(fault.operation):
            yield document.problem(location, f"{action!r} can act on a lookup only, not on {fault.operation}")
        return
    allowed = REMOTE_FAULTS.get(point, frozenset())
    if action not in allowed:
        hint = f"at this point it can meet: {', '.join(sorted(allowed)) or 'nothing'}"
        yield document.problem(location, f"{fault.operation} cannot meet {action!r} at {point.value!r}", hint)
    elif fault.commits and point is Point.AFTER_ACCEPT:
        yield document.problem(location, f"{fault.operation} sends its order later than at {point.value!r}")


def _is_remote(operation: str) -> bool:
    return operation in TOOLS and TOOLS[operation].shell is not None


def _is_lookup(operation: str) -> bool:
    endpoint = TOOLS[operation].endpoint if operation in TOOLS else None
    return endpoint is not None and endpoint.lookup


def _backstage(file: CaseFile) -> set[str]:
    """What the tools ask for by themselves, so that faults can reach it though no agent calls it."""
    endpoint = REFRESH.endpoint
    return {REFRESH.operation.name} if endpoint is not None and endpoint.service in file.services else set()


def _sweep(document: Document, file: CaseFile) -> Iterator[Problem]:
    if file.sweep is None:
        return
    location: Location = ("faults", "sweep", "operation")
    targets = {*file.tools, *_backstage(file)} - CONTROL_TOOLS
    if file.sweep.operation not in targets:
        yield _unknown(document, location, "fault target", file.sweep.operation, targets)
    elif _is_remote(file.sweep.operation):
        yield document.problem(location, f"{file.sweep.operation} is a remote command; only requests are swept")
    if file.expect.result is not None or file.expect.finish is not None:
        yield document.problem(("expect",), "a sweep has many outcomes", "expect a world, or nothing: {result: null}")


def _operations(document: Document, file: CaseFile) -> Iterator[Problem]:
    """Every other place that names an operation."""
    for name, effects in file.own_effects.items():
        yield from _named(document, file, ("effects", name), name)
        for index, effect in enumerate(effects):
            yield from _arguments(document, ("effects", name, index), REGISTRY.get(name), effect)
    for name, terms in file.contract.items():
        yield from _named(document, file, ("contract", name), name)
        yield from _approval(document, ("contract", name, "approval"), REGISTRY.get(name), terms.approval)
    if file.expect.result is not None:
        yield from _named(document, file, ("expect", "result", "operation"), file.expect.result.operation)
        yield from _known(document, file)
    for name in file.expect.requests:
        yield from _named(document, file, ("expect", "requests", name), name)
    for location, given in (
        (("expect", "trail"), file.expect.trail),
        (("response",), file.response),
        (("expected_agent_decision",), file.expected_agent_decision),
    ):
        if given and file.expect.result is None:
            yield document.problem(location, "whose call? give 'expect.result' too")
    for index, answer in enumerate(file.answers):
        yield from _named(document, file, ("answers", index, "operation"), answer.operation)


def _approval(
    document: Document, location: Location, operation: Operation | None, lasts: Lasts | None
) -> Iterator[Problem]:
    """People are asked about what changes something, and about what destroys something each time."""
    if operation is None or lasts is None:
        return
    tool = TOOLS[operation.name]
    if not operation.writes or (tool.endpoint is None and tool.shell is None):
        yield document.problem(location, f"{operation.name} changes nothing at a service, so it asks nobody")
    elif lasts is Lasts.SESSION and "destructive" in operation.tags:
        hint = "approval: call"
        yield document.problem(location, f"{operation.name} is destructive: no approval of a session carries it", hint)


def _known(document: Document, file: CaseFile) -> Iterator[Problem]:
    """The column "remote effect known?" must say what the expected category means."""
    expected = file.expect.result
    operation = REGISTRY.get(expected.operation) if expected else None
    if file.known is None or expected is None or operation is None:
        return
    row = CATEGORIES[expected.category]
    if file.known.outcome_class is not row.outcome_class:
        yield document.problem(("known", "class"), f"{expected.category} is of the class {row.outcome_class.value!r}")
    effect_known = row.effect_known or not operation.writes
    if file.known.effect_known is not effect_known:
        yield document.problem(
            ("known", "effect_known"),
            f"after {expected.category} of {operation.name} this is {str(effect_known).lower()}",
        )


def _named(document: Document, file: CaseFile, location: Location, name: str) -> Iterator[Problem]:
    if name not in file.tools:
        yield _unknown(document, location, "operation", name, file.tools)


def _arguments(
    document: Document, location: Location, operation: Operation | None, given: Mapping[str, object]
) -> Iterator[Problem]:
    if operation is None:
        return
    known = [argument.name for argument in operation.arguments]
    for name in given:
        if name not in known:
            yield _unknown(document, (*location, name), f"argument of {operation.name}", name, known)


def _script(document: Document, file: CaseFile) -> Iterator[Problem]:
    for part, steps in (("script", file.script), ("undo", file.undo)):
        for index, step in enumerate(steps):
            name, arguments = next(iter(step.items()))
            place: Location = (part, index, name)
            yield from _named(document, file, place, name)
            yield from _arguments(document, place, REGISTRY.get(name), arguments)
            operation = REGISTRY.get(name)
            if operation is not None and operation.writes and name not in file.effects:
                hint = f"effects: {{{name}: [...]}} with what the task asks for"
                yield document.problem(place, f"the task asks for a {name} that no effect declares", hint)
    for index, step in enumerate(file.incident.behaviour if file.incident else ()):
        name = next(iter(step))
        yield from _named(document, file, ("incident", "behaviour", index, name), name)
    if file.incident and file.incident.operation is not None:
        yield from _named(document, file, ("incident", "operation"), file.incident.operation)


def _changes(document: Document, file: CaseFile, service: str, known: Collection[str]) -> Iterator[Problem]:
    """A change of the world must be one that the service of the call knows."""
    for index, written in enumerate(file.listed_faults):
        tool, action = TOOLS.get(written.operation), written.value().action.name
        concerned = tool is not None and tool.endpoint is not None and tool.endpoint.service == service
        if concerned and action in CHANGES and action not in known:
            yield _unknown(document, ("faults", index, "action"), f"change of the service {service!r}", action, known)


def service_problems(document: Document, file: CaseFile, services: Mapping[str, Path]) -> Iterator[Problem]:
    """Build each service of a case once: a seed that does not fit, or a world key that no service has, is told now."""
    world: set[str] = set()
    complete = True
    for name, use in file.services.items():
        location: Location = ("services", name)
        if name not in services:
            complete = False
            yield _unknown(document, location, "service", name, services)
            continue
        try:
            build = load_service(services[name])
            with guarded() as watch:
                service = build(use.seed, Setting(VirtualClock(), "token"))
                world |= set(service.summary())
            watch.insist()
            yield from _changes(document, file, name, service.changes)
        except SpecificationError as error:
            complete = False
            yield from error.problems
        except SeedError as error:
            complete = False
            yield document.problem((*location, "seed", *error.location), f"the seed does not fit: {error}")
        except Exception as error:  # noqa: BLE001 - whatever the service's file raises is a fault of the file
            complete = False
            yield document.problem(location, f"the service cannot be built: {type(error).__name__}: {error}")
    if complete:
        for key in file.expect.world:
            if key not in world:
                yield _unknown(document, ("expect", "world", key), "part of the world", key, world)


def provider_problems(document: Document, file: AgentFile, services: Mapping[str, Path]) -> Iterator[Problem]:
    """Build the fake service in the provider's place once: its seed must fit, and its faults must be able to act."""
    use = file.provider
    if use is None:
        return
    location: Location = ("provider", "service")
    if use.service not in services:
        yield _unknown(document, location, "service", use.service, services)
        return
    try:
        service = load_service(services[use.service])(use.seed, Setting(VirtualClock(), "token"))
    except SpecificationError as error:
        yield from error.problems
        return
    except SeedError as error:
        yield document.problem(("provider", "seed", *error.location), f"the seed does not fit: {error}")
        return
    for index, written in enumerate(use.faults):
        fault, place = written.value(), ("provider", "faults", index)
        reason = impossible(fault, tls=False)
        if written.operation not in service.operations:
            yield _unknown(document, (*place, "operation"), "fault target", written.operation, service.operations)
        elif reason is not None:
            yield document.problem(place, f"{fault} cannot exist on the loopback wire: {reason}")
