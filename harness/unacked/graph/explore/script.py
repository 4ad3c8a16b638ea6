"""From ways through a space to the events of a trace, and to the text that people read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from unacked.canonical import JSON
from unacked.contract import Argument
from unacked.graph.explore.letters import Alphabet, Answer, Letter, Swapped, renamed
from unacked.graph.explore.space import Step
from unacked.graph.moves import Call, End, Event, Result
from unacked.graph.verdict import EndReason

__all__ = ["Script", "told"]


class Script:
    """Writes the steps of a way as events, with values of the types that the contracts declare."""

    def __init__(self, alphabet: Alphabet, steps: Iterable[Step] = ()) -> None:
        self.events: list[Event] = []
        self._alphabet = alphabet
        self._swapped: Swapped = frozenset()
        self._at = 0.0
        self._calls = 0
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        """Add a call and its answer."""
        self.call(step.letter, step.answer)
        self._swapped ^= step.swapped

    def call(self, letter: Letter, answer: Answer | None = None) -> None:
        """Add a call, with an answer where there is one; tokens keep the names that they have."""
        call = self._called(letter, self._calls + 1)
        if answer is not None:
            self._answered(call, letter, answer)

    def together(self, steps: Sequence[Step]) -> None:
        """Add the calls of one turn, and then their answers."""
        turn = self._calls + 1
        calls = [self._called(step.letter, turn) for step in steps]
        for call, step in zip(calls, steps, strict=True):
            self._answered(call, step.letter, step.answer)

    def _called(self, letter: Letter, turn: int) -> str:
        self._at += letter.wait_s
        self._calls += 1
        name, operation = f"c{self._calls}", letter.operation
        args = self._concrete(letter.args, operation.arguments)
        sent = {argument: value for argument, value in args.items() if value is not None}
        self.events.append(Call(id=name, operation=operation.name, args=sent, turn=turn, at=self._at))
        return name

    def _answered(self, call: str, letter: Letter, answer: Answer) -> None:
        fields = self._concrete(answer.fields, letter.operation.result)
        self.events.append(Result(call=call, category=answer.category, fields=fields, at=self._at))

    def ended(self, reason: EndReason = EndReason.FINISHED) -> tuple[Event, ...]:
        """Return the events with an end."""
        return (*self.events, End(reason=reason, at=self._at))

    def _concrete(self, values: Mapping[str, JSON], declared: Iterable[Argument]) -> dict[str, JSON]:
        types = {item.name: item.json_type for item in declared}
        tokens = self._alphabet.tokens
        concrete = {}
        for name, value in values.items():
            spoken = renamed(value, self._swapped, tokens)
            token = tokens.get(spoken) if isinstance(spoken, str) else None
            concrete[name] = spoken if token is None else _typed(spoken, token.number, types.get(name, "string"))
        return concrete


def _typed(name: str, number: int, json_type: str) -> JSON:
    """A token stands for a value of any type; the two tokens of a family stay apart."""
    forms: dict[str, JSON] = {
        "integer": number,
        "number": number,
        "boolean": number == 1,
        "array": [name],
        "object": {"value": name},
    }
    return forms.get(json_type, name)


def told(steps: Iterable[Step], last: Letter | None = None) -> tuple[str, ...]:
    """Return a way as calls and categories, ``create_record/outcome_unknown``; ``last`` is a call without an answer."""
    way = [f"{_call(step.letter)}/{step.answer.category}" for step in steps]
    return tuple(way if last is None else [*way, _call(last)])


def _call(letter: Letter) -> str:
    status = letter.args.get("status") if letter.operation.name == "finish" else None
    return f"{letter.operation.name}({status})" if status else letter.operation.name
