"""Traffic of MCP: JSON-RPC messages, one a line. Only ``tools/call`` counts; the rest goes by."""

from __future__ import annotations

from collections.abc import Iterable

from unacked.canonical import JSON
from unacked.incident.read.conversation import Conversation, content_of, joined_texts
from unacked.incident.read.cursor import Cursor, gather
from unacked.incident.recording import Answer, Recording

__all__ = ["read_traffic"]


def read_traffic(lines: Iterable[Cursor], name: str) -> Recording:
    """Read JSON-RPC messages in the order in which they were seen; raises SpecificationError."""
    traffic = _Traffic()
    gather(lines, traffic.line)
    return traffic.talk.recording(name, "mcp")


class _Traffic:
    """Both directions in one file: an id is known only together with the method that was asked for under it."""

    def __init__(self) -> None:
        self.talk = Conversation()
        self._asked: set[str] = set()

    def line(self, line: Cursor) -> None:
        for message in line.items() if isinstance(line.value, list) else (line,):
            self._message(message)

    def _message(self, message: Cursor) -> None:
        if message["jsonrpc"].value != "2.0":
            raise message.problem("is no JSON-RPC 2.0 message")
        method, number = message.get("method"), message.get("id")
        if method is not None:
            if method.text() == "tools/call" and number is not None:
                parameters = message["params"]
                key = _key(number)
                self.talk.new_turn()
                self.talk.call(key, parameters["name"].text(), parameters.get("arguments") or _empty(message), message)
                self._asked.add(key)
            return
        answer = _answer(message)
        if number is None or answer is None:
            return
        if _key(number) in self._asked:
            self._asked.discard(_key(number))
            self.talk.answer(_key(number), answer, message)
        elif self._asked:
            self.talk.notes.append("an answer carries an id that no waiting call has; it was taken for nobody's")


def _key(number: Cursor) -> str:
    if isinstance(number.value, bool) or not isinstance(number.value, str | int):
        raise number.problem("an id is a text or a whole number")
    return f"{type(number.value).__name__} {number.value}"


def _answer(message: Cursor) -> Answer | None:
    """Return the answer to a tool call; None for the answer to something else."""
    error, result = message.get("error"), message.get("result")
    if error is not None:
        code: JSON = error.object().get("code")
        said = error.get("message")
        return Answer(
            content="" if said is None else said.text(), failed=True, error=f"JSON-RPC error {code}" if code else ""
        )
    if result is None or not isinstance(result.value, dict) or "content" not in result.value:
        return None
    structured = result.get("structuredContent")
    text = joined_texts(result["content"])
    content = content_of(text) if structured is None else structured.value
    return Answer(content=content, failed=result.value.get("isError") is True)


def _empty(message: Cursor) -> Cursor:
    return Cursor({}, message.place, message.path)
