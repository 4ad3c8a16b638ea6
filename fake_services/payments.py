"""Payments: charges, refunds and invoices; money moves at most once only where a key says that it must."""

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
AMOUNT = Field((int,))


class Payments(Service):
    """Amounts are whole minor units; nothing keeps two charges, refunds or invoices from being alike."""

    name = "payments"

    def charge(self, call: Call) -> Result:
        """Take money from a customer, whether or not the same was taken before."""
        charges = self.state["charges"]
        charge_id = self.ids.new("ch", charges)
        asked = {name: call.fields[name] for name in ("amount", "currency", "customer")}
        _positive(asked["amount"])
        charges[charge_id] = {"charge_id": charge_id, **asked, "request_id": call.request_id}
        return Result(201, {"charge_id": charge_id, **asked}, committed=True)

    def find_charge(self, call: Call) -> Result:
        """List the charges that a request made; the list is always complete."""
        return self._made_by("charges", call, "charge_id", "amount")

    def get_charge(self, call: Call) -> Result:
        """Show one charge and how much of it was given back."""
        charge = self._charge(call)
        shown = {name: charge[name] for name in ("charge_id", "amount", "currency", "customer")}
        return Result(200, {**shown, "refunded": self._refunded(charge["charge_id"])})

    def refund(self, call: Call) -> Result:
        """Give back a part of a charge, as long as something of it is left."""
        charge_id, amount = self._charge(call)["charge_id"], call.fields["amount"]
        _positive(amount)
        if amount > self.state["charges"][charge_id]["amount"] - self._refunded(charge_id):
            raise RefusedError(422, "amount_too_large", field="amount")
        refunds = self.state["refunds"]
        refund_id = self.ids.new("re", refunds)
        made = {"refund_id": refund_id, "charge_id": charge_id, "amount": amount}
        refunds[refund_id] = {**made, "request_id": call.request_id}
        return Result(201, made, committed=True)

    def find_refund(self, call: Call) -> Result:
        """List the refunds that a request made; the list is always complete."""
        return self._made_by("refunds", call, "refund_id", "amount")

    def create_invoice(self, call: Call) -> Result:
        """Bill a customer, whether or not the same was billed before."""
        invoices = self.state["invoices"]
        invoice_id = self.ids.new("inv", invoices)
        asked = {name: call.fields[name] for name in ("amount", "currency", "customer")}
        _positive(asked["amount"])
        invoices[invoice_id] = {"invoice_id": invoice_id, **asked, "request_id": call.request_id}
        return Result(201, {"invoice_id": invoice_id, **asked}, committed=True)

    def find_invoice(self, call: Call) -> Result:
        """List the invoices that a request made; the list is always complete."""
        return self._made_by("invoices", call, "invoice_id", "amount")

    def _charge(self, call: Call) -> dict[str, JSON]:
        charge: dict[str, JSON] | None = self.state["charges"].get(call.path["charge_id"])
        if charge is None:
            raise RefusedError(404, "no_such_charge")
        return charge

    def _refunded(self, charge_id: str) -> int:
        refunds = self.state["refunds"].values()
        return sum(refund["amount"] for refund in refunds if refund["charge_id"] == charge_id)

    def _made_by(self, kind: str, call: Call, *shown: str) -> Result:
        made = [item for item in self.state[kind].values() if item["request_id"] == call.fields["request_id"]]
        return Result(200, {"items": [{name: item[name] for name in shown} for item in made], "complete": True})

    def summary(self) -> dict[str, JSON]:
        """Count what is there and its money; ``duplicate_*`` make an effect that was repeated visible."""
        charges, refunds, invoices = (self.state[kind].values() for kind in ("charges", "refunds", "invoices"))
        bill = ("amount", "currency", "customer")
        return {
            "charges": len(charges),
            "charged_total": sum(charge["amount"] for charge in charges),
            "refunds": len(refunds),
            "refunded_total": sum(refund["amount"] for refund in refunds),
            "invoices": len(invoices),
            "invoiced_total": sum(invoice["amount"] for invoice in invoices),
            "duplicate_charges": repeats(charges, bill, ("request_id",)),
            "duplicate_refunds": repeats(refunds, ("charge_id", "amount"), ("request_id",)),
            "duplicate_invoices": repeats(invoices, bill, ("request_id",)),
        }

    routes = (
        Route(
            "charge",
            "POST",
            "/v1/charges",
            charge,
            fields={"amount": AMOUNT, "currency": TEXT, "customer": TEXT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("find_charge", "GET", "/v1/charges", find_charge, fields={"request_id": TEXT}),
        Route("get_charge", "GET", "/v1/charges/{charge_id}", get_charge),
        Route(
            "refund",
            "POST",
            "/v1/charges/{charge_id}/refunds",
            refund,
            fields={"amount": AMOUNT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("find_refund", "GET", "/v1/refunds", find_refund, fields={"request_id": TEXT}),
        Route(
            "create_invoice",
            "POST",
            "/v1/invoices",
            create_invoice,
            fields={"amount": AMOUNT, "currency": TEXT, "customer": TEXT, "request_id": OPTIONAL},
            keyed=True,
        ),
        Route("find_invoice", "GET", "/v1/invoices", find_invoice, fields={"request_id": TEXT}),
    )


def _positive(amount: int) -> None:
    if amount <= 0:
        raise RefusedError(422, "invalid_request", field="amount")


SEED_CHARGE = {"charge_id": TEXT, "amount": AMOUNT, "currency": TEXT, "customer": TEXT, "request_id": OPTIONAL}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the service with the seed's charges; raises SeedError where the seed does not fit."""
    check_seed(seed, ["charges"])
    charges = seed_rows(seed, "charges", "charge_id", SEED_CHARGE)
    for number, charge in enumerate(charges.values()):
        if charge["amount"] <= 0:
            raise SeedError(("charges", number, "amount"), f"expected a positive amount, got {charge['amount']!r}")
    return Payments(setting, {"charges": charges, "refunds": {}, "invoices": {}})
