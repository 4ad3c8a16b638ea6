"""A probe as text: what each agent did next, how often, and between which bounds its rate lies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from unacked.canonical import JSON
from unacked.probe import Prefix, Probed
from unacked.report.tables import styled_verdict
from unacked.report.text import printable
from unacked.statistics import wilson

__all__ = ["probe_json", "probe_lines", "probe_table", "rate_text"]

Transition = tuple[str, str, str]


def rate_text(events: int, runs: int) -> str:
    """Return a rate with its counts and Wilson's 95 % interval, in percent: ``4/16 = 25 % (10..49)``."""
    if not runs:
        return "-"
    low, high = wilson(events, runs)
    return f"{events}/{runs} = {100 * events / runs:.0f} % ({100 * low:.0f}..{100 * high:.0f})"


def probe_table(probed: Sequence[Probed]) -> Table:
    """Return transitions against agents."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("next call", "rule", "verdict"):
        table.add_column(column, overflow="fold")
    for agent in probed:
        table.add_column(printable(agent.agent), no_wrap=True)
    for transition in _transitions(probed):
        call, rule, verdict = transition
        cells = [Text(rate_text(dict(agent.counts).get(transition, 0), len(agent.samples))) for agent in probed]
        table.add_row(Text(printable(call)), Text(printable(rule)), styled_verdict(verdict), *cells)
    return table


def _transitions(probed: Iterable[Probed]) -> list[Transition]:
    """Every transition that any agent took, the most frequent first."""
    total: dict[Transition, int] = {}
    for agent in probed:
        for transition, count in agent.counts:
            total[transition] = total.get(transition, 0) + count
    return sorted(total, key=lambda transition: (-total[transition], transition))


def probe_lines(prefix: Prefix, probed: Sequence[Probed]) -> Iterator[str]:
    """Yield what there is to say besides the table: where it began, what was refused and why, and what failed."""
    for agent in probed:
        yield from _refusals(agent)
        if agent.odds is not None:
            told = [f"{name} {100 * share:.0f} %" for name, share in agent.odds.calls.items()]
            told.append(f"neither {100 * agent.odds.rest:.0f} %")
            yield f"{printable(agent.agent)}, by the odds of its tokens: {printable(', '.join(told))}"
        if agent.trouble is not None:
            yield f"ERROR {printable(agent.agent)} after {len(agent.samples)} samples: {printable(agent.trouble)}"
    yield printable(_behind(prefix))


def _behind(prefix: Prefix) -> str:
    if not prefix.past:
        return f"behind what was handed over to {prefix.member} of {prefix.name}"
    return f"behind {len(prefix.past)} turns of {prefix.name}, which ended in {prefix.answered}"


def _refusals(agent: Probed) -> Iterator[str]:
    whys = {sample.rule: sample.why for sample in agent.samples if sample.why}
    for rule, why in whys.items():
        yield f"{printable(agent.agent)}: {printable(rule or '')}: {printable(why)}"


def probe_json(prefix: Prefix, probed: Sequence[Probed]) -> JSON:
    """Return everything as a JSON object; intervals are Wilson's at 95 %."""
    return {
        "prefix": {
            "name": prefix.name,
            **({"member": prefix.member} if prefix.member else {}),
            "turns": len(prefix.past),
            "answered": prefix.answered,
        },
        "agents": {agent.agent: _agent_json(agent) for agent in probed},
    }


def _agent_json(agent: Probed) -> JSON:
    runs = len(agent.samples)
    return {
        "samples": [sample.as_json() for sample in agent.samples],
        "transitions": [
            {
                "call": call,
                "rule": rule or None,
                "verdict": verdict,
                "count": count,
                "of": runs,
                "rate": count / runs,
                "interval": list(wilson(count, runs)),
            }
            for (call, rule, verdict), count in agent.counts
        ],
        "odds": None if agent.odds is None else agent.odds.as_json(),
        "served": sorted(agent.served),
        "tokens": dict(agent.tokens),
        "error": agent.trouble,
    }
