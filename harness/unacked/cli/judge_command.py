"""``unacked judge``: a neutral trace from anywhere against a graph."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import EXIT, open_suite, suite_option
from unacked.engine import settle_garbage
from unacked.errors import Place, Problem, SpecificationError
from unacked.graph import Judgement, TraceJudge, Verdict, render, stream_traces
from unacked.report import printable
from unacked.tools import REGISTRY

__all__ = ["command"]


@click.command("judge")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--graph", "graph_names", multiple=True, metavar="NAME", help="Graph to judge by where the trace names none."
)
@click.option("--trace", "wanted", default=None, metavar="NAME", help="Judge only the trace of this name.")
@suite_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a trace.")
def command(
    trace: Path, graph_names: tuple[str, ...], wanted: str | None, suite_path: Path | None, *, as_json: bool
) -> int:
    """Judge the neutral TRACE (JSON lines: begin, call, result, end) by one or more graphs."""
    suite = open_suite(suite_path)
    judge = TraceJudge(suite.graphs, REGISTRY, default=graph_names)
    settle_garbage()
    worst, found = Verdict.PASS, False
    for item in stream_traces(trace):
        if wanted is not None and item.name != wanted:
            continue
        found = True
        judgement = _reproducible(judge.judge(item), [*_again(trace, graph_names, suite_path), "--trace", item.name])
        worst = Verdict.worst([worst, judgement.verdict])
        graph = ",".join(judgement.per_graph)
        text = _json(item.name, graph, judgement) if as_json else _text(item.name, judgement)
        sys.stdout.write(f"{text}\n")  # click.echo flushes every time, which a hundred thousand traces notice
    if not found:
        raise SpecificationError([Problem(Place(str(trace)), f"holds no trace {wanted!r}")])
    return EXIT[worst]


def _again(trace: Path, graphs: Sequence[str], suite: Path | None) -> list[str]:
    """The command that judges the file again."""
    named = [part for name in graphs for part in ("--graph", name)]
    return ["unacked", "judge", str(trace), *named, *(["--suite", str(suite)] if suite else [])]


def _reproducible(judgement: Judgement, command: Sequence[str]) -> Judgement:
    if judgement.explanation is None:
        return judgement
    return replace(judgement, explanation=judgement.explanation.with_reproduction(shlex.join(command)))


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
            "member": (explanation.member or None) if explanation else None,
            "explanation": render(explanation) if explanation else None,
        }
    )


def _text(name: str, judgement: Judgement) -> str:
    head = f"{judgement.verdict.value:<12} {printable(name)}"
    return f"{head}\n{render(judgement.explanation)}\n" if judgement.explanation else head
