"""How the fake model server talks: three providers' APIs, each read strictly and written plain or as a stream.

talk        what the three have in common: a conversation so far, and one reply
messages, chat, responses    one API each, with the rules that its provider enforces
"""

from unacked.services.speech import chat, messages, responses
from unacked.services.speech.talk import (
    Api,
    ApiRefusedError,
    Conversation,
    Exchange,
    Made,
    Speech,
    Stop,
    server_sent,
)

APIS = {"messages": messages.API, "chat_completions": chat.API, "responses": responses.API}
"""The APIs by the names of the server's operations."""

__all__ = [
    "APIS",
    "Api",
    "ApiRefusedError",
    "Conversation",
    "Exchange",
    "Made",
    "Speech",
    "Stop",
    "server_sent",
]
