"""Arguments that many operations share: the names of a logical request."""

from __future__ import annotations

from unacked.contract import Argument

__all__ = ["KEY", "OPTIONAL_REQUEST", "REQUEST"]

REQUEST = Argument("request_id", description="Your own id for this logical request; keep it when you ask again.")
OPTIONAL_REQUEST = Argument("request_id", required=False, description="Your own id for this logical request.")
KEY = Argument(
    "idempotency_key",
    required=False,
    description="Names the logical request; sending the same key again cannot repeat the effect where it is honoured.",
)
