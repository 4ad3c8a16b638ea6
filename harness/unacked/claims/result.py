"""Claim 1, result: the tool's category and instruction are right, and honest against the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unacked.canonical import JSON
from unacked.claims.approval import gate_findings
from unacked.claims.brief import Brief
from unacked.claims.finding import Claim, Finding
from unacked.claims.receipt import misses_its_fault
from unacked.contract import Operation
from unacked.event import Event, History, call_of
from unacked.graph import Verdict
from unacked.outcome import CATEGORIES, CATEGORY_SETS, OutcomeClass

__all__ = ["result_claim", "results_of"]

_NOT_DONE = frozenset({OutcomeClass.REFUSAL, OutcomeClass.FAILURE, OutcomeClass.LOCAL})


def result_claim(brief: Brief, history: History) -> Claim:
    """Judge what the tools said."""
    return Claim.of("result", (*_expected(brief, history), *_honesty(brief, history), *gate_findings(brief, history)))


def results_of(history: History, operation: str) -> list[Event]:
    """Return the results of an operation; a call that the tool refused as malformed was never made."""
    results = history.named("result")
    return [event for event in results if event.operation == operation and not event.detail.get("rejected")]


def _expected(brief: Brief, history: History) -> Iterator[Finding]:
    expected = brief.case.expect.result
    if expected is None:
        return
    place = f"{expected.operation}#{expected.nth}"
    results = results_of(history, expected.operation)
    if len(results) < expected.nth:
        yield Finding(
            "call-not-made", Verdict.INCONCLUSIVE, f"a result of {place}", f"{len(results)} such calls were made"
        )
        return
    if misses_its_fault(brief, history, expected):
        return
    envelope = _envelope(results[expected.nth - 1])
    for name in ("category", "retry", "failed_field", "refusal"):
        wish = getattr(expected, name)
        if wish is not None and envelope.get(name) != wish:
            yield Finding(
                f"wrong-{name.replace('_', '-')}",
                Verdict.FAIL,
                f"{name} {str(wish)!r} at {place}",
                f"{envelope.get(name)!r}",
                "the tool's classification is wrong; see the diagnostics of this call",
            )
    for name, wish in (brief.case.response or {}).items():
        given = envelope.get("result", {}).get(name)
        if not _holds(given, wish):
            yield Finding("wrong-response", Verdict.FAIL, f"{name} = {wish!r} at {place}", f"{name} = {given!r}")


def _holds(given: JSON, wish: JSON) -> bool:
    """Whether a value is the one that was wished for; of an object, whether it has the members of the other."""
    if isinstance(wish, dict) and isinstance(given, dict):
        return all(_holds(given.get(name), value) for name, value in wish.items())
    return bool(given == wish)


def _honesty(brief: Brief, history: History) -> Iterator[Finding]:
    """No tool may call an effect undone that the ledger holds, or done that it does not hold."""
    committed = {_effect(event) for event in history.named("remote_committed")}
    received = {event.id for event in history.named("remote_received")}
    # The result of a call that was made again, after a refresh of its token, is that of its last request.
    last = {_effect(event): event.id for event in history.named("dispatch_started", "remote_received")}
    # A whole answer about a change that a fault kept from happening: the service lies, and no tool can know.
    lied_to = {event.id for event in history.named("fault_fired") if event.detail.get("committed") is False}
    for event in history.named("result"):
        operation = brief.tools.get(event.operation or "")
        if operation is None or not _changes_a_service(operation) or event.category is None or event.id is None:
            continue
        outcome_class, effect = CATEGORIES[event.category].outcome_class, _effect(event)
        place, request = f"{event.operation} ({event.id})", last.get(effect, event.id)
        if outcome_class in _NOT_DONE and effect in committed:
            yield _dishonest("denied-effect", f"{event.category} only where nothing was done", f"{place} was committed")
        elif event.category == "local_failure" and request in received:
            yield _dishonest("denied-request", "local_failure only where nothing was sent", f"{place} was received")
        elif event.category == "ok" and not (effect in committed or request in lied_to or _replayed(event)):
            yield _dishonest(
                "invented-effect", "ok only where the effect is in the ledger", f"{place} was not committed"
            )


def _effect(event: Event) -> tuple[str | None, str | None]:
    """The call and the operation that an event is about: a token that is refreshed on the way is another effect."""
    return event.id and call_of(event.id), event.operation


def _changes_a_service(operation: Operation) -> bool:
    return operation.writes and operation.categories != CATEGORY_SETS["control"]


def _dishonest(rule: str, expected: str, observed: str) -> Finding:
    return Finding(rule, Verdict.FAIL, expected, observed, "the tool claims more than it can know")


def _replayed(event: Event) -> bool:
    result = _envelope(event).get("result", {})
    return bool(result.get("replayed"))


def _envelope(event: Event) -> Mapping[str, JSON]:
    envelope: Mapping[str, JSON] = event.detail.get("envelope", {})
    return envelope
