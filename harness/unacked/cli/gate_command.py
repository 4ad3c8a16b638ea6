"""``unacked gate``: may this run's agent replace the baseline's?"""

from __future__ import annotations

from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import console, out_option
from unacked.cli.sides import open_side
from unacked.compare import GateRule, compare, decide, night_of
from unacked.report.comparison import gate_text

__all__ = ["command"]

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("gate")
@click.argument("run", metavar="RUN[:AGENT]")
@click.option("--baseline", required=True, metavar="RUN[:AGENT]", help="The run to compare with.")
@click.option("--alpha", type=_SHARE, default=0.05, show_default=True, help="Chance of a false BLOCK.")
@click.option("--margin", type=_SHARE, default=0.05, show_default=True, help="Drop of the pass rate that is no matter.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@out_option
def command(run: str, baseline: str, out: Path, alpha: float, margin: float, *, as_json: bool) -> int:
    """Decide whether RUN may replace its baseline: PASS (0), BLOCK (1), INCONCLUSIVE (3) or ERROR (4).

    An unsafe trial blocks, whatever the numbers are. A pass is a bound: "no worse than the margin", never "nothing
    found". Runs nothing; cases that are suspect stay INCONCLUSIVE until they get fresh repeats, as in a nightly run.
    """
    (_, before), (_, after) = open_side(baseline, out), open_side(run, out)
    comparison = compare(before, after)
    gate = decide(night_of(comparison), GateRule(alpha=alpha, margin=margin))
    if as_json:
        pins = list(comparison.pins)
        click.echo(dumps({"format": 1, "run": after.run, "baseline": before.run, "pins": pins, **gate.as_json()}))
    else:
        console().print(gate_text(gate), soft_wrap=True)
        if comparison.confounders:
            console().print(
                f"CONFOUNDED: {len(comparison.pins)} pins differ: {', '.join(comparison.pins)}", soft_wrap=True
            )
    return gate.decision.exit_code
