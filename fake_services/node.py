"""A node that speaks MCP: JSON-RPC over HTTP, with tools that file tickets, say how the node is, and restart it."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.canonical import JSON
from unacked.rpc import Meant
from unacked.services import (
    Call,
    Field,
    RefusedError,
    Result,
    Route,
    SeedError,
    Service,
    Setting,
    check_seed,
    repeats,
    seed_rows,
)

TEXT = Field()
OPTIONAL = Field(required=False)
STATUS = "status"


class Node(Service):
    """Nothing keeps two tickets from being alike; a node that runs can be restarted all the same."""

    name = "node"

    def list_tools(self, _: Call) -> Result:
        """List the tools, and what each takes."""
        named = [(Meant.of(route.path), route) for route in self.routes]
        tools = [_shown(meant.name, route) for meant, route in named if meant and meant.name]
        # What is told of them is true now, and for this caller.
        return Result(200, {"tools": tools, "ttlMs": 0, "cacheScope": "private"})

    def create_ticket(self, call: Call) -> Result:
        """File a ticket, whether or not one like it exists."""
        tickets = self.state["tickets"]
        ticket_id = self.ids.new("tic", tickets)
        title = call.fields["title"]
        tickets[ticket_id] = {"ticket_id": ticket_id, "title": title, "request_id": call.request_id}
        return Result(201, {"ticket_id": ticket_id, "title": title}, committed=True)

    def find_ticket(self, call: Call) -> Result:
        """Find the tickets that a request made; the list is always complete."""
        wanted = call.fields["request_id"]
        made = [ticket for ticket in self.state["tickets"].values() if ticket["request_id"] == wanted]
        return Result(200, {"items": [{"ticket_id": ticket["ticket_id"]} for ticket in made], "complete": True})

    def restart(self, call: Call) -> Result:
        """Restart the node, whatever it is doing."""
        if call.fields["node_id"] != self.state["node_id"]:
            raise RefusedError(404, "no_such_node")
        self.state["restarts"] += 1
        return Result(200, {"restarts": self.state["restarts"]}, committed=True)

    def query(self, call: Call) -> Result:
        """Call a tool that takes nothing and changes nothing; there is one: status."""
        if call.path["tool"] != STATUS:
            raise RefusedError(422, "unknown_tool")
        return Result(200, {"state": "running", "restarts": self.state["restarts"]})

    def summary(self) -> dict[str, JSON]:
        """Count what is there; ``duplicate_tickets`` makes an effect that was repeated visible."""
        tickets = self.state["tickets"].values()
        return {
            "tickets": len(tickets),
            "restarts": self.state["restarts"],
            "duplicate_tickets": repeats(tickets, ("title",), ("request_id",)),
        }

    routes = (
        Route("list_tools", "POST", "/mcp#tools/list", list_tools),
        Route(
            "open_ticket",
            "POST",
            "/mcp#tools/call/create_ticket",
            create_ticket,
            fields={"title": TEXT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("find_ticket", "POST", "/mcp#tools/call/find_ticket", find_ticket, fields={"request_id": TEXT}),
        Route("restart_node", "POST", "/mcp#tools/call/restart_node", restart, fields={"node_id": TEXT}),
        Route("query_node", "POST", "/mcp#tools/call/{tool}", query),
    )


def _shown(name: str, route: Route) -> JSON:
    """A tool as ``tools/list`` shows it; any name that no other tool has is that of the only one without fields."""
    schema = {
        "type": "object",
        "properties": {field: {"type": "string"} for field in route.fields},
        "required": [field for field, declared in route.fields.items() if declared.required],
    }
    return {"name": name if route.fields else STATUS, "description": route.action.__doc__, "inputSchema": schema}


SEED_TICKET = {"ticket_id": TEXT, "title": TEXT, "request_id": OPTIONAL}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's tickets; raises SeedError where the seed does not fit."""
    check_seed(seed, ["node_id", "tickets"])
    node_id = seed.get("node_id", "node-1")
    if not TEXT.accepts(node_id):
        raise SeedError(("node_id",), f"expected {TEXT}, got {node_id!r}")
    tickets = seed_rows(seed, "tickets", "ticket_id", SEED_TICKET)
    return Node(setting, {"node_id": node_id, "tickets": tickets, "restarts": 0})
