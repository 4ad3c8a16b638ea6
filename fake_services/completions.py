"""Text completion, paid by the request: each one counts, and each one made again is charged again."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.canonical import JSON
from unacked.services import Call, Field, Moment, RefusedError, Result, Route, Service, Setting, check_seed, seed_rows

TEXT = Field()
WORDS = 12
"""How much of a prompt stands in the text that is made of it."""


class Completions(Service):
    """A completion is the beginning of its prompt: nothing here depends on what a model would have said."""

    name = "completions"

    def complete(self, call: Call) -> Result:
        """Complete a text with one of the models that there are."""
        model = call.fields["model"]
        if model not in self.state["models"]:
            raise RefusedError(404, "no_such_model")
        completion_id = self.ids.new("cmp")
        self.state["completions"].append(completion_id)
        text = " ".join(call.fields["prompt"].split()[:WORDS])
        return Result(200, {"completion_id": completion_id, "model": model, "text": text}, committed=True)

    def summary(self) -> dict[str, JSON]:
        """Count what was completed and charged, and the requests for it that came over the wire, done or not."""
        received = [entry for entry in self.ledger if entry.moment is Moment.RECEIVED]
        return {
            "completions": len(self.state["completions"]),
            "completion_requests": sum(entry.operation == "complete_text" for entry in received),
        }

    routes = (
        Route(
            "complete_text",
            "POST",
            "/v1/completions",
            complete,
            fields={"model": TEXT, "prompt": TEXT, "request_id": Field(required=False)},
        ),
    )


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's models; raises SeedError where the seed does not fit."""
    check_seed(seed, ["models"])
    return Completions(setting, {"models": seed_rows(seed, "models", "model", {"model": TEXT}), "completions": []})
