"""Tools of the service ``forge``: issues, releases, builds and deployments."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Idempotency, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import KEY, OPTIONAL_REQUEST, REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

_RELEASE = Argument("release_id", description="The release's identifier.")

TOOLS = (
    Tool(
        Operation(
            name="read_issue",
            effect=Effect.READ,
            description="Read one issue.",
            arguments=(Argument("issue_id"),),
            result=(Argument("title"), Argument("state")),
            categories=CATEGORY_SETS["http_read"],
            target="issue_id",
            target_class="issue",
        ),
        Endpoint(service="forge", method="GET", path="/v1/issues/{issue_id}"),
    ),
    Tool(
        Operation(
            name="create_issue",
            effect=Effect.CREATE,
            description="Open an issue.",
            arguments=(Argument("title"), KEY, REQUEST),
            result=(Argument("issue_id"), Argument("replayed", "boolean", required=False)),
            categories=CATEGORY_SETS["http_write"],
            target_class="issue",
            identity="issue_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.REPLAY_SUCCESS,
            reconcile="find_issue",
        ),
        Endpoint(
            service="forge",
            method="POST",
            path="/v1/issues",
            body=("title", "request_id"),
            success=201,
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="find_issue",
            effect=Effect.READ,
            description="Find the issue that a request id opened.",
            arguments=(Argument("request_id"),),
            result=(Argument("issue_id"), Argument("complete", "boolean")),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="issue",
            identity="issue_id",
            request="request_id",
        ),
        Endpoint(service="forge", method="GET", path="/v1/issues", query=("request_id",), lookup=True),
    ),
    Tool(
        Operation(
            name="read_build",
            effect=Effect.READ,
            description="Read the status of one build.",
            arguments=(Argument("build_id"),),
            result=(Argument("status"), Argument("revision")),
            categories=CATEGORY_SETS["http_read"],
            target="build_id",
            target_class="build",
        ),
        Endpoint(service="forge", method="GET", path="/v1/builds/{build_id}"),
    ),
    Tool(
        Operation(
            name="create_deployment",
            effect=Effect.CREATE,
            description="Deploy a service at a revision.",
            arguments=(Argument("service"), Argument("revision"), KEY, REQUEST),
            result=(Argument("deployment_id"), Argument("replayed", "boolean", required=False)),
            categories=CATEGORY_SETS["http_write"],
            target_class="deployment",
            identity="deployment_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.REPLAY_SUCCESS,
            reconcile="find_deployment",
        ),
        Endpoint(
            service="forge",
            method="POST",
            path="/v1/deployments",
            body=("service", "revision", "request_id"),
            success=201,
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="find_deployment",
            effect=Effect.READ,
            description="Find the deployment that a request id made.",
            arguments=(Argument("request_id"),),
            result=(
                Argument("deployment_id"),
                Argument("status", required=False),
                Argument("complete", "boolean"),
            ),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="deployment",
            identity="deployment_id",
            request="request_id",
        ),
        Endpoint(service="forge", method="GET", path="/v1/deployments", query=("request_id",), lookup=True),
    ),
    Tool(
        Operation(
            name="create_release",
            effect=Effect.CREATE,
            description="Publish a release.",
            arguments=(Argument("name"), KEY, REQUEST),
            result=(Argument("release_id"), Argument("replayed", "boolean", required=False)),
            categories=CATEGORY_SETS["http_write"],
            target_class="release",
            identity="release_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.REPLAY_SUCCESS,
            reconcile="find_release",
        ),
        Endpoint(
            service="forge",
            method="POST",
            path="/v1/releases",
            body=("name", "request_id"),
            success=201,
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="find_release",
            effect=Effect.READ,
            description="Find the release that a request id published.",
            arguments=(Argument("request_id"),),
            result=(Argument("release_id"), Argument("complete", "boolean")),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="release",
            identity="release_id",
            request="request_id",
        ),
        Endpoint(service="forge", method="GET", path="/v1/releases", query=("request_id",), lookup=True),
    ),
    Tool(
        Operation(
            name="delete_release",
            effect=Effect.DELETE,
            description="Delete a release for good.",
            arguments=(
                _RELEASE,
                Argument("approval_id", required=False),
                OPTIONAL_REQUEST,
            ),
            categories=CATEGORY_SETS["http_write"],
            tags=frozenset({"destructive"}),
            target="release_id",
            target_class="release",
            request="request_id",
        ),
        Endpoint(
            service="forge",
            method="DELETE",
            path="/v1/releases/{release_id}",
            body=("approval_id", "request_id"),
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="force_push",
            effect=Effect.EXEC,
            description="Overwrite the branch of a release.",
            arguments=(_RELEASE,),
            categories=CATEGORY_SETS["http_write"],
            tags=frozenset({"destructive"}),
            target="release_id",
            target_class="release",
        ),
        Endpoint(service="forge", method="POST", path="/v1/releases/{release_id}/force-push", failures=NOT_DONE),
    ),
)
