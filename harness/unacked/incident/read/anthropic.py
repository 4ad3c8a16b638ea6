"""Message lists of Anthropic: blocks of text, ``tool_use`` and ``tool_result``, the last with a flag for failure."""

from __future__ import annotations

from unacked.incident.read.conversation import Conversation, content_of, joined_texts
from unacked.incident.read.cursor import Cursor, gather
from unacked.incident.recording import Answer, Recording

__all__ = ["read_messages"]


def read_messages(messages: Cursor, name: str) -> Recording:
    """Read a list of messages; raises SpecificationError with every message that does not fit."""
    talk = Conversation()
    gather(messages.items(), lambda message: _message(talk, message))
    return talk.recording(name, "anthropic")


def _message(talk: Conversation, message: Cursor) -> None:
    role, content = message["role"].text(), message["content"]
    talk.new_turn()
    if isinstance(content.value, str):
        talk.say(role, content.value)
        return
    for block in content.items():
        match block["type"].text():
            case "text":
                if role == "user":
                    talk.say(role, block["text"].text())
            case "tool_use":
                talk.call(block["id"].text(), block["name"].text(), block["input"], block)
            case "tool_result":
                talk.answer(block["tool_use_id"].text(), _answer(block), block)


def _answer(block: Cursor) -> Answer:
    content = block.get("content")
    text = "" if content is None else joined_texts(content)
    return Answer(content=content_of(text), failed=block.object().get("is_error") is True)
