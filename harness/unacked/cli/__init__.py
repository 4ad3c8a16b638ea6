"""The command line. Each command is a module of its own, loaded when it is used: help must be quick."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence

import click

from unacked import __version__
from unacked.errors import ExitCode, Place, Problem, SpecificationError, UnackedError

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "init": "make a new suite for agents of your own",
    "run": "run cases against agents (without agents: the controls)",
    "list": "show what a suite holds, and whether the remote effect is known after each fault",
    "validate": "check every file of a suite and report all problems at once",
    "show": "show a run, or one trial of it with its transcript and explanation",
    "report": "write a run as a page, as Markdown, SARIF or JUnit, or for a job on GitHub",
    "check": "judge a stored run again, running nothing",
    "compare": "compare two runs: what one agent does otherwise than another, and where their transcripts part",
    "gate": "decide whether a run may replace its baseline",
    "nightly": "run a candidate, compare it with its baseline, decide, and remember the night",
    "status": "say how a run stands, live or finished: states, verdicts, throughput, cost, time left",
    "logs": "show what happened to the trials of a run, and every input and output of one",
    "prune": "remove old runs, and never a baseline",
    "plan": "say how many repeats an answer needs, before anything is spent",
    "fixtures": "run contract fixtures: what each tool makes of one answer, without an agent",
    "judge": "judge a neutral trace from anywhere",
    "probe": "go up to a fault, and ask a model for its next call only, many times",
    "rates": "tell of stored runs how often each agent did what after which fault",
    "incident": "make a small red case of somebody's trace, minimize, verify and keep it",
    "graph": "lint graphs, measure what a run showed of them, generate suites, mutate them, draw them",
    "audit": "verify that a stored run was not changed",
    "serve": "serve the fake services on real ports, with a control API to arm faults and read ledgers",
    "adapter": "put tool code of your own to the test at every fault, without any agent",
    "scale": "run a plan in shards on many machines, with a Temporal of yours as the queue",
    "orchestrator": "put orchestrators to the test: crashes, time limits, order, retries, compensation",
    "selftest": "show that what is wrong on purpose is caught, and what is right is left alone",
    "schema": "write the JSON Schemas of the files that users write",
}
"""The commands and one line on each; the module of a command is ``unacked.cli.<name>_command``."""


_COLLECT_EVERY = 20_000
"""What is imported and loaded at first stays for good; looking through it all the time took a third of that."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 - click's interface
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"unacked.cli.{name}_command").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 pass, 1 fail or unsafe, 2 usage or specification, 3 inconclusive, 4 error, 130 interrupted.",
)
@click.version_option(__version__, prog_name="unacked")
def command_line() -> None:
    """What does your agent do next when its write goes unacknowledged?"""


def main() -> None:
    """Run the command line; no traceback reaches the user."""
    output = sys.stdout
    gc.set_threshold(_COLLECT_EVERY)
    try:
        _check_arguments(sys.argv[1:])
        code = command_line.main(prog_name="unacked", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # click takes it for somebody at a prompt, and we have none
            code = _unexpected(error.__cause__)
        else:
            click.echo("interrupted", err=True)
            code = ExitCode.INTERRUPTED
    except UnackedError as error:
        click.echo(f"{error}", err=True)
        code = error.exit_code
    except ModuleNotFoundError as error:
        code = _missing_extra(error)
    except OSError as error:
        code = _trouble(error)
    except SystemExit as error:
        # click and rich leave the program by themselves where the reader of our output has gone; click wraps it then.
        gone = sys.stdout is not output or isinstance(error.__context__, BrokenPipeError)
        code = _say_no_more() if gone else _unexpected(error)
    except Exception as error:  # noqa: BLE001 - the last place where anything can be told in words
        code = _unexpected(error)
    sys.exit(int(code or 0))


def _check_arguments(arguments: Sequence[str]) -> None:
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise SpecificationError([Problem(Place("argument"), f"{argument!r} is not UTF-8")]) from None


def _trouble(error: OSError) -> ExitCode:
    if isinstance(error, BrokenPipeError):  # the reader of our output has gone
        return _say_no_more()
    click.echo(f"{error.filename or 'input or output'}: {error.strerror or error}", err=True)
    return ExitCode.ERROR


def _say_no_more() -> ExitCode:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.ERROR


def _missing_extra(error: ModuleNotFoundError) -> ExitCode:
    """A library of an extra that is not installed is no fault of ours; any other is."""
    extra = _EXTRAS.get((error.name or "").partition(".")[0])
    if extra is None:
        return _unexpected(error)
    click.echo(f"this command needs {error.name}\n    hint: install it with: pip install 'unacked[{extra}]'", err=True)
    return ExitCode.USAGE


_EXTRAS = {
    "scipy": "compare",
    "numpy": "compare",
    "jinja2": "report",
    "backports": "inspect",
    "mcp": "mcp",
    "opentelemetry": "otel",
    "temporalio": "temporal",
}
"""Libraries that only some commands need, and the extra that brings each."""


def _unexpected(error: BaseException) -> ExitCode:
    if os.environ.get("UNACKED_TRACEBACK"):
        raise error
    click.echo(
        f"unexpected {type(error).__name__}: {error}\n"
        "    hint: this is a fault of unacked; set UNACKED_TRACEBACK=1 to see where it happened",
        err=True,
    )
    return ExitCode.ERROR
