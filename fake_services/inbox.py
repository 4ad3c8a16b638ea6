"""A message queue with at-least-once delivery: what is not acknowledged in time is delivered again."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.canonical import JSON
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
    seed_rows,
)

TEXT = Field()
OPTIONAL = Field(required=False)
EVENT = {"event_id": TEXT, "text": TEXT}


class Inbox(Service):
    """An event is out until the visibility timeout; then it is delivered again, until it is acknowledged."""

    name = "inbox"

    def __init__(self, setting: Setting, state: dict[str, JSON]) -> None:
        super().__init__(setting, state)
        self._clock = setting.clock

    def receive(self, call: Call) -> Result:  # noqa: ARG002 - whoever asks gets what is next
        """Deliver the event that has waited longest; its id stays the same, its delivery count goes up."""
        now = self._clock.now()
        waiting = [
            event for event in self.state["events"].values() if not event["acknowledged"] and event["visible_at"] <= now
        ]
        if not waiting:
            raise RefusedError(404, "no_event")
        event = min(waiting, key=lambda waits: waits["visible_at"])
        event["deliveries"] += 1
        event["visible_at"] = now + self.state["visibility_timeout_s"]
        shown = {name: event[name] for name in EVENT}
        within = self.state["visibility_timeout_s"]
        return Result(200, {**shown, "delivery": event["deliveries"], "acknowledge_within_s": within})

    def acknowledge(self, call: Call) -> Result:
        """End the deliveries of an event that is out; doing so again changes nothing."""
        event = self.state["events"].get(call.fields["event_id"])
        if event is None:
            raise RefusedError(404, "no_such_event")
        if not event["acknowledged"] and event["visible_at"] <= self._clock.now():
            raise RefusedError(400, "not_out_for_delivery")
        event["acknowledged"] = True
        return Result(200, {"event_id": event["event_id"], "acknowledged": True}, committed=True)

    def _redeliver(self, given: Mapping[str, JSON]) -> None:
        event = self.state["events"].get(given["id"])
        if event is not None:
            event.update(acknowledged=False, visible_at=0.0)

    changes = {"redeliver": _redeliver}  # noqa: RUF012 - a table of the class, as ``routes`` is

    def summary(self) -> dict[str, JSON]:
        """Count events, those that are not acknowledged, and how often any was delivered."""
        events = self.state["events"].values()
        return {
            "events": len(events),
            "unacknowledged": sum(not event["acknowledged"] for event in events),
            "deliveries": sum(event["deliveries"] for event in events),
        }

    routes = (
        Route("receive_event", "GET", "/v1/events/next", receive),
        Route(
            "acknowledge_event",
            "POST",
            "/v1/acknowledgements",
            acknowledge,
            fields={"event_id": TEXT, "request_id": OPTIONAL},
        ),
    )


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's events, none of them delivered yet; raises SeedError where it does not fit."""
    check_seed(seed, ["events", "visibility_timeout_s"])
    timeout_s = seed.get("visibility_timeout_s", 30)
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or timeout_s <= 0:
        raise SeedError(("visibility_timeout_s",), f"expected a number of seconds above 0, got {timeout_s!r}")
    events = seed_rows(seed, "events", "event_id", EVENT)
    for event in events.values():
        event.update(deliveries=0, visible_at=0.0, acknowledged=False)
    return Inbox(setting, {"events": events, "visibility_timeout_s": timeout_s})
