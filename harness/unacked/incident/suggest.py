"""A first mapping for a trace, by the names of its tools and the shape of its calls; each line says why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from unacked.canonical import JSON
from unacked.contract import Argument, Effect, Operation, Registry
from unacked.incident.infer import Inference
from unacked.incident.mapping import ASK, IGNORE, CallNote, Constant, Mapped, MappingFile, Source
from unacked.incident.recording import RecordedCall, Recording

__all__ = ["suggest"]

_VERBS: Sequence[tuple[str, str]] = (
    ("refund", "refund"),
    ("invoice bill", "create_invoice"),
    ("charge pay payment transfer purchase withdraw", "charge"),
    ("grant share invite", "grant_permission"),
    ("revoke", "revoke_permission"),
    ("rotate", "rotate_credential"),
    ("deploy deployment rollout", "create_deployment"),
    ("delete remove destroy drop purge", "delete_release"),
    ("note comment annotate annotation reply", "attach_note"),
    ("update patch edit set modify rename", "update_record"),
    ("issue ticket", "create_issue"),
    (
        (
            "create add post send publish submit insert book order upload start invoke run execute trigger write "
            "register open message email mail make new schedule"
        ),
        "create_record",
    ),
)
"""Words of a tool's name that stand for an effect, and the operation that has it; the first that matches counts."""

_READS = frozenset(
    [
        "get",
        "list",
        "read",
        "search",
        "find",
        "fetch",
        "show",
        "describe",
        "lookup",
        "look",
        "query",
        "count",
        "check",
        "view",
        "status",
        "browse",
        "head",
        "stat",
        "info",
        "retrieve",
        "load",
        "open_file",
        "cat",
        "grep",
        "glob",
        "ls",
    ]
)
_FINAL = frozenset({"finish", "final_answer", "done", "complete", "submit_answer", "final_result"})
_IDEMPOTENCY = re.compile(r"(?i)idemp|dedup|nonce|unique_?key|client_?token")
_REQUEST = re.compile(r"(?i)request_?id|client_?ref|external_?(?:id|ref)|reference|correlation|transaction_?id|^key$")
_AMOUNT = re.compile(r"(?i)amount|cents|price|total|value")
_ALIKE: Mapping[str, str] = {
    "title": "title subject name summary headline text message body",
    "text": "text body comment note message content",
    "patch": "patch value content changes fields data",
    "name": "name version tag title",
    "service": "service app application name",
    "revision": "revision version ref sha tag image",
    "subject": "subject user member principal who",
    "scope": "scope role permission access",
    "customer": "customer account customer_id account_id payer user",
    "currency": "currency",
}
"""Our arguments, and names that others give to the same thing."""
_STAND_INS: Mapping[str, JSON] = {"integer": 1, "number": 1, "string": "unnamed"}


def suggest(recording: Recording, inferred: Mapping[str, Inference], registry: Registry) -> MappingFile:
    """Return a mapping with a suggestion for every tool and every call; ``ask`` where nothing speaks for one."""
    shapes = _Shapes(recording, registry)
    operations = {name: shapes.mapped(name) for name in shapes.names}
    return MappingFile(mapping=1, operations=operations, calls=dict(_notes(recording, inferred, operations)))


def _notes(
    recording: Recording, inferred: Mapping[str, Inference], operations: Mapping[str, Mapped]
) -> Iterator[tuple[str, CallNote]]:
    """Yield what is to be said of each call that counts."""
    for call in recording.calls:
        if operations[call.name].operation == IGNORE:
            continue
        found = inferred[call.id]
        because = found.because
        if call.arguments is None:
            because = f"{because}; the trace does not say with which arguments: add 'arguments' here"
        category = ASK if found.category is None or call.arguments is None else found.category
        yield call.id, CallNote(category=category, because=because)


class _Shapes:
    """What the calls of a trace show of their tools: which values a tool is called with, and where they came from."""

    def __init__(self, recording: Recording, registry: Registry) -> None:
        self._registry = registry
        self.calls: dict[str, list[RecordedCall]] = {}
        for call in recording.calls:
            self.calls.setdefault(call.name, []).append(call)
        self._first = {call.name: position for position, call in reversed(list(enumerate(recording.calls)))}
        self._all = list(recording.calls)
        self._chosen: dict[str, Mapped] = {}

    @property
    def names(self) -> list[str]:
        """The tools in the order of their first call."""
        return sorted(self.calls, key=self._first.__getitem__)

    def mapped(self, name: str) -> Mapped:
        """Return the suggestion for one tool; those called before it were suggested already."""
        operation, because = self._operation(name)
        if operation is None:
            chosen = Mapped(operation=because[0], because=because[1])
        else:
            arguments, doubts = self._arguments(name, operation)
            why = "; ".join([because[1], *doubts])
            chosen = Mapped(
                operation=operation.name, because=why, arguments=arguments, result=self._result(name, operation)
            )
        self._chosen[name] = chosen
        return chosen

    def _operation(self, name: str) -> tuple[Operation | None, tuple[str, str]]:
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        last = re.split(r"[:./]|__", plain)[-1].replace("-", "_")
        for candidate, because in ((name, "the same name"), (last, "the same name but for its spelling")):
            if candidate in self._registry:
                return self._registry[candidate], ("", because)
        if last in _FINAL:
            return self._registry["finish"], ("", "its name says that the agent ends its work")
        words = [word for word in re.split(r"[_\s]+", last) if word]
        if words and words[0] in _READS:
            return self._read(name)
        for known, operation in _VERBS:
            hit = next((word for word in words if word in known.split()), None)
            if hit is not None:
                return self._registry[operation], ("", f"its name says {hit!r}")
        if any(word in _READS for word in words):
            return self._read(name)
        return None, (ASK, "neither its name nor its calls say what it does")

    def _read(self, name: str) -> tuple[Operation | None, tuple[str, str]]:
        """A read is a lookup where it asks by an id that a write was sent with, or names an object that one made."""
        given = {value for call in self.calls[name] for value in _values(call.arguments)}
        for writer, mapped in self._chosen.items():
            operation = self._registry.get(mapped.operation)
            if operation is None or not operation.writes:
                continue
            for role in (operation.request, operation.idempotency):
                source = mapped.arguments.get(role or "")
                sent = (
                    {_at(call.arguments, source) for call in self.calls[writer]} if isinstance(source, str) else set()
                )
                if given & (sent - {None}) and operation.reconcile:
                    because = f"a read by the {role} that {writer} was sent with"
                    return self._registry[operation.reconcile], ("", because)
            if given & self._made(writer, operation):
                reader = self._reader(operation)
                if reader is not None:
                    return reader, ("", f"a read of what {writer} made")
        return None, (IGNORE, "a read of something that no write of this trace made")

    def _made(self, writer: str, operation: Operation) -> set[JSON]:
        field = self._chosen[writer].result.get(operation.identity or "")
        answers = [call.answer.content for call in self.calls[writer] if call.answer is not None]
        return {_at(answer, field) for answer in answers if isinstance(answer, Mapping)} - {None} if field else set()

    def _reader(self, operation: Operation) -> Operation | None:
        for candidate in self._registry.values():
            if (
                candidate.effect is Effect.READ
                and candidate.target_class == operation.target_class
                and candidate.target
            ):
                return candidate
        return None

    def _arguments(self, name: str, operation: Operation) -> tuple[dict[str, Source], list[str]]:
        theirs = list(dict.fromkeys(key for call in self.calls[name] for key in call.arguments or ()))
        sample = {key: _first_value(self.calls[name], key) for key in theirs}
        chosen: dict[str, Source] = {}
        free = [key for key in theirs if key not in {argument.name for argument in operation.arguments}]
        for argument in operation.arguments:
            source: Source | None = (
                argument.name if argument.name in theirs else self._source(argument, operation, sample, free)
            )
            if source is None and argument.required and argument.name != operation.request:
                source = Constant(value=argument.choices[0] if argument.choices else _STAND_INS[argument.json_type])
            if source is not None:
                chosen[argument.name] = source
                free = [
                    key for key in free if key != source or argument.name in (operation.request, operation.idempotency)
                ]
        _gather_the_rest(operation, chosen, free)
        constants = [name for name, source in chosen.items() if isinstance(source, Constant)]
        doubts = [f"the trace gives no {name}: a constant stands for it" for name in constants]
        if operation.writes and operation.request and operation.request not in chosen:
            doubts.append("its calls carry no id of their own: each is numbered")
        return chosen, doubts

    def _source(
        self, argument: Argument, operation: Operation, sample: Mapping[str, JSON], free: Sequence[str]
    ) -> str | None:
        if argument.name == operation.idempotency:
            return next((key for key in free if _IDEMPOTENCY.search(key)), None)
        if argument.name == operation.request:
            named = next((key for key in free if _REQUEST.search(key)), None)
            return named or next((key for key in sample if _IDEMPOTENCY.search(key)), None)
        fitting = [key for key in free if _fits(sample[key], argument) and not _IDEMPOTENCY.search(key)]
        if argument.name == operation.target:
            made = {value for writer in self._chosen for value in self._made_by(writer)}
            by_value = next((key for key in fitting if sample[key] in made), None)
            by_name = next((key for key in fitting if key == "id" or key.endswith(("_id", "Id"))), None)
            if by_value or by_name:
                return by_value or by_name
        if argument.json_type in ("integer", "number"):
            return next((key for key in fitting if _AMOUNT.search(key)), None)
        alike = _ALIKE.get(argument.name, argument.name).split()
        return next((key for word in alike for key in fitting if key.lower() == word), None)

    def _made_by(self, writer: str) -> set[JSON]:
        operation = self._registry.get(self._chosen[writer].operation)
        return self._made(writer, operation) if operation is not None and operation.identity else set()

    def _result(self, name: str, operation: Operation) -> dict[str, str]:
        """Where our result fields stand in their answers: by the same name, and the identity by its look."""
        answers = [call.answer.content for call in self.calls[name] if call.answer is not None]
        keys = list(dict.fromkeys(key for answer in answers if isinstance(answer, Mapping) for key in answer))
        chosen = {field.name: field.name for field in operation.result if field.name in keys}
        if operation.identity and operation.identity not in chosen:
            look = next((key for key in keys if key == "id"), None) or next(
                (key for key in keys if key.lower().endswith("id") and not _REQUEST.search(key)), None
            )
            if look is not None:
                chosen[operation.identity] = look
        return chosen


def _gather_the_rest(operation: Operation, chosen: dict[str, Source], free: Sequence[str]) -> None:
    """Put what no argument takes into the one free text there is: a retry with another text must stay another one."""
    rest = [key for key in free if not _IDEMPOTENCY.search(key) and key not in chosen.values()]
    for name in ("title", "text", "patch"):
        held = chosen.get(name)
        if rest and any(argument.name == name for argument in operation.arguments) and held != name:
            chosen[name] = [*([held] if isinstance(held, str) else []), *rest]
            if len(chosen[name]) == 1:  # type: ignore[arg-type]
                chosen[name] = rest[0]
            return


def _fits(value: JSON, argument: Argument) -> bool:
    if argument.json_type in ("integer", "number"):
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str | int) and not isinstance(value, bool)


def _first_value(calls: Sequence[RecordedCall], key: str) -> JSON:
    return next((call.arguments[key] for call in calls if call.arguments and call.arguments.get(key) is not None), None)


def _values(arguments: Mapping[str, JSON] | None) -> Iterator[JSON]:
    for value in (arguments or {}).values():
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield value


def _at(held: Mapping[str, JSON] | None, key: JSON) -> JSON:
    value = (held or {}).get(key)
    return value if isinstance(value, str | int) else None
