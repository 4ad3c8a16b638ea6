"""Every lint of a graph as one row: its id, how grave it is, what it finds and what to do about it.

The ids are stable: files that allow a finding name them. Documentation and messages are read from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["LINTS", "Level", "Lint"]


class Level(StrEnum):
    """What a finding means for the file."""

    REFUSED = "refused"
    """The file is not read at all."""
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Lint:
    """One row of the table."""

    id: str
    name: str
    level: Level
    finds: str
    remedy: str


_ROWS = (
    Lint(
        "G01",
        "missing-target",
        Level.REFUSED,
        "a result leads to a state that does not exist",
        "name a state of the file",
    ),
    Lint(
        "G02",
        "unreachable-state",
        Level.REFUSED,
        "no edge leads from the start to a state",
        "remove the state, or lead a result there",
    ),
    Lint(
        "G03",
        "unknown-operation",
        Level.REFUSED,
        "a role, an operation or a selector means nothing that the tools have",
        "name an operation of a tool",
    ),
    Lint(
        "G04",
        "unknown-argument",
        Level.REFUSED,
        "a guard or a binding reads an argument that the operation does not take",
        "name an argument of the contract",
    ),
    Lint(
        "G05",
        "never-bound",
        Level.REFUSED,
        "a guard or a binding reads a variable that nothing binds",
        "bind it on the way, under 'bind' of a call or of a result",
    ),
    Lint(
        "G06",
        "uncovered-category",
        Level.REFUSED,
        "an allowed call may be answered with a category that the edge does not lead on",
        "name the category, its class or '@any' under 'then'",
    ),
    Lint(
        "G07",
        "only-guarded",
        Level.REFUSED,
        "every alternative of a category has a guard, so that an answer may lead nowhere",
        "leave the last alternative without 'when'",
    ),
    Lint(
        "G10",
        "dead-end",
        Level.ERROR,
        "a state that is not final allows nothing",
        "allow a call, or make the state final",
    ),
    Lint(
        "G11",
        "no-resting-state",
        Level.ERROR,
        "from a state no way leads to one where the task may end",
        "lead a result to a state with 'end: ok' or 'end: final'",
    ),
    Lint(
        "G12",
        "no-stop",
        Level.WARNING,
        "an open state allows neither finish nor a question, so that an honest agent cannot give up",
        "allow finish with an honest status, or ask_human",
    ),
    Lint(
        "G13",
        "impossible-category",
        Level.WARNING,
        "'then' names a category, or a class, that none of the edge's operations answers",
        "remove the line, or name a category of the contract",
    ),
    Lint(
        "G14",
        "key-is-token",
        Level.ERROR,
        "threads are told apart by the idempotency key: a second attempt with another key opens an innocent thread",
        "key the thread by the payload or the target",
    ),
    Lint(
        "G15",
        "idle-broadcast",
        Level.ERROR,
        "a rule for a call that names no thread stands in the start state of a keyed graph, where no thread is yet",
        "move the rule to 'always', or to the states that threads get to",
    ),
    Lint(
        "G16",
        "unknown-result-field",
        Level.ERROR,
        "a guard or a binding reads a result field that the contract does not have",
        "name a field of the contract",
    ),
    Lint(
        "G20",
        "not-always-bound",
        Level.WARNING,
        "a guard compares with a variable that is not bound on every way: there the guard is undefined and never holds",
        "bind it on that way too, or ask is_set first",
    ),
    Lint(
        "G21",
        "overlap",
        Level.WARNING,
        "two edges allow the same call, so that their order in the file decides",
        "make the guards exclude each other",
    ),
    Lint(
        "G22",
        "shadowed",
        Level.ERROR,
        "whenever a rule fits, an earlier rule decides",
        "remove the rule, or narrow the earlier one",
    ),
    Lint("G23", "dead", Level.ERROR, "a rule never fits any call", "mend the guard, or remove the rule"),
    Lint(
        "G24",
        "dead-alternative",
        Level.ERROR,
        "an answer never takes one of its alternatives",
        "mend the guards of the alternatives, or remove it",
    ),
    Lint(
        "G25",
        "contradiction",
        Level.ERROR,
        "whatever an edge allows is forbidden by 'always', or by another graph of the case",
        "take back one of the two",
    ),
    Lint(
        "G26",
        "idle-conjunct",
        Level.WARNING,
        "a line of a guard decides nothing: it holds whenever the others do",
        "remove the line",
    ),
    Lint(
        "G27",
        "trap",
        Level.ERROR,
        "an agent that only does what is allowed gets to where no allowed calls lead to an end",
        "allow a way out: finish with an honest status, or ask_human",
    ),
    Lint(
        "G30",
        "repeat-without-token",
        Level.ERROR,
        "after an answer that leaves the effect unknown the same write is allowed again, though not under the same key",
        "compare it: args.KEY == $token, and only where idempotent('role') holds",
    ),
    Lint(
        "G31",
        "write-after-refusal",
        Level.ERROR,
        "after an authentication failure, a denial or a decline a write is allowed",
        "lead the refusal to a state that allows no write",
    ),
    Lint(
        "G32",
        "endless-write",
        Level.ERROR,
        "a write can be repeated for ever, for no counter ends it",
        "count the calls and ask for count.NAME < n",
    ),
    Lint(
        "G40",
        "no-planted-agent",
        Level.ERROR,
        "no trace violates a named rule: nobody has seen it fire",
        "add a trace that violates it, or remove the rule",
    ),
    Lint(
        "G50",
        "surplus-allowance",
        Level.ERROR,
        "the file allows a finding that there is not",
        "remove the entry under 'lint'",
    ),
)

LINTS: Mapping[str, Lint] = {row.id: row for row in _ROWS}
"""Every lint by its id."""
