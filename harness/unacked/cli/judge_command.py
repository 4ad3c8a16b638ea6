"""``unacked judge``: a neutral trace from anywhere against a graph."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import EXIT, open_suite, suite_option
from unacked.graph import Judgement, TraceJudge, Verdict, render, stream_traces
from unacked.report import printable
from unacked.tools import REGISTRY

__all__ = ["command"]


@click.command("judge")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--graph", "graph_names", multiple=True, metavar="NAME", help="Graph to judge by where the trace names none."
)
@suite_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a trace.")
def command(trace: Path, graph_names: tuple[str, ...], suite_path: Path | None, *, as_json: bool) -> int:
    """Judge the neutral TRACE (JSON lines: begin, call, result, end) by one or more graphs."""
    suite = open_suite(suite_path)
    judge = TraceJudge(suite.graphs, REGISTRY, default=graph_names)
    worst = Verdict.PASS
    for item in stream_traces(trace):
        judgement = judge.judge(item)
        worst = Verdict.worst([worst, judgement.verdict])
        graph = ",".join(judgement.per_graph)
        text = _json(item.name, graph, judgement) if as_json else _text(item.name, judgement)
        sys.stdout.write(f"{text}\n")  # click.echo flushes every time, which a hundred thousand traces notice
    return EXIT[worst]


def _json(name: str, graph: str, judgement: Judgement) -> str:
    explanation = judgement.explanation
    violation = judgement.violation
    return dumps(
        {
            "trace": name,
            "graph": graph,
            "verdict": judgement.verdict.value,
            "violation": violation.rule if violation else None,
            "event": violation.event if violation else (explanation.event if explanation else None),
            "explanation": render(explanation) if explanation else None,
        }
    )


def _text(name: str, judgement: Judgement) -> str:
    head = f"{judgement.verdict.value:<12} {printable(name)}"
    return f"{head}\n{render(judgement.explanation)}\n" if judgement.explanation else head
