"""Message lists of OpenAI: Chat Completions, and the items of the Responses API.

Neither format has a flag for a call that failed: the answer is a text, and what it means stays unknown here.
"""

from __future__ import annotations

from unacked.incident.read.conversation import Conversation, content_of, joined_texts
from unacked.incident.read.cursor import Cursor, gather
from unacked.incident.recording import Answer, Recording

__all__ = ["read_chat", "read_responses"]


def read_chat(messages: Cursor, name: str) -> Recording:
    """Read a list of Chat Completions messages; raises SpecificationError with every message that does not fit."""
    talk = Conversation()
    gather(messages.items(), lambda message: _message(talk, message))
    return talk.recording(name, "openai-chat")


def _message(talk: Conversation, message: Cursor) -> None:
    role = message["role"].text()
    content = message.get("content")
    text = "" if content is None else joined_texts(content)
    if role == "tool":
        talk.answer(message["tool_call_id"].text(), Answer(content=content_of(text)), message)
        return
    talk.say(role, text)
    calls = message.get("tool_calls")
    for call in calls.items() if calls is not None else ():
        function = call.get("function")
        if function is None:
            raise call.problem("is no call of a function", "custom tools take a text, which no operation does")
        talk.call(call["id"].text(), function["name"].text(), function.get("arguments"), call)


def read_responses(items: Cursor, name: str) -> Recording:
    """Read the items of a Responses conversation, input and output in their order; raises SpecificationError."""
    talk = Conversation()
    gather(items.items(), lambda item: _item(talk, item))
    return talk.recording(name, "openai-responses")


def _item(talk: Conversation, item: Cursor) -> None:
    kind = item.get("type")
    match kind.text() if kind is not None else "message":
        case "function_call":
            talk.call(item["call_id"].text(), item["name"].text(), item.get("arguments"), item)
        case "function_call_output":
            output = item["output"]
            talk.answer(item["call_id"].text(), Answer(content=content_of(joined_texts(output))), item)
        case "message":
            content = item.get("content")
            talk.say(item["role"].text(), "" if content is None else joined_texts(content))
        case _:  # reasoning, hosted tools: nothing that an operation of ours could repeat
            return
