"""Tools of the service ``inbox``: receive the next event of a queue, and acknowledge one."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import OPTIONAL_REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

TOOLS = (
    Tool(
        Operation(
            name="receive_event",
            effect=Effect.READ,
            description=(
                "Receive the next event. One that is not acknowledged in time is delivered again, under the same "
                "event_id; that an event was delivered before does not say that anybody has handled it."
            ),
            result=(
                Argument("event_id"),
                Argument("text"),
                Argument("delivery", "integer", description="1 at the first delivery of this event."),
                Argument("acknowledge_within_s", "number"),
            ),
            categories=CATEGORY_SETS["http_read"],
            tags=frozenset({"delivery"}),
            target_class="event",
            identity="event_id",
        ),
        Endpoint(service="inbox", method="GET", path="/v1/events/next"),
    ),
    Tool(
        Operation(
            name="acknowledge_event",
            effect=Effect.UPDATE,
            description=(
                "Say that an event was handled, so that it is not delivered again. Acknowledging it once more changes "
                "nothing; it is refused once the time to acknowledge is over, until the event is delivered again."
            ),
            arguments=(Argument("event_id"), OPTIONAL_REQUEST),
            result=(Argument("event_id"), Argument("acknowledged", "boolean")),
            categories=CATEGORY_SETS["http_write"],
            tags=frozenset({"acknowledgement"}),
            target="event_id",
            target_class="event",
            request="request_id",
            reconcile="receive_event",
        ),
        Endpoint(
            service="inbox",
            method="POST",
            path="/v1/acknowledgements",
            body=("event_id", "request_id"),
            failures=NOT_DONE,
        ),
    ),
)
