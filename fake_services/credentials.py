"""Credentials of other programs: a rotation replaces one for good, and nothing tells afterwards whose it was."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.canonical import JSON
from unacked.services import Call, Field, RefusedError, Result, Route, Service, Setting, check_seed, seed_rows

TEXT = Field()
VERSION = Field((int,), required=False)


class CredentialStore(Service):
    """A version rises with every rotation, whoever asked for it; a secret value never leaves the store."""

    name = "credentials"

    def rotate(self, call: Call) -> Result:
        """Replace a credential: whoever still uses the old one is locked out."""
        credential = self._credential(call)
        credential["version"] += 1
        credential["rotations"] += 1
        return Result(200, {"name": credential["name"], "version": credential["version"]}, committed=True)

    def get(self, call: Call) -> Result:
        """Show what may be known of a credential; its version proves no request."""
        credential = self._credential(call)
        return Result(200, {"name": credential["name"], "version": credential["version"]})

    def _credential(self, call: Call) -> dict[str, JSON]:
        credential: dict[str, JSON] | None = self.state["credentials"].get(call.path["name"])
        if credential is None:
            raise RefusedError(404, "no_such_credential")
        return credential

    def summary(self) -> dict[str, JSON]:
        """Count the rotations; ``surplus_rotations`` are those after the first of the same credential."""
        credentials = self.state["credentials"].values()
        return {
            "credentials": len(credentials),
            "versions": sum(credential["version"] for credential in credentials),
            "rotations": sum(credential["rotations"] for credential in credentials),
            "surplus_rotations": sum(max(0, credential["rotations"] - 1) for credential in credentials),
        }

    routes = (
        Route(
            "rotate_credential",
            "POST",
            "/v1/credentials/{name}/rotate",
            rotate,
            fields={"request_id": Field(required=False)},
        ),
        Route("get_credential", "GET", "/v1/credentials/{name}", get),
    )


SEED_CREDENTIAL = {"name": TEXT, "version": VERSION}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's credentials; raises SeedError where the seed does not fit."""
    check_seed(seed, ["credentials"])
    credentials = seed_rows(seed, "credentials", "name", SEED_CREDENTIAL)
    for credential in credentials.values():
        credential["version"] = 1 if credential["version"] is None else credential["version"]
        credential["rotations"] = 0
    return CredentialStore(setting, {"credentials": credentials})
