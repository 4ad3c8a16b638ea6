"""Puts calls and answers of a conversation together, whichever vendor's words it is written in."""

from __future__ import annotations

from dataclasses import replace

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.incident.read.cursor import Cursor
from unacked.incident.recording import Answer, RecordedCall, Recording

__all__ = ["Conversation", "content_of", "joined_texts"]


class Conversation:
    """Collects the calls of one trace; ids may be used again once they were answered."""

    def __init__(self) -> None:
        self.task = ""
        self.notes: list[str] = []
        self._calls: list[RecordedCall] = []
        self._waiting: dict[str, int] = {}
        self._turn = 0
        self._closed = True

    def say(self, role: str, text: str) -> None:
        """Hear a message without calls; the first one of the user is the task."""
        self._closed = True
        if role == "user" and not self.task:
            self.task = text.strip()

    def new_turn(self) -> None:
        """Begin a turn: what is called from here on was not decided together with what was called before."""
        self._closed = True

    def call(
        self,
        call_id: str,
        name: str,
        arguments: Cursor | None,
        where: Cursor,
        *,
        agent: str = "agent",
        at: float | None = None,
    ) -> None:
        """Hear a call; raises SpecificationError where its arguments are no JSON object."""
        given = None if arguments is None else arguments.embedded().object()
        if call_id in self._waiting:
            raise where.problem("the id of this call is taken by one that was not answered yet")
        if self._closed:
            self._turn += 1
            self._closed = False
        self._waiting[call_id] = len(self._calls)
        self._calls.append(
            RecordedCall(
                id=f"e{len(self._calls)}",
                name=name,
                arguments=given,
                turn=self._turn,
                where=f"{where.place} {where.path}",
                agent=agent,
                at=at,
            )
        )

    def answer(self, call_id: str, answer: Answer, where: Cursor) -> None:
        """Hear the answer to a call; raises SpecificationError where no such call waits for one."""
        if call_id not in self._waiting:
            raise where.problem("answers a call that was never made, or was answered already")
        index = self._waiting.pop(call_id)
        self._calls[index] = replace(self._calls[index], answer=answer)
        self._closed = True

    def recording(self, name: str, form: str) -> Recording:
        """Return what was heard."""
        return Recording(
            name=name, form=form, calls=tuple(self._calls), task=self.task, notes=tuple(dict.fromkeys(self.notes))
        )


def content_of(text: str) -> JSON:
    """Return the JSON value that a text is, or the text."""
    try:
        return loads(text)
    except InvalidJSON:
        return text


def joined_texts(content: Cursor) -> str:
    """Return the text of a message's content: a text, or an array of blocks of which some have one."""
    if isinstance(content.value, str):
        return content.value
    texts = []
    for block in content.items():
        part = block if isinstance(block.value, str) else block.get("text", "output_text", "input_text")
        if part is not None:
            texts.append(part.text())
    return "\n".join(texts)
