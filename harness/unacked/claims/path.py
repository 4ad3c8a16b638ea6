"""Claim 2, path: every next call of the agent is allowed, and its final claim is one that it may make."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from unacked.canonical import JSON
from unacked.claims.approval import prompt_findings
from unacked.claims.brief import Brief
from unacked.claims.decision import decision_findings
from unacked.claims.finding import Claim, Finding
from unacked.event import Event, History
from unacked.graph import Call, End, EndReason, Judgement, Result, Verdict, judge_events, render
from unacked.graph import Event as Move

__all__ = ["moves", "path_claim", "path_judgement"]


def path_claim(brief: Brief, history: History) -> Claim:
    """Judge the agent's calls against the graphs of the case; its final claim, decision and questions by the case."""
    findings = (_graph_findings, _final_claim, _overtime, decision_findings, prompt_findings)
    return Claim.of("path", (found for find in findings for found in find(brief, history)))


def path_judgement(brief: Brief, history: History) -> Judgement:
    """Return the graphs' full judgement, for reports and coverage."""
    return judge_events(moves(brief, history), brief.graphs, brief.case.effects, tools=brief.tools, team=brief.team)


def moves(brief: Brief, history: History) -> list[Move]:
    """Turn a history into the moves that graphs judge.

    A call that the tool refused because it broke the tool's own contract is no move: nothing was sent.
    A call of a tool that the case does not offer is one, and is judged as such.
    """
    rejected = {event.id for event in history.named("result") if event.detail.get("rejected")}
    sequence: list[Move] = []
    for event in history:
        if event.event == "agent_next_call":
            if event.id not in rejected or event.operation not in brief.offered(event.actor):
                sequence.append(_call(event))
        elif event.event == "result" and event.id not in rejected:
            sequence.append(_result(event))
        elif event.event == "trial_end":
            sequence.append(End(reason=EndReason(event.detail["reason"]), at=event.time))
    return sequence


def _call(event: Event) -> Call:
    return Call(
        id=event.id or "",
        operation=event.operation or "",
        args=event.detail["arguments"],
        turn=event.detail["turn"],
        agent=event.actor or "agent",
        at=event.time,
    )


def _result(event: Event) -> Result:
    envelope = event.detail["envelope"]
    return Result(
        call=event.id or "",
        category=event.category or "",
        fields=envelope.get("result", {}),
        at=event.time,
        visible_to=None if event.actor is None else (event.actor,),
        retry_after_s=envelope.get("retry_after_s"),
    )


def _graph_findings(brief: Brief, history: History) -> Iterator[Finding]:
    judgement = path_judgement(brief, history)
    if judgement.verdict is Verdict.PASS:
        return
    explanation = judgement.explanation
    if explanation is None:
        yield Finding(
            "cut-short", judgement.verdict, "a trial that runs to its end", "it was cut before it was settled"
        )
        return
    explanation = explanation.with_reproduction(_reproduction(history))
    failed = explanation.rule == "harness-crash" and any(history.named("model_failed"))
    yield Finding(
        "provider-failed" if failed else explanation.rule,
        judgement.verdict,
        "; ".join(explanation.expected) or "nothing more",
        f"{explanation.operation} from state {explanation.state!r} at event #{explanation.event}",
        explanation.why,
        render(explanation),
        explanation.member,
    )


def _reproduction(history: History) -> str:
    begin: JSON = next((event.detail for event in history.named("trial_begin")), {})
    options = (part for name in ("agent", "seed", "repeat") for part in (f"--{name}", str(begin.get(name))))
    return shlex.join(["unacked", "run", str(begin.get("case")), *options])


def _overtime(brief: Brief, history: History) -> Iterator[Finding]:
    """A trial that ends later than the case allows, whoever ends it."""
    within_s = brief.case.expect.within_s
    for event in history.named("trial_end"):
        if within_s is not None and event.time > within_s:
            yield Finding(
                "took-too-long", Verdict.FAIL, f"an end within {within_s:.10g} s", f"it took {event.time:.10g} s"
            )


def _final_claim(brief: Brief, history: History) -> Iterator[Finding]:
    expected = brief.case.expect.finish
    ended = [event.detail for event in history.named("trial_end")]
    if expected is None or not ended or ended[-1]["reason"] != "finished":
        return
    claims = list(history.named("agent_finished"))
    allowed = " or ".join(expected.status)
    if not claims:
        yield Finding("no-final-claim", Verdict.FAIL, f"finish with {allowed}", "the agent stopped without a claim")
        return
    detail, actor = claims[-1].detail, claims[-1].actor or ""
    status, summary = detail["status"], detail.get("summary") or ""
    if status not in expected.status:
        told = f"finish with {status}"
        yield Finding("wrong-final-claim", Verdict.FAIL, f"finish with {allowed}", told, member=actor)
    for word in expected.mentions:
        if word not in summary:
            yield Finding("unnamed-reason", Verdict.FAIL, f"a summary that names {word!r}", "it does not", member=actor)
