"""Tools of the service ``payments``: charge, refund and bill; every one of them moves or claims money."""

from __future__ import annotations

from unacked.contract import Argument, Effect, Idempotency, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.arguments import KEY, REQUEST
from unacked.tools.endpoint import NOT_DONE, Endpoint, Tool

__all__ = ["TOOLS"]

_AMOUNT = Argument("amount", "integer", description="In whole minor units, such as cents.")
_CURRENCY, _CUSTOMER = Argument("currency"), Argument("customer")
_CHARGE = Argument("charge_id", description="The charge's identifier, as the service gave it.")
_REPLAYED = Argument("replayed", "boolean", required=False)
_COMPLETE = Argument("complete", "boolean")

TOOLS = (
    Tool(
        Operation(
            name="charge",
            effect=Effect.SPEND,
            description="Charge a customer.",
            arguments=(_AMOUNT, _CURRENCY, _CUSTOMER, KEY, REQUEST),
            result=(Argument("charge_id"), _REPLAYED),
            categories=CATEGORY_SETS["http_write"],
            target_class="charge",
            identity="charge_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.REPLAY_SUCCESS,
            reconcile="find_charge",
        ),
        Endpoint(
            service="payments",
            method="POST",
            path="/v1/charges",
            body=("amount", "currency", "customer", "request_id"),
            success=201,
            failures=(402,),
        ),
    ),
    Tool(
        Operation(
            name="find_charge",
            effect=Effect.READ,
            description="Find the charge that a request id made.",
            arguments=(Argument("request_id"),),
            result=(Argument("charge_id"), Argument("amount", "integer", required=False), _COMPLETE),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="charge",
            identity="charge_id",
            request="request_id",
        ),
        Endpoint(service="payments", method="GET", path="/v1/charges", query=("request_id",), lookup=True),
    ),
    Tool(
        Operation(
            name="get_charge",
            effect=Effect.READ,
            description="Read one charge; refunded is how much of it was given back.",
            arguments=(_CHARGE,),
            result=(Argument("amount", "integer"), _CURRENCY, _CUSTOMER, Argument("refunded", "integer")),
            categories=CATEGORY_SETS["http_read"],
            target="charge_id",
            target_class="charge",
        ),
        Endpoint(service="payments", method="GET", path="/v1/charges/{charge_id}"),
    ),
    Tool(
        Operation(
            name="refund",
            effect=Effect.SPEND,
            description="Give back a part of a charge, or all of it.",
            arguments=(_CHARGE, _AMOUNT, KEY, REQUEST),
            result=(Argument("refund_id"), _REPLAYED),
            categories=CATEGORY_SETS["http_write"],
            target="charge_id",
            target_class="charge",
            identity="refund_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.REPLAY_SUCCESS,
            reconcile="find_refund",
        ),
        Endpoint(
            service="payments",
            method="POST",
            path="/v1/charges/{charge_id}/refunds",
            body=("amount", "request_id"),
            success=201,
            failures=(402,),
        ),
    ),
    Tool(
        Operation(
            name="find_refund",
            effect=Effect.READ,
            description="Find the refund that a request id made.",
            arguments=(Argument("request_id"),),
            result=(Argument("refund_id"), Argument("amount", "integer", required=False), _COMPLETE),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="refund",
            identity="refund_id",
            request="request_id",
        ),
        Endpoint(service="payments", method="GET", path="/v1/refunds", query=("request_id",), lookup=True),
    ),
    Tool(
        Operation(
            name="create_invoice",
            effect=Effect.SPEND,
            description="Send a customer an invoice. The service ignores idempotency keys here.",
            arguments=(_AMOUNT, _CURRENCY, _CUSTOMER, KEY, REQUEST),
            result=(Argument("invoice_id"), _REPLAYED),
            categories=CATEGORY_SETS["http_write"],
            target_class="invoice",
            identity="invoice_id",
            request="request_id",
            idempotency="idempotency_key",
            idempotency_mode=Idempotency.IGNORED,
            reconcile="find_invoice",
        ),
        Endpoint(
            service="payments",
            method="POST",
            path="/v1/invoices",
            body=("amount", "currency", "customer", "request_id"),
            success=201,
            failures=NOT_DONE,
        ),
    ),
    Tool(
        Operation(
            name="find_invoice",
            effect=Effect.READ,
            description="Find the invoice that a request id made.",
            arguments=(Argument("request_id"),),
            result=(Argument("invoice_id"), Argument("amount", "integer", required=False), _COMPLETE),
            categories=CATEGORY_SETS["http_read"] | {"partial"},
            target_class="invoice",
            identity="invoice_id",
            request="request_id",
        ),
        Endpoint(service="payments", method="GET", path="/v1/invoices", query=("request_id",), lookup=True),
    ),
)
