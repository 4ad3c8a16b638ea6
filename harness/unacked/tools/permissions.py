"""Tools of the service ``permissions``: give and take access, and read it back; nothing is found by request id."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import OPTIONAL_REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

_SUBJECT = Argument("subject", description="Who is meant.")
_SCOPE = Argument("scope", description="What they may do.")

TOOLS = (
    Tool(
        Operation(
            name="grant_permission",
            effect=Effect.GRANT,
            description="Give a subject a permission.",
            arguments=(_SUBJECT, _SCOPE, OPTIONAL_REQUEST),
            result=(Argument("grant_id"),),
            categories=CATEGORY_SETS["http_write"],
            target="subject",
            target_class="permission",
            request="request_id",
            reconcile="get_permissions",
        ),
        Endpoint(
            service="permissions",
            method="POST",
            path="/v1/permissions",
            body=("subject", "scope", "request_id"),
            success=201,
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="revoke_permission",
            effect=Effect.GRANT,
            description="Take a permission away from a subject.",
            arguments=(_SUBJECT, _SCOPE, OPTIONAL_REQUEST),
            result=(_SUBJECT, _SCOPE),
            categories=CATEGORY_SETS["http_write"],
            tags=frozenset({"destructive"}),
            target="subject",
            target_class="permission",
            request="request_id",
            reconcile="get_permissions",
        ),
        Endpoint(
            service="permissions",
            method="DELETE",
            path="/v1/subjects/{subject}/permissions/{scope}",
            body=("request_id",),
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="get_permissions",
            effect=Effect.READ,
            description="Read which permissions a subject has now.",
            arguments=(_SUBJECT,),
            result=(_SUBJECT, Argument("scopes", "array")),
            categories=CATEGORY_SETS["http_read"],
            target="subject",
            target_class="permission",
        ),
        Endpoint(service="permissions", method="GET", path="/v1/subjects/{subject}/permissions"),
    ),
)
