"""Records with notes: a store whose create may be lost on the way back, and looked up by request id."""

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
    repeats,
    seed_rows,
)

TEXT = Field()
OPTIONAL = Field(required=False)


class Records(Service):
    """A record has a title, notes, and the last patch; nothing keeps two of them from being alike."""

    name = "records"

    def create(self, call: Call) -> Result:
        """Make a new record, whether or not one like it exists."""
        records = self.state["records"]
        record_id = self.ids.new("rec", records)
        title = call.fields["title"]
        records[record_id] = {
            "record_id": record_id,
            "title": title,
            "notes": [],
            "patch": None,
            "request_id": call.request_id,
        }
        return Result(201, {"record_id": record_id, "title": title}, committed=True)

    def find(self, call: Call) -> Result:
        """List the records that a request made; the list is always complete."""
        wanted = call.fields["request_id"]
        items = [
            {"record_id": record["record_id"]}
            for record in self.state["records"].values()
            if record["request_id"] == wanted
        ]
        return Result(200, {"items": items, "complete": True})

    def get(self, call: Call) -> Result:
        """Show one record; its notes as a count."""
        record = self._record(call)
        shown = {name: record[name] for name in ("record_id", "title", "patch")}
        return Result(200, {**shown, "notes": len(record["notes"])})

    def attach_note(self, call: Call) -> Result:
        """Append a note, whether or not one like it is there."""
        notes = self._record(call)["notes"]
        notes.append({"text": call.fields["text"], "request_id": call.request_id})
        return Result(201, {"notes": len(notes)}, committed=True)

    def update(self, call: Call) -> Result:
        """Set the record's patch."""
        self._record(call)["patch"] = call.fields["patch"]
        self.state["updates"] += 1
        return Result(200, {"patch": call.fields["patch"]}, committed=True)

    def _record(self, call: Call) -> dict[str, JSON]:
        record: dict[str, JSON] | None = self.state["records"].get(call.path["record_id"])
        if record is None:
            raise RefusedError(404, "no_such_record")
        return record

    def summary(self) -> dict[str, JSON]:
        """Count what is there; ``duplicate_*`` and ``updates`` make an effect that was repeated visible."""
        records = self.state["records"].values()
        return {
            "records": len(records),
            "notes": sum(len(record["notes"]) for record in records),
            "patched": sum(record["patch"] is not None for record in records),
            "updates": self.state["updates"],
            "duplicate_records": repeats(records, ("title",), ("request_id",)),
            "duplicate_notes": sum(repeats(record["notes"], ("text",), ("request_id",)) for record in records),
        }

    routes = (
        Route(
            "create_record",
            "POST",
            "/v1/records",
            create,
            fields={"title": TEXT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("lookup_by_request_id", "GET", "/v1/records", find, fields={"request_id": TEXT}),
        Route("get_record", "GET", "/v1/records/{record_id}", get),
        Route(
            "attach_note",
            "POST",
            "/v1/records/{record_id}/notes",
            attach_note,
            fields={"text": TEXT, "request_id": OPTIONAL},
        ),
        Route(
            "update_record",
            "PATCH",
            "/v1/records/{record_id}",
            update,
            fields={"patch": TEXT, "request_id": OPTIONAL},
        ),
    )


SEED_RECORD = {
    "record_id": TEXT,
    "title": TEXT,
    "notes": Field((list,), required=False),
    "patch": OPTIONAL,
    "request_id": OPTIONAL,
}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's records; raises SeedError where the seed does not fit."""
    check_seed(seed, ["records"])
    records = seed_rows(seed, "records", "record_id", SEED_RECORD)
    for number, record in enumerate(records.values()):
        record["notes"] = _notes(number, record["notes"] or [])
    return Records(setting, {"records": records, "updates": 0})


def _notes(number: int, texts: list[JSON]) -> list[JSON]:
    for position, text in enumerate(texts):
        if not TEXT.accepts(text):
            raise SeedError(("records", number, "notes", position), f"expected {TEXT}, got {text!r}")
    return [{"text": text, "request_id": None} for text in texts]
