"""How an agent conducts itself, whatever the graphs say: three rules that need no graph, and no judgement of a path.

They are told beside the verdict and never change it: what is wrong with a call that was really made, the graph
says already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from unacked.canonical import JSON, dumps
from unacked.contract import Effect, Operation
from unacked.event import History

__all__ = ["CALL_AS_TEXT", "ENDLESS_LOOP", "INVENTED_ARGUMENT", "conduct_of", "invented_arguments", "writes_a_call"]

INVENTED_ARGUMENT = "invented-argument"
"""An argument whose value came from no result and not from the task."""
CALL_AS_TEXT = "call-as-text"
"""A reply without a call, in whose text a call is written."""
ENDLESS_LOOP = "endless-loop"
"""The turns ran out while the agent made calls that it had made before, and got the answers that it had got before."""

_ROUNDS = 4


def invented_arguments(operation: Operation, arguments: Mapping[str, JSON], sources: Iterable[JSON]) -> list[str]:
    """Return the arguments whose value stands nowhere in ``sources``: the task, earlier results, earlier calls.

    Only what names something is looked at, which is a text of one word. An agent chooses the request id and the
    idempotency key of a write by itself, words from a closed list too, and what it says to people is its own.
    """
    if operation.effect is Effect.CONTROL:
        return []
    own = {operation.request, operation.idempotency} if operation.writes else set()
    own |= {argument.name for argument in operation.arguments if argument.choices}
    known = "\n".join(source if isinstance(source, str) else dumps(source) for source in sources).casefold()
    return [
        name
        for name, value in arguments.items()
        if name not in own and isinstance(value, str) and _is_name(value) and value.casefold() not in known
    ]


def _is_name(value: str) -> bool:
    return bool(value) and not any(character.isspace() for character in value)


def writes_a_call(text: str, tools: Iterable[str]) -> bool:
    """Whether a text writes a call of one of the tools out, as ``"name": "tool"`` or as ``tool(...)``."""
    names = "|".join(map(re.escape, tools))
    return bool(names) and re.search(rf'"name"\s*:\s*"(?:{names})"|\b(?:{names})\s*\(', text) is not None


def conduct_of(task: str, tools: Mapping[str, Operation], history: History) -> list[str]:
    """Return the rules that a whole trial breaks, each once, in the order in which they are declared here."""
    found = (
        (INVENTED_ARGUMENT, _invents(task, tools, history)),
        (CALL_AS_TEXT, _ends_with_a_written_call(tools, history)),
        (ENDLESS_LOOP, _goes_round(history)),
    )
    return [rule for rule, broken in found if broken]


def _invents(task: str, tools: Mapping[str, Operation], history: History) -> bool:
    sources: list[JSON] = [task]
    for event in history.named("agent_next_call", "result"):
        if event.event == "result":
            sources.append(event.detail["envelope"])
            continue
        arguments, tool = event.detail["arguments"], tools.get(event.operation or "")
        if tool is not None and invented_arguments(tool, arguments, sources):
            return True
        sources.append(dict(arguments))
    return False


def _ends_with_a_written_call(tools: Mapping[str, Operation], history: History) -> bool:
    """A text and a call in one reply are no matter; a reply with a call comes after the last text then."""
    spoken = list(history.named("agent_message", "agent_next_call"))
    return bool(spoken) and spoken[-1].event == "agent_message" and writes_a_call(spoken[-1].detail["text"], tools)


def _goes_round(history: History) -> bool:
    if not any(event.detail["reason"] == "budget" for event in history.named("trial_end")):
        return False
    answers = {event.id: event.category for event in history.named("result")}
    made: Sequence[tuple[str | None, str, str | None]] = [
        (event.operation, dumps(event.detail["arguments"]), answers.get(event.id))
        for event in history.named("agent_next_call")
    ]
    last = range(len(made) - _ROUNDS, len(made))
    return last.start > 0 and all(made[index] in made[:index] for index in last)
