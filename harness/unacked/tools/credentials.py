"""Tools of the service ``credentials``: a rotation has no key and nothing finds it again; a person must say."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import OPTIONAL_REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

_NAME = Argument("name", description="The name of the credential, never its value.")
_VERSION = Argument("version", "integer")

TOOLS = (
    Tool(
        Operation(
            name="rotate_credential",
            effect=Effect.ROTATE,
            description="Replace a credential; whatever still uses the old one is locked out.",
            arguments=(
                _NAME,
                OPTIONAL_REQUEST,
            ),
            result=(_VERSION,),
            categories=CATEGORY_SETS["http_write"],
            tags=frozenset({"destructive"}),
            target="name",
            target_class="credential",
            request="request_id",
        ),
        Endpoint(
            service="credentials",
            method="POST",
            path="/v1/credentials/{name}/rotate",
            body=("request_id",),
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="get_credential",
            effect=Effect.READ,
            description="Read the version of a credential; it rises with everybody's rotations.",
            arguments=(_NAME,),
            result=(_VERSION,),
            categories=CATEGORY_SETS["http_read"],
            target="name",
            target_class="credential",
        ),
        Endpoint(service="credentials", method="GET", path="/v1/credentials/{name}"),
    ),
)
