"""Reading traces of others: which format a file has, and what it says. Readers never guess.

openai-chat        a list of messages, with ``tool_calls`` and the role ``tool``
openai-responses   a list of items, ``function_call`` and ``function_call_output``
anthropic          a list of messages with blocks, ``tool_use`` and ``tool_result``
otel               OTLP JSON, spans of the GenAI conventions
inspect            a log of Inspect AI, ``.eval`` or ``.json``
mcp                JSON-RPC messages, one a line
neutral            the neutral trace of ``unacked judge``
"""

from unacked.incident.read.files import FORMATS, read_recording

__all__ = ["FORMATS", "read_recording"]
