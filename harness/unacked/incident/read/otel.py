"""Spans of OpenTelemetry's GenAI conventions, as OTLP JSON: one ``execute_tool`` span is one call.

Arguments and results are in the spans only where capturing content was switched on; what is not there stays
unknown. Sources: the semantic conventions for GenAI agents, and OTLP's JSON mapping (64-bit numbers as texts).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.errors import Place, Problem, SpecificationError
from unacked.graph import Begin, read_traces
from unacked.incident.read.conversation import content_of
from unacked.incident.read.cursor import Cursor, gather
from unacked.incident.recording import Answer, RecordedCall, Recording

__all__ = ["BEGIN", "END", "read_spans"]

BEGIN, END = "unacked.begin", "unacked.end"
"""Attributes by which a run of ours says what it is judged by, and how it ended."""

_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments")
_RESULT = ("gen_ai.tool.call.result", "tool_response")
"""The conventions' names, and those that pydantic-ai wrote before there were any."""
_ERROR = (2, "STATUS_CODE_ERROR")


@dataclass(frozen=True, slots=True)
class _Span:
    cursor: Cursor
    name: str
    begin: int
    end: int
    attributes: Mapping[str, JSON]
    parent: str
    id: str

    @property
    def is_call(self) -> bool:
        return self.attributes.get("gen_ai.operation.name") == "execute_tool"


def read_spans(documents: Iterable[Cursor], name: str) -> Recording:
    """Read the spans of one trace, from one export or several; raises SpecificationError."""
    spans = gather((span for document in documents for span in _spans(document)), _span)
    spans.sort(key=lambda span: (span.begin, span.end))
    calls = [span for span in spans if span.is_call]
    if not calls:
        raise _no_calls(name, spans)
    by_id = {span.id: span for span in spans}
    children: dict[str, list[_Span]] = {}
    for span in spans:
        children.setdefault(span.parent, []).append(span)
    recorded = _calls(calls, by_id, children)
    return Recording(
        name=name,
        form="otel",
        calls=recorded,
        task=_task(spans),
        begin=_begin(spans),
        end=next((str(span.attributes[END]) for span in spans if END in span.attributes), None),
    )


def _calls(
    calls: list[_Span], by_id: Mapping[str, _Span], children: Mapping[str, list[_Span]]
) -> tuple[RecordedCall, ...]:
    """Turn tool spans into calls; one that begins before the one before it ends was decided together with it."""
    origin, turn, free_at = calls[0].begin, 0, -1
    recorded: list[RecordedCall] = []
    problems: list[Problem] = []
    for number, span in enumerate(calls):
        if span.begin >= free_at:
            turn += 1
        free_at = max(free_at, span.end)
        try:
            recorded.append(_call(span, number, turn, origin, _agent(span, by_id), children.get(span.id, [])))
        except SpecificationError as error:
            problems += error.problems
    if problems:
        raise SpecificationError(problems)
    return tuple(recorded)


def _call(span: _Span, number: int, turn: int, origin: int, agent: str, inside: list[_Span]) -> RecordedCall:
    name = span.attributes.get("gen_ai.tool.name")
    if not isinstance(name, str):
        raise span.cursor.problem("a tool span has no attribute 'gen_ai.tool.name'")
    written = next((span.attributes[key] for key in _ARGUMENTS if key in span.attributes), None)
    arguments = None
    if written is not None:
        arguments = Cursor(written, span.cursor.place, f"{span.cursor.path}.attributes['{_ARGUMENTS[0]}']").embedded()
    return RecordedCall(
        id=f"e{number}",
        name=name,
        arguments=None if arguments is None else arguments.object(),
        turn=turn,
        where=f"{span.cursor.place} {span.cursor.path}",
        agent=agent,
        at=(span.begin - origin) / 1e9,
        answer=_answer(span, origin, inside),
    )


def _answer(span: _Span, origin: int, inside: list[_Span]) -> Answer | None:
    result = next((span.attributes[key] for key in _RESULT if key in span.attributes), None)
    content = content_of(result) if isinstance(result, str) else result
    status = span.cursor.get("status")
    code = status.object().get("code") if status is not None else None
    said = status.get("message") if status is not None else None
    words = [str(span.attributes.get("error.type", "")), said.text() if said is not None else "", *_exceptions(span)]
    codes = [each.attributes.get("http.response.status_code") for each in (span, *inside)]
    known = [value for value in codes if isinstance(value, int)]
    failed = code in _ERROR or "error.type" in span.attributes
    if content is None and not failed and not known:
        return None
    return Answer(
        content=content,
        # A span that is not marked as an error may still hold a failure in words: the convention does not say.
        failed=True if failed else None,
        error=" ".join(word for word in words if word),
        status=known[-1] if known else None,
        at=(span.end - origin) / 1e9,
    )


def _exceptions(span: _Span) -> Iterator[str]:
    events = span.cursor.get("events")
    for event in events.items() if events is not None else ():
        held = _attributes(event)
        for key in ("exception.type", "exception.message"):
            if isinstance(held.get(key), str):
                yield held[key]


def _agent(span: _Span, by_id: Mapping[str, _Span]) -> str:
    """The agent that a call was made by: the nearest span above that names one."""
    seen: set[str] = set()
    above: _Span | None = span
    while above is not None and above.id not in seen:
        seen.add(above.id)
        if isinstance(above.attributes.get("gen_ai.agent.name"), str):
            return str(above.attributes["gen_ai.agent.name"])
        above = by_id.get(above.parent)
    return "agent"


def _task(spans: list[_Span]) -> str:
    """What the first message of the user says, where messages were captured; empty where they were not."""
    held = (span.attributes.get("gen_ai.input.messages") for span in spans)
    for written in held:
        messages = content_of(written) if isinstance(written, str) else written
        for message in messages if isinstance(messages, list) else ():
            parts = message.get("parts") if isinstance(message, dict) and message.get("role") == "user" else None
            for part in parts if isinstance(parts, list) else ():
                if isinstance(part, dict) and isinstance(part.get("content"), str):
                    return str(part["content"])
    return ""


def _begin(spans: list[_Span]) -> Begin | None:
    for span in spans:
        if isinstance(span.attributes.get(BEGIN), str):
            try:
                held = loads(span.attributes[BEGIN])
                return read_traces([dumps({**held, "type": "begin"})])[0].begin
            except (InvalidJSON, TypeError, SpecificationError):
                raise span.cursor.problem(f"the attribute {BEGIN!r} does not say what the run was judged by") from None
    return None


def _spans(document: Cursor) -> Iterator[Cursor]:
    for resource in document["resourceSpans"].items():
        scopes = resource.get("scopeSpans")
        for scope in scopes.items() if scopes is not None else ():
            held = scope.get("spans")
            yield from held.items() if held is not None else ()


def _span(cursor: Cursor) -> _Span:
    parent = cursor.get("parentSpanId")
    return _Span(
        cursor,
        cursor["name"].text(),
        _nanoseconds(cursor["startTimeUnixNano"]),
        _nanoseconds(cursor["endTimeUnixNano"]),
        _attributes(cursor),
        parent.text() if parent is not None else "",
        cursor["spanId"].text(),
    )


def _nanoseconds(cursor: Cursor) -> int:
    value = cursor.value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20):
        raise cursor.problem("expected nanoseconds as a whole number")
    return int(value)


def _attributes(cursor: Cursor) -> dict[str, JSON]:
    held = cursor.get("attributes")
    if held is None:
        return {}
    return {item["key"].text(): _value(item["value"]) for item in held.items()}


def _value(cursor: Cursor) -> JSON:
    """Return an attribute's value as plain JSON."""
    for kind, value in cursor.object().items():
        inner = Cursor(value, cursor.place, f"{cursor.path}.{kind}")
        match kind:
            case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
                return value
            case "intValue":
                return _whole(inner)
            case "arrayValue":
                return [_value(item) for item in inner["values"].items()] if inner.get("values") else []
            case "kvlistValue":
                held = inner.get("values")
                return {item["key"].text(): _value(item["value"]) for item in held.items()} if held else {}
    return None


def _whole(cursor: Cursor) -> int:
    try:
        return int(str(cursor.value)[:40])
    except ValueError:
        raise cursor.problem("expected a whole number") from None


def _no_calls(name: str, spans: list[_Span]) -> SpecificationError:
    seen = sorted({str(span.attributes.get("gen_ai.operation.name", span.name)) for span in spans})[:5]
    hint = f"spans of these kinds are there: {', '.join(seen)}" if seen else "the file holds no spans"
    return SpecificationError([Problem(Place(name), "no span with gen_ai.operation.name = execute_tool", hint)])
