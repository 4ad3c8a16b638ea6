"""Tools of the service ``node``, which speaks MCP: list its tools, file and find tickets, ask how it is, restart it."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Idempotency, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import KEY, REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

TOOLS = (
    Tool(
        Operation(
            name="list_tools",
            effect=Effect.READ,
            description="List the tools of the node, by the names that query_node takes.",
            result=(Argument("tools", "array"),),
            categories=CATEGORY_SETS["http_read"],
            target_class="node",
        ),
        Endpoint(service="node", method="POST", path="/mcp#tools/list"),
    ),
    Tool(
        Operation(
            name="open_ticket",
            effect=Effect.CREATE,
            description="File a ticket at the node. The service ignores idempotency keys here.",
            arguments=(Argument("title"), KEY, REQUEST),
            result=(Argument("ticket_id"),),
            categories=CATEGORY_SETS["http_write"],
            target_class="ticket",
            identity="ticket_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.IGNORED,
            reconcile="find_ticket",
        ),
        Endpoint(
            service="node",
            method="POST",
            path="/mcp#tools/call/create_ticket",
            body=("title", "request_id"),
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="find_ticket",
            effect=Effect.READ,
            description="Find the ticket that a request id filed.",
            arguments=(Argument("request_id"),),
            result=(Argument("ticket_id"), Argument("complete", "boolean")),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="ticket",
            identity="ticket_id",
            request="request_id",
        ),
        Endpoint(service="node", method="POST", path="/mcp#tools/call/find_ticket", body=("request_id",), lookup=True),
    ),
    Tool(
        Operation(
            name="query_node",
            effect=Effect.READ,
            description="Call a tool of the node that takes no arguments and changes nothing, such as status.",
            arguments=(Argument("tool", description="The tool's name at the node."),),
            result=(Argument("state", choices=("running", "stopped")), Argument("restarts", "integer")),
            categories=CATEGORY_SETS["http_read"],
            target="tool",
            target_class="node",
        ),
        Endpoint(service="node", method="POST", path="/mcp#tools/call/{tool}"),
    ),
    Tool(
        Operation(
            name="restart_node",
            effect=Effect.TRIGGER,
            description="Restart a node, whatever it is doing.",
            arguments=(Argument("node_id"),),
            result=(Argument("restarts", "integer"),),
            categories=CATEGORY_SETS["http_write"],
            tags=frozenset({"destructive"}),
            target="node_id",
            target_class="node",
        ),
        Endpoint(
            service="node",
            method="POST",
            path="/mcp#tools/call/restart_node",
            body=("node_id",),
            failures=NOT_DONE,
        ),
    ),
)
