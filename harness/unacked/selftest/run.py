"""The self-test: whatever is wrong on purpose must be caught, and whatever is right must be left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from unacked.adapter import Adapter, Report, cases_of, check, reference, supervised
from unacked.canonical import JSON
from unacked.claims import TrialVerdict
from unacked.engine import RunRequest, execute, expected_of_control, make_plan, open_run, read_verdicts
from unacked.errors import ExitCode, SpecificationError
from unacked.graph import Verdict
from unacked.graph.coverage import Coverage
from unacked.selftest.agents import PlantedAgent, try_agents
from unacked.selftest.graphs import GraphTest, planted_agents, unproduced_answers
from unacked.selftest.planted import ADAPTERS, Planted
from unacked.selftest.planted_pages import PAGES
from unacked.selftest.planted_tools import TOOLBOXES, PlantedToolbox, try_toolbox
from unacked.suite import Suite, load_suite
from unacked.tools import Toolbox

__all__ = ["PLANTED", "REFERENCE_OPERATIONS", "Item", "graph_items", "self_test", "summary_of"]

PLANTED = (*ADAPTERS, *PAGES)
"""Every planted adapter that needs no extra."""

REFERENCE_OPERATIONS = (
    "create_record",
    "lookup_by_request_id",
    "get_record",
    "charge",
    "delete_release",
    "grant_permission",
    "rotate_credential",
    "search_all",
)
"""What the reference adapter is tried with: one operation of each effect. `unacked adapter check` tries all."""
_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was tried. ``planted`` of what was tried is wrong on purpose, ``benign`` is right.

    ``rules`` are those under which it was caught. ``seen`` of all that there is, ``of``, was met, where that is what
    the item is about. ``unreached`` names what cannot be tried, with the reason. ``gap`` says what is missing, where
    something is.
    """

    kind: str
    name: str
    does: str
    planted: int = 0
    caught: int = 0
    benign: int = 0
    false_alarms: int = 0
    rules: Sequence[str] = ()
    seen: int = 0
    of: int = 0
    unreached: Sequence[str] = ()
    gap: str | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the item as a JSON object."""
        return {
            "kind": self.kind,
            "name": self.name,
            "does": self.does,
            "planted": self.planted,
            "caught": self.caught,
            "benign": self.benign,
            "false_alarms": self.false_alarms,
            "rules": list(self.rules),
            "seen": self.seen,
            "of": self.of,
            "unreached": list(self.unreached),
            "gap": self.gap,
        }


def self_test(root: Path, scratch: Path) -> Iterator[Item]:
    """Try everything with the suite in ``root``; ``scratch`` is an empty folder to work in."""
    suite = load_suite(root)
    yield _reference(suite)
    for planted in PLANTED:
        yield _planted(planted, suite)
    yield from _servers(suite)
    yield from _agents(suite, scratch)
    for agent, verdict in try_agents(suite, scratch):
        yield agent_item(agent, verdict)
    for tools in TOOLBOXES:
        yield _toolbox(tools, suite, scratch)
    yield from graph_items(suite, scratch)
    yield from _broken_suites(suite, scratch)


def summary_of(items: Sequence[Item]) -> dict[str, JSON]:
    """Return all items and their sums as a JSON object."""
    names = ("planted", "caught", "benign", "false_alarms")
    sums = {name: sum(getattr(item, name) for item in items) for name in names}
    return {
        "format": 1,
        **sums,
        "gaps": sum(item.gap is not None for item in items),
        "items": [item.as_json() for item in items],
    }


# Adapters


def _servers(suite: Suite) -> Iterator[Item]:
    """Try the planted MCP servers, and the reference adapter behind one that is right."""
    try:
        planted: Any = import_module("unacked.selftest.planted_replies")
    except ModuleNotFoundError:
        yield Item("adapter", "MCP servers", "reply over MCP", unreached=["the extra 'mcp' is not installed"])
        return
    yield _reference(suite, planted.RIGHT, "reference over MCP", ("create_record",))
    for one in planted.REPLIES:
        yield _planted(one, suite)


def _reference(
    suite: Suite,
    adapter: Adapter = reference.call,
    name: str = "reference",
    operations: Sequence[str] = REFERENCE_OPERATIONS,
) -> Item:
    report = Report(name, "simulated")
    alarms = 0
    for heard in check(adapter, suite, cases_of(suite, operations)):
        report.add(heard)
        alarms += bool(heard.findings)
    gap = f"{alarms} of {report.calls} calls were found wrong" if alarms else None
    return Item(
        "adapter",
        name,
        "keeps the contract",
        benign=report.calls,
        false_alarms=alarms,
        rules=report.rules,
        gap=gap,
    )


def _planted(planted: Planted, suite: Suite) -> Item:
    """Try a planted adapter until it is caught under its own rule."""
    if planted.alone:
        heard = supervised(planted.name, suite.root, [planted.operation], wire="simulated", patience_s=_PATIENCE_S)
    else:
        heard = check(planted.adapter, suite, cases_of(suite, [planted.operation]))
    report = Report(planted.name, "simulated")
    for one in heard:
        report.add(one)
        if planted.rule in report.rules:
            break
    caught = planted.rule in report.rules
    gap = None if caught else f"not caught under {planted.rule} in {report.calls} calls"
    rules = [planted.rule, *(rule for rule in report.rules if rule != planted.rule)] if caught else report.rules
    return Item("adapter", planted.name.partition(":")[2], planted.does, 1, int(caught), rules=rules, gap=gap)


# Agents


_DOES = {
    "passes": "keeps to what the results allow",
    "caught": "repeats whatever did not work",
    "never_unsafe": "refuses all work",
    "repeats_incident": "repeats what was done in each incident",
}


def _agents(suite: Suite, scratch: Path) -> Iterator[Item]:
    """Run the controls over the suite, each against what it declares."""
    plan = make_plan(suite, RunRequest())
    folder = open_run(suite, plan, scratch / "runs", "selftest")
    execute(folder, plan, jobs=1, told=lambda _: None)
    lines = list(read_verdicts(folder, plan.run))
    for name in plan.agents:
        control = suite.agents[name].definition.file.control
        own = [line for line in lines if line["agent"] == name]
        wrong = control in ("caught", "repeats_incident")
        if control == "caught":
            own = [line for line in own if suite.cases[line["case"]].file.trap]
        bad = [line for line in own if expected_of_control(suite, suite.cases[line["case"]], line) is not None]
        found = [finding["rule"] for line in own for finding in line["claims"]["path"]["findings"]]
        gap = f"{len(bad)} of {len(own)} trials, such as {bad[0]['trial']}" if bad else None
        yield Item(
            "agent",
            name,
            _DOES[control or "passes"],
            planted=len(own) if wrong else 0,
            caught=len(own) - len(bad) if wrong else 0,
            benign=0 if wrong else len(own),
            false_alarms=0 if wrong else len(bad),
            rules=[rule for rule, _ in Counter(found).most_common()] if wrong else (),
            gap=gap if own else "it was never tried",
        )


def agent_item(planted: PlantedAgent | PlantedToolbox, verdict: TrialVerdict, kind: str = "agent") -> Item:
    """Return whether a planted agent, or toolbox, was caught by its claim and under its rule."""
    claim = verdict.claims[planted.claim]
    rules = [finding.rule for finding in claim.findings]
    caught = planted.rule in rules and claim.verdict is not Verdict.PASS
    gap = None if caught else f"not caught under {planted.rule} by the claim {planted.claim!r} in {planted.case}"
    rules = sorted(rules, key=lambda rule: rule != planted.rule)
    return Item(kind, planted.name, planted.does, 1, int(caught), rules=list(dict.fromkeys(rules)), gap=gap)


def _toolbox(planted: PlantedToolbox, suite: Suite, scratch: Path) -> Item:
    """Let a careful agent work with wrong tools, and with ours, of which nothing may be found."""
    waits_for = suite.cases[planted.case].pending
    if waits_for is not None:
        return Item("toolbox", planted.name, planted.does, unreached=[waits_for])
    item = agent_item(planted, try_toolbox(planted.toolbox, planted.case, suite, scratch / "tools.jsonl"), "toolbox")
    alarmed = try_toolbox(Toolbox, planted.case, suite, scratch / "tools.jsonl").verdict is not Verdict.PASS
    gap = f"our own tools were found wrong in {planted.case}" if alarmed else item.gap
    return replace(item, benign=1, false_alarms=int(alarmed), gap=gap)


# Graphs


def graph_items(suite: Suite, scratch: Path) -> Iterator[Item]:
    """Break every rule of every graph end to end, and give every answer that a graph has a way on from.

    Agents are planted in the worlds of the suite's own cases; ``scratch`` is a folder to work in.
    """
    coverage = Coverage()
    for test in planted_agents(suite, scratch, coverage):
        yield graph_item(test)
    missing = [f"{graph}/{rule}" for graph, rule in coverage.missing_rules()]
    yield Item(
        "coverage",
        "named rules",
        "are violated by some agent",
        seen=coverage.forbids.seen,
        of=coverage.forbids.of,
        gap=f"never violated: {', '.join(missing)}" if missing else None,
    )
    unproduced = unproduced_answers(coverage)
    unexplained = sorted(f"{answer.operation}/{answer.category}" for answer in unproduced if answer.reason is None)
    by_reason: dict[tuple[str, str], set[str]] = {}
    for answer in unproduced:
        if answer.reason is not None:
            by_reason.setdefault((answer.category, answer.reason), set()).add(answer.operation)
    yield Item(
        "coverage",
        "answers",
        "that a graph has a way on from are given",
        seen=coverage.environment.seen,
        of=coverage.environment.of,
        unreached=[
            f"{category} of {', '.join(sorted(names))}: {reason}"
            for (category, reason), names in sorted(by_reason.items())
        ],
        gap=f"never given: {', '.join(unexplained)}" if unexplained else None,
    )


def graph_item(test: GraphTest) -> Item:
    """Return what became of the planted agents of one graph, and the first gap of each kind."""
    gaps = [
        f"{len(found)} {told}, such as {name}: {reason}"
        for told, found in (
            ("escaped", test.escaped),
            ("false alarms", test.alarms),
            ("could not be played", test.unplayed),
        )
        for name, reason in sorted(found.items())[:1]
    ]
    return Item(
        "graph",
        test.graph,
        "every named rule and every guard is broken",
        planted=len(test.caught) + len(test.escaped),
        caught=len(test.caught),
        benign=test.benign,
        false_alarms=len(test.alarms),
        rules=[str(rule) for rule, _ in Counter(test.caught.values()).most_common()],
        unreached=[f"{aim}: {reason}" for aim, reason in sorted(test.unreached.items())],
        gap="; ".join(gaps) or None,
    )


# Suites


_CASE = """\
case: {name}
title: a case of the self-test
task: Create one record titled "valve closed".
services: {{records: {{}}}}
tools: [create_record, lookup_by_request_id, finish, ask_human, wait]
graphs: [{{create-outcome-unknown: {{annotate: null, read: null}}}}]
effects: {{create_record: [{{title: valve closed}}]}}
faults: [{{operation: {operation}, nth: {nth}, point: after_commit, action: silence}}]
expect: {{world: {{records: 1}}}}
script: [{{create_record: {{title: valve closed}}}}]
"""


def _broken_suites(suite: Suite, scratch: Path) -> Iterator[Item]:
    """A fault that is aimed at nothing, and one that cannot fire, must never be green."""
    for name, does, operation, nth, expected in (
        ("misspelt-target", "aims a fault at no operation", "create_recrod", 1, ExitCode.USAGE),
        ("never-fires", "waits for a call that is never made", "create_record", 99, ExitCode.INCONCLUSIVE),
    ):
        code = _exit_code(suite, scratch / name, _CASE.format(name=name, operation=operation, nth=nth), name)
        caught = code == expected
        gap = None if caught else f"exit code {int(code)}, not {int(expected)}"
        yield Item("suite", name, does, 1, int(caught), rules=[f"exit {int(code)}"], gap=gap)


def _exit_code(suite: Suite, folder: Path, case: str, name: str) -> int:
    suite.copy_to(folder)
    (folder / "transitions" / f"{name}.case.yaml").write_text(case, encoding="utf-8")
    try:
        broken = load_suite(folder)
    except SpecificationError as error:
        return int(error.exit_code)
    plan = make_plan(broken, RunRequest([name], ["careful"]))
    run = open_run(broken, plan, folder / "runs", "run")
    return int(execute(run, plan, jobs=1, told=lambda _: None)["exit_code"])
