"""Logs of Inspect AI: ``.eval`` (a ZIP with one JSON file a sample) and ``.json``; read without Inspect itself."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.errors import SpecificationError
from unacked.incident.read.conversation import Conversation, content_of
from unacked.incident.read.cursor import Cursor, gather
from unacked.incident.recording import Answer, Recording

__all__ = ["read_sample", "sample_name"]

_ATTACHMENT = "attachment://"


def read_sample(sample: Cursor, name: str) -> Recording:
    """Read one sample of a log; raises SpecificationError with every message that does not fit."""
    identity, epoch = sample.object().get("id"), sample.object().get("epoch", 1)
    attachments = sample.get("attachments")
    reader = _Reader(attachments.object() if attachments is not None else {})
    gather(sample["messages"].items(), reader.message)
    return reader.talk.recording(f"{name}#{identity}:{epoch}", "inspect")


class _Reader:
    def __init__(self, attachments: Mapping[str, object]) -> None:
        self.talk = Conversation()
        self._attachments = attachments

    def message(self, message: Cursor) -> None:
        role = message["role"].text()
        if role == "tool":
            self._answer(message)
            return
        content = message.get("content")
        self.talk.say(role, "" if content is None else self._text(content))
        calls = message.get("tool_calls")
        for call in calls.items() if calls is not None else ():
            if call.get("parse_error") is not None:
                raise call.problem("the model's arguments could not be read when the log was written")
            arguments = Cursor(self._whole(call["arguments"].value), call.place, f"{call.path}.arguments")
            self.talk.call(call["id"].text(), call["function"].text(), arguments, call)

    def _answer(self, message: Cursor) -> None:
        content, error = message.get("content"), message.get("error")
        text = "" if content is None else self._text(content)
        kind = ""
        if error is not None:
            said = error.get("message")
            kind = f"{error['type'].text()} {'' if said is None else self._resolved(said.text())}".strip()
        # Without an error the tool returned; what a tool returns after catching its own is its own affair.
        answer = Answer(content=content_of(text), failed=True if error is not None else None, error=kind)
        self.talk.answer(message["tool_call_id"].text(), answer, message)

    def _text(self, content: Cursor) -> str:
        if isinstance(content.value, str):
            return self._resolved(content.value)
        texts = [block.get("text") for block in content.items()]
        return "\n".join(self._resolved(text.text()) for text in texts if text is not None)

    def _whole(self, value: object) -> object:
        """Put long texts back that the log keeps apart."""
        if isinstance(value, str):
            return self._resolved(value)
        if isinstance(value, dict):
            return {key: self._whole(item) for key, item in value.items()}
        return [self._whole(item) for item in value] if isinstance(value, list) else value

    def _resolved(self, text: str) -> str:
        if not text.startswith(_ATTACHMENT):
            return text
        held = self._attachments.get(text.removeprefix(_ATTACHMENT))
        return held if isinstance(held, str) else text


def sample_name(sample: Cursor) -> str:
    """Return how a sample is named on the command line: its id, and its epoch after a colon."""
    held = sample.object()
    if "id" not in held:
        raise SpecificationError(sample.problem("is no sample: it has no member 'id'").problems)
    return f"{held['id']}:{held.get('epoch', 1)}"
