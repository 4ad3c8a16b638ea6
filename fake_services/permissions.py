"""Permissions: who may do what. A grant cannot be looked up by its request, only read back by its subject."""

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


class Permissions(Service):
    """A grant is a row of its own, so a repeated one stays behind; a revocation takes every row of a scope."""

    name = "permissions"

    def grant(self, call: Call) -> Result:
        """Give a known subject a scope, whether or not it has it already."""
        grants = self.state["grants"]
        subject = self._subject(call.fields["subject"])
        grant_id = self.ids.new("grant", grants)
        made = {"grant_id": grant_id, "subject": subject, "scope": call.fields["scope"]}
        grants[grant_id] = {**made, "request_id": call.request_id}
        return Result(201, made, committed=True)

    def revoke(self, call: Call) -> Result:
        """Take a scope away from a subject that has it."""
        subject, scope = self._subject(call.path["subject"]), call.path["scope"]
        held = [key for key, row in self.state["grants"].items() if (row["subject"], row["scope"]) == (subject, scope)]
        if not held:
            raise RefusedError(404, "no_such_permission")
        for grant_id in held:
            del self.state["grants"][grant_id]
        self.state["revocations"] += 1
        return Result(200, {"subject": subject, "scope": scope}, committed=True)

    def get(self, call: Call) -> Result:
        """Show the scopes of a subject, each once, in the order of the alphabet."""
        subject = self._subject(call.path["subject"])
        scopes = {row["scope"] for row in self.state["grants"].values() if row["subject"] == subject}
        return Result(200, {"subject": subject, "scopes": sorted(scopes)})

    def _subject(self, name: str) -> str:
        if name not in self.state["subjects"]:
            raise RefusedError(404, "no_such_subject")
        return name

    def summary(self) -> dict[str, JSON]:
        """Count the grants in force; ``surplus_grants`` makes one that was made twice visible."""
        grants = self.state["grants"].values()
        return {
            "grants": len(grants),
            "revocations": self.state["revocations"],
            "surplus_grants": repeats(grants, ("subject", "scope"), ("request_id",)),
        }

    routes = (
        Route(
            "grant_permission",
            "POST",
            "/v1/permissions",
            grant,
            fields={"subject": TEXT, "scope": TEXT, "request_id": OPTIONAL},
        ),
        Route("get_permissions", "GET", "/v1/subjects/{subject}/permissions", get),
        Route(
            "revoke_permission",
            "DELETE",
            "/v1/subjects/{subject}/permissions/{scope}",
            revoke,
            fields={"request_id": OPTIONAL},
        ),
    )


SEED_GRANT = {"grant_id": TEXT, "subject": TEXT, "scope": TEXT, "request_id": OPTIONAL}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's subjects and grants; raises SeedError where the seed does not fit."""
    check_seed(seed, ["subjects", "grants"])
    subjects = seed.get("subjects", [])
    if not isinstance(subjects, list):
        raise SeedError(("subjects",), f"expected a list, got {subjects!r}")
    for position, name in enumerate(subjects):
        if not TEXT.accepts(name):
            raise SeedError(("subjects", position), f"expected {TEXT}, got {name!r}")
    grants = seed_rows(seed, "grants", "grant_id", SEED_GRANT)
    for number, row in enumerate(grants.values()):
        if row["subject"] not in subjects:
            raise SeedError(("grants", number, "subject"), f"{row['subject']!r} is not among the subjects")
    return Permissions(setting, {"subjects": list(subjects), "grants": grants, "revocations": 0})
