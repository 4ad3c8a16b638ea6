"""Incidents of a tool's code: the code as it was then, at the very call, and our own tool beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unacked.adapter import Adapter, judge_call, proof_of, reference
from unacked.adapter.stage import Scene, SimulatedStage
from unacked.claims import Finding
from unacked.claims.trail import unexercised
from unacked.content import load_content
from unacked.errors import SpecificationError, nearest
from unacked.incident.check import Check
from unacked.suite import LoadedCase, Suite

__all__ = ["replayed"]


def replayed(suite: Suite, case: LoadedCase) -> Iterator[Check]:
    """Make the call of an incident on every side, with the code as it was and with ours; raises SpecificationError."""
    incident = case.file.incident
    assert incident is not None  # noqa: S101 - the caller has one
    assert incident.operation is not None  # noqa: S101 - it stands beside the adapter
    adapter, stage = _code(suite, case), SimulatedStage(suite)
    for side in case.sides:
        scene = Scene(case, side, side.tools[incident.operation], side.place or case.name, {})
        ours = stage.play(scene, reference.call)
        then = stage.play(scene, adapter)
        proof = proof_of(scene, ours)
        rule, found = incident.caught, _rules(judge_call(scene, then, proof))
        clean, struck = _rules(judge_call(scene, ours, proof)), not unexercised(side, then.history).findings
        told = f"{', '.join(found) or 'nothing'} does"
        yield Check(f"{side.name}: {rule} catches the tool as it was", rule in found, told)
        yield Check(f"{side.name}: nothing is found in our own tool", not clean, ", ".join(clean) or "nothing")
        yield Check(f"{side.name}: every fault struck the tool as it was", struck, "all did" if struck else "not all")


def _rules(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.rule for finding in findings))


def _code(suite: Suite, case: LoadedCase) -> Adapter:
    incident = case.file.incident
    name = "" if incident is None else incident.adapter or ""
    (path,) = [
        agent.folder / "adapters.py" for agent in suite.agents.values() if agent.definition.file.driver == "recorded"
    ]
    module = load_content(path)
    known = {each: value for each, value in vars(module).items() if each in module.__all__}
    if name not in known:
        problem = case.document.problem(("incident", "adapter"), f"{path} has no {name!r}", nearest(name, known))
        raise SpecificationError([problem])
    code: Adapter = known[name]
    return code
