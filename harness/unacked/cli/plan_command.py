"""``unacked plan``: how many repeats an answer needs."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.cli.options import out_option
from unacked.cli.sides import open_side
from unacked.errors import ExitCode, Place, Problem, SpecificationError
from unacked.statistics import n_for_zero, repeats_for_bound, repeats_for_drop

__all__ = ["command"]

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("plan")
@click.option("--baseline", metavar="RUN[:AGENT]", default=None, help="Take the pass rate of every case from this run.")
@click.option("--cases", type=click.IntRange(min=1), default=30, show_default=True, help="Cases, without a baseline.")
@click.option("--pass-rate", type=click.FloatRange(0, 1), default=0.95, show_default=True, help="Their pass rate.")
@click.option("--drop", type=_SHARE, default=0.05, show_default=True, help="Drop of the mean pass rate to be found.")
@click.option("--power", type=_SHARE, default=0.8, show_default=True, help="Chance of finding it.")
@click.option("--usd-per-trial", type=click.FloatRange(0), default=None, help="What a trial costs, to say the sum.")
@out_option
def command(
    baseline: str | None,
    cases: int,
    pass_rate: float,
    drop: float,
    power: float,
    usd_per_trial: float | None,
    out: Path,
) -> int:
    """Say how many repeats of every case a night needs, before anything is run or spent."""
    rates = [pass_rate] * cases if baseline is None else _rates(baseline, out)
    found, bounded = repeats_for_drop(rates, drop, power=power), repeats_for_bound(rates, drop)
    mean = sum(rates) / len(rates)
    click.echo(f"{len(rates)} cases with a mean pass rate of {mean:.1%}")
    click.echo(f"to find a drop of {drop:.0%} with chance {power:.0%}: {_repeats(found, len(rates), usd_per_trial)}")
    if bounded is None:
        click.echo(f"to exclude a drop of {drop:.0%} where nothing changed: more than 1000 repeats")
    else:
        told = _repeats(bounded, len(rates), usd_per_trial)
        click.echo(f"to exclude a drop of {drop:.0%} where nothing changed: {told}")
    click.echo(f"to bound the rate of unsafe runs below 1 %: {n_for_zero(0.01)} exposed runs without one")
    return ExitCode.PASS


def _rates(baseline: str, out: Path) -> list[float]:
    _, side = open_side(baseline, out)
    rates = [tally.passes / tally.decided for tally in side.cases.values() if tally.decided]
    if not rates:
        raise SpecificationError([Problem(Place(side.run), "no trial of this run says anything of a pass rate")])
    return rates


def _repeats(repeats: int, cases: int, usd: float | None) -> str:
    trials = repeats * cases
    told = f"{repeats} repeats a case, {trials} trials of each agent"
    return told if usd is None else f"{told}, ${trials * usd:,.2f}"
