"""JSON-RPC 2.0 as MCP speaks it over HTTP: one path for every call, and what its request and its reply must be.

A place such as ``/mcp#tools/call/create_ticket`` names the path, the method and, of a call, the tool. What stands
behind ``#`` travels in the body and again in the head (``Mcp-Method``, ``Mcp-Name``: revision 2026-07-28 of MCP), so
that a request can be told from another before its body is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from unacked.canonical import JSON, dumps

__all__ = ["WHOLE", "BrokenReply", "Meant", "Reply", "place_of", "read_reply", "reply"]

CALL = "tools/call"
WHOLE = "complete"
"""The type of every result here: none asks for more before it is one."""
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
_METHOD, _NAME, _REVISION = "mcp-method", "mcp-name", "2026-07-28"
_BEFORE_THE_CALL = frozenset({400, 401, 403, 429})
"""Refusals that a server gives by HTTP alone: it has not looked at the message yet."""
_NOT_UNDERSTOOD: Mapping[int, int | None] = {-32602: 422, -32601: 422, -32700: None, -32600: None}
"""Error codes that say that nothing was done, and the status that says the same; None: they say it of no request."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a request means: its method, and the name of the tool where it calls one."""

    method: str
    name: str | None = None

    @classmethod
    def of(cls, place: str) -> Meant | None:
        """Read what stands behind ``#`` in a place; None where nothing does."""
        _, _, meant = place.partition("#")
        if meant.startswith(f"{CALL}/"):
            return cls(CALL, meant.removeprefix(f"{CALL}/"))
        return cls(meant) if meant else None

    @property
    def within(self) -> tuple[str, ...]:
        """Where in a reply the server says what it would have said without JSON-RPC."""
        return ("result", "structuredContent") if self.method == CALL else ("result",)

    @property
    def headers(self) -> dict[str, str]:
        """The request's headers beside those of any JSON."""
        named = {} if self.name is None else {_NAME: self.name}
        accepted = "application/json, text/event-stream"
        return {"accept": accepted, "mcp-protocol-version": _REVISION, _METHOD: self.method, **named}

    def request(self, arguments: Mapping[str, JSON], request_id: str) -> dict[str, JSON]:
        """Return the message that asks for it under an id of its own."""
        params: dict[str, JSON] = {} if self.name is None else {"name": self.name, "arguments": dict(arguments)}
        meta = {"protocolVersion": _REVISION, "clientCapabilities": {}}
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
        return {"jsonrpc": "2.0", "id": request_id, "method": self.method, "params": params}

    def arguments(self, message: JSON) -> dict[str, JSON] | None:
        """Return the arguments in a message; None where it is no request, or none for this."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not _is_id(message.get("id")):
            return None
        params = message.get("params", {})
        if message.get("method") != self.method or not isinstance(params, dict) or params.get("name") != self.name:
            return None
        given = params.get("arguments")
        if given is None:
            return {}
        return given if isinstance(given, dict) else None


def place_of(path: str, headers: Mapping[str, str]) -> str:
    """Return the place that a request names by its path and head, header names in lower case."""
    method, name = headers.get(_METHOD), headers.get(_NAME)
    if method is None:
        return path
    return f"{path}#{method}" if name is None else f"{path}#{method}/{quote(name, safe='')}"


def _is_id(value: JSON) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


# The reply


def reply(meant: Meant, request_id: JSON, status: int, body: Mapping[str, JSON]) -> tuple[int, dict[str, JSON]]:
    """Return the HTTP status and the message by which a server says what it would say by ``status`` and ``body``.

    A call whose arguments do not fit is an error of the protocol, one that failed a result that says so.
    """
    if status in _BEFORE_THE_CALL:
        return status, dict(body)
    message: dict[str, JSON] = {"jsonrpc": "2.0", "id": request_id}
    if status < 400 and meant.method != CALL:
        return 200, {**message, "result": {"resultType": WHOLE, **body}}
    if status == 422 or meant.method != CALL:
        code = INVALID_PARAMS if status == 422 else INTERNAL_ERROR
        return 200, {**message, "error": {"code": code, "message": str(body.get("error")), "data": dict(body)}}
    failed = status >= 400
    content: dict[str, JSON] = {**body, "status": status} if failed else dict(body)
    texts = [{"type": "text", "text": dumps(content)}]
    result = {"resultType": WHOLE, "content": texts, "structuredContent": content, "isError": failed}
    return 200, {**message, "result": result}


class BrokenReply(Exception):
    """A message from which nothing can be taken: where it is wrong, and what should have stood there.

    ``unmatched``: it answers another request, so this one has got no answer.
    """

    def __init__(self, pointer: str, expected: str, *, unmatched: bool = False) -> None:
        super().__init__(f"{pointer}: expected {expected}")
        self.pointer, self.expected, self.unmatched = pointer, expected, unmatched


@dataclass(frozen=True, slots=True)
class Reply:
    """What a message says: a body, and the status that says the same; None where it says that all went well."""

    body: Mapping[str, JSON]
    status: int | None = None


def read_reply(meant: Meant, request_id: str, message: Mapping[str, JSON]) -> Reply:
    """Take out of a reply what the server says; raises BrokenReply."""
    if message.get("jsonrpc") != "2.0":
        raise BrokenReply("/jsonrpc", "2.0")
    if message.get("id") != request_id:
        raise BrokenReply("/id", "the id of the request", unmatched=_is_id(message.get("id")))
    if ("result" in message) is ("error" in message):
        raise BrokenReply("/result", "there, or an error in its place, and not both")
    if "error" in message:
        return _read_error(message["error"])
    result = message["result"]
    if not isinstance(result, dict):
        raise BrokenReply("/result", "an object")
    if meant.method != CALL:
        return Reply(result)
    failed, content = result.get("isError", False), result.get("structuredContent")
    if not isinstance(failed, bool):
        raise BrokenReply("/result/isError", "a boolean")
    if not isinstance(result.get("content"), list):
        raise BrokenReply("/result/content", "an array")
    if not isinstance(content, dict):
        raise BrokenReply("/result/structuredContent", "an object")
    return _read_failure(content) if failed else Reply(content)


def _read_error(error: JSON) -> Reply:
    """An error of the protocol: few codes say that nothing was done."""
    if not isinstance(error, dict) or type(error.get("code")) is not int or not isinstance(error.get("message"), str):
        raise BrokenReply("/error", "an object with a code and a message")
    code = error["code"]
    status = _NOT_UNDERSTOOD.get(code, 500)
    if status is None:
        raise BrokenReply("/error/code", "that of an answer to this request")
    return Reply({"error": error["message"]}, status)


def _read_failure(content: Mapping[str, JSON]) -> Reply:
    status = content.get("status")
    if type(status) is not int or not 400 <= status <= 599:
        raise BrokenReply("/result/isError", "false, or beside a status from 400 to 599 in structuredContent")
    return Reply({name: value for name, value in content.items() if name != "status"}, status)
