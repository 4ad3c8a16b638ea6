"""Fake services: small state machines that keep a ledger of what really happened.

A service is data (its routes) and plain methods over ``self.state``. Credentials, strict reading,
idempotency keys, the ledger and undoing are the base class's business, so that every fake has them alike.
"""

from unacked.services.credential import AGENT, Credentials, Standing
from unacked.services.idempotency import IdempotencyStore, Recall
from unacked.services.issuer import Grant, Issuer, federate
from unacked.services.ledger import Entry, Ledger, Moment
from unacked.services.loader import Factory, load_service
from unacked.services.route import Call, Field, RefusedError, Result, Route
from unacked.services.seed import SeedError, check_seed, seed_rows
from unacked.services.service import Service, repeats
from unacked.services.setting import Ids, Setting

__all__ = [
    "AGENT",
    "Call",
    "Credentials",
    "Entry",
    "Factory",
    "Field",
    "Grant",
    "IdempotencyStore",
    "Ids",
    "Issuer",
    "Ledger",
    "Moment",
    "Recall",
    "RefusedError",
    "Result",
    "Route",
    "SeedError",
    "Service",
    "Setting",
    "Standing",
    "check_seed",
    "federate",
    "load_service",
    "repeats",
    "seed_rows",
]
