"""Markers: how a command on another machine leaves a durable trace, whatever becomes of the link.

The tool does not send the bare command. It sends one line of POSIX shell that first writes a start marker
under the operation id, refuses where that cannot be done or was done before, runs the command, and writes a
completion marker with its exit status. What it has to say itself stands on the standard output, one JSON
object a line; the command's own output goes to the standard error. Nothing is installed on the host.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from enum import StrEnum

from unacked.canonical import InvalidJSON, dumps, loads

__all__ = ["FOLDER", "REFUSED_STATUS", "SCRIPT", "Order", "Report", "State", "read_order", "read_report"]

FOLDER = ".unacked/operations"
"""Where the markers stand, within the home of the account: ``ID.started`` and ``ID.completed``."""

REFUSED_STATUS = 125
"""The exit status of the wrapper where it ran nothing; what it means is in the report, never in this number."""

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

SCRIPT = f"""\
id=$1 cid=$2 command=$3 folder=$HOME/{FOLDER}
say() {{
  printf '{{"correlation_id":"%s","exit_status":%s,"operation_id":"%s","state":"%s"}}\\n' "$cid" "$2" "$id" "$1"
}}
set -f; set -- $command
command -v "$1" >/dev/null 2>&1 || {{ say command_not_found null; exit {REFUSED_STATUS}; }}
mkdir -p "$folder" 2>/dev/null
if ! (set -C; : >"$folder/$id.started") 2>/dev/null; then
  if [ -e "$folder/$id.started" ]; then say already_started null; else say marker_refused null; fi
  exit {REFUSED_STATUS}
fi
sync "$folder/$id.started" "$folder" 2>/dev/null || sync
sh -c "$command" >&2 </dev/null
status=$?
printf '%s\\n' "$status" >"$folder/$id.part" && mv "$folder/$id.part" "$folder/$id.completed"
sync "$folder/$id.completed" "$folder" 2>/dev/null || sync
say completed "$status"
exit "$status"
"""
"""The wrapper. ``set -C`` makes the start marker a lock: of two attempts with one id at most one ever runs."""


class State(StrEnum):
    """What the wrapper reports."""

    COMPLETED = "completed"
    ALREADY_STARTED = "already_started"
    MARKER_REFUSED = "marker_refused"
    COMMAND_NOT_FOUND = "command_not_found"


@dataclass(frozen=True, slots=True)
class Order:
    """One command under its durable operation id, as one call sends it.

    An order that a host was given without the wrapper is ``bare``: its id is the host's own and marks nothing.
    """

    operation_id: str
    correlation_id: str
    command: str

    def problem(self) -> str | None:
        """Return why this cannot be sent, in words fit for the agent, or None."""
        if not _IDENTIFIER.fullmatch(self.operation_id):
            return "argument 'operation_id' must be letters, digits, '.', '_' and '-', 64 at most"
        if not self.command.strip() or not self.command.isprintable():
            return "argument 'command' must be one line of printable characters"
        return None

    @classmethod
    def bare(cls, number: int, command: str) -> Order:
        """Return the order in a command that came without the wrapper."""
        return cls(f"bare {number}", "", command)

    @property
    def is_marked(self) -> bool:
        """Whether a marker is written before it runs."""
        return _IDENTIFIER.fullmatch(self.operation_id) is not None

    @property
    def command_line(self) -> str:
        """What is sent to the host's shell."""
        return shlex.join(["sh", "-c", SCRIPT, "unacked", self.operation_id, self.correlation_id, self.command])


@dataclass(frozen=True, slots=True)
class Report:
    """What the wrapper says at the end; ``exit_status`` is the command's own, None where it did not run."""

    operation_id: str
    correlation_id: str
    state: State
    exit_status: int | None

    def as_line(self) -> str:
        """Return the report as the wrapper writes it."""
        return (
            dumps(
                {
                    "correlation_id": self.correlation_id,
                    "exit_status": self.exit_status,
                    "operation_id": self.operation_id,
                    "state": self.state.value,
                }
            )
            + "\n"
        )


def read_order(command_line: str) -> Order | None:
    """Return the order in a command line, or None where it is not one of ours."""
    try:
        words = shlex.split(command_line)
    except ValueError:
        return None
    if len(words) != 7 or words[:4] != ["sh", "-c", SCRIPT, "unacked"]:
        return None
    return Order(*words[4:])


def read_report(output: str) -> Report | None:
    """Return the report that is the whole of ``output``; None for anything else."""
    try:
        value = loads(output)
    except InvalidJSON:
        return None
    if not isinstance(value, dict) or set(value) != {"correlation_id", "exit_status", "operation_id", "state"}:
        return None
    status = value["exit_status"]
    ran = value["state"] == State.COMPLETED
    if value["state"] not in set(State) or (type(status) is not int if ran else status is not None):
        return None
    if not isinstance(value["operation_id"], str) or not isinstance(value["correlation_id"], str):
        return None
    return Report(value["operation_id"], value["correlation_id"], State(value["state"]), status)
