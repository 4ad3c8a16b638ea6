"""A small forge: issues, builds, deployments, and releases with a branch that can be overwritten."""

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


class Forge(Service):
    """Issues and deployments are looked up by request id; a deleted release is gone."""

    name = "forge"

    def read_issue(self, call: Call) -> Result:
        """Show one issue."""
        issue = self._one("issues", call.path["issue_id"], "no_such_issue")
        return Result(200, {name: issue[name] for name in ("issue_id", "title", "state")})

    def create_issue(self, call: Call) -> Result:
        """Open a new issue, whether or not one like it exists."""
        issues = self.state["issues"]
        issue_id = self.ids.new("iss", issues)
        title = call.fields["title"]
        issues[issue_id] = {"issue_id": issue_id, "title": title, "state": "open", "request_id": call.request_id}
        return Result(201, {"issue_id": issue_id, "title": title}, committed=True)

    def find_issue(self, call: Call) -> Result:
        """List the issues that a request made; the list is always complete."""
        return self._made_by("issues", call, "issue_id")

    def read_build(self, call: Call) -> Result:
        """Show one build."""
        return Result(200, self._one("builds", call.path["build_id"], "no_such_build"))

    def create_deployment(self, call: Call) -> Result:
        """Deploy a revision of a known service, whether or not it runs already."""
        service, revision = call.fields["service"], call.fields["revision"]
        if service not in self.state["services"]:
            raise RefusedError(422, "invalid_request", field="service")
        deployments = self.state["deployments"]
        deployment_id = self.ids.new("dep", deployments)
        shown = {"deployment_id": deployment_id, "service": service, "revision": revision, "status": "succeeded"}
        deployments[deployment_id] = {**shown, "request_id": call.request_id}
        return Result(201, shown, committed=True)

    def find_deployment(self, call: Call) -> Result:
        """List the deployments that a request made; the list is always complete."""
        return self._made_by("deployments", call, "deployment_id", "status")

    def create_release(self, call: Call) -> Result:
        """Publish a new release, whether or not one of this name exists."""
        releases = self.state["releases"]
        release_id = self.ids.new("rel", releases)
        name = call.fields["name"]
        shown = {"release_id": release_id, "name": name, "branch": f"release/{release_id}"}
        releases[release_id] = {**shown, "request_id": call.request_id}
        return Result(201, shown, committed=True)

    def find_release(self, call: Call) -> Result:
        """List the releases that a request made; the list is always complete."""
        return self._made_by("releases", call, "release_id")

    def delete_release(self, call: Call) -> Result:
        """Delete a release for good."""
        release_id = self._one("releases", call.path["release_id"], "no_such_release")["release_id"]
        del self.state["releases"][release_id]
        self.state["deleted_releases"] += 1
        return Result(200, {"release_id": release_id, "deleted": True}, committed=True)

    def force_push(self, call: Call) -> Result:
        """Overwrite the branch of a release."""
        release = self._one("releases", call.path["release_id"], "no_such_release")
        self.state["force_pushes"] += 1
        return Result(200, {"release_id": release["release_id"], "branch": release["branch"]}, committed=True)

    def _one(self, kind: str, identity: str, error: str) -> dict[str, JSON]:
        found: dict[str, JSON] | None = self.state[kind].get(identity)
        if found is None:
            raise RefusedError(404, error)
        return found

    def _made_by(self, kind: str, call: Call, *shown: str) -> Result:
        made = [item for item in self.state[kind].values() if item["request_id"] == call.fields["request_id"]]
        return Result(200, {"items": [{name: item[name] for name in shown} for item in made], "complete": True})

    def summary(self) -> dict[str, JSON]:
        """Count what is there; ``duplicate_*`` and ``force_pushes`` show an effect that was repeated."""
        issues, deployments = self.state["issues"].values(), self.state["deployments"].values()
        releases = self.state["releases"].values()
        return {
            "issues": len(issues),
            "releases": len(releases),
            "deleted_releases": self.state["deleted_releases"],
            "builds": len(self.state["builds"]),
            "deployments": len(deployments),
            "force_pushes": self.state["force_pushes"],
            "duplicate_issues": repeats(issues, ("title",), ("request_id",)),
            "duplicate_releases": repeats(releases, ("name",), ("request_id",)),
            "duplicate_deployments": repeats(deployments, ("service", "revision"), ("request_id",)),
        }

    routes = (
        Route("read_issue", "GET", "/v1/issues/{issue_id}", read_issue),
        Route(
            "create_issue",
            "POST",
            "/v1/issues",
            create_issue,
            fields={"title": TEXT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("find_issue", "GET", "/v1/issues", find_issue, fields={"request_id": TEXT}),
        Route("read_build", "GET", "/v1/builds/{build_id}", read_build),
        Route(
            "create_deployment",
            "POST",
            "/v1/deployments",
            create_deployment,
            fields={"service": TEXT, "revision": TEXT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("find_deployment", "GET", "/v1/deployments", find_deployment, fields={"request_id": TEXT}),
        Route(
            "create_release",
            "POST",
            "/v1/releases",
            create_release,
            fields={"name": TEXT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("find_release", "GET", "/v1/releases", find_release, fields={"request_id": TEXT}),
        Route(
            "delete_release",
            "DELETE",
            "/v1/releases/{release_id}",
            delete_release,
            fields={"approval_id": OPTIONAL, "request_id": OPTIONAL},
        ),
        Route(
            "force_push",
            "POST",
            "/v1/releases/{release_id}/force-push",
            force_push,
            fields={"request_id": OPTIONAL},
        ),
    )


SEED_ISSUE = {"issue_id": TEXT, "title": TEXT, "state": OPTIONAL, "request_id": OPTIONAL}
SEED_RELEASE = {"release_id": TEXT, "name": OPTIONAL, "branch": OPTIONAL, "request_id": OPTIONAL}
SEED_BUILD = {"build_id": TEXT, "status": TEXT, "revision": TEXT}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's objects; raises SeedError where the seed does not fit."""
    check_seed(seed, ["issues", "releases", "builds", "services"])
    issues = seed_rows(seed, "issues", "issue_id", SEED_ISSUE)
    for issue in issues.values():
        issue["state"] = issue["state"] or "open"
    releases = seed_rows(seed, "releases", "release_id", SEED_RELEASE)
    for release in releases.values():
        release["branch"] = release["branch"] or f"release/{release['release_id']}"
    state = {
        "issues": issues,
        "releases": releases,
        "builds": seed_rows(seed, "builds", "build_id", SEED_BUILD),
        "deployments": {},
        "services": _services(seed.get("services", [])),
        "deleted_releases": 0,
        "force_pushes": 0,
    }
    return Forge(setting, state)


def _services(names: JSON) -> list[str]:
    if not isinstance(names, list):
        raise SeedError(("services",), f"expected a list, got {names!r}")
    for position, name in enumerate(names):
        if not TEXT.accepts(name):
            raise SeedError(("services", position), f"expected {TEXT}, got {name!r}")
    return list(names)
