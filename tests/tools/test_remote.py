"""What a remote exchange proves: by how far the order got and what the wrapper reported, and by nothing else."""

from __future__ import annotations

import pytest

from unacked.marker import Order, Report, State
from unacked.outcome import Envelope
from unacked.tools import TOOLS
from unacked.tools.classify import envelope
from unacked.tools.remote import Refused, RemoteExchange, Stage, classify_remote

ORDER = Order("op-1", "cid-1", "restart")


def ended(
    status: int | None, state: State = State.COMPLETED, reported: int | None = None, **other: str
) -> RemoteExchange:
    ids = {"operation_id": "op-1", "correlation_id": "cid-1", **other}
    line = Report(ids["operation_id"], ids["correlation_id"], state, reported).as_line()
    return RemoteExchange(Stage.ENDED, 1.0, exit_status=status, output=line)


def told(exchange: RemoteExchange, settles: str | None = "command_status") -> Envelope:
    return envelope(classify_remote(exchange, ORDER), TOOLS["run_command"].operation, "cid-1", settles=settles)


def test_a_completed_command_with_status_0_is_done() -> None:
    assert told(ended(0, reported=0)).as_json() == {
        "ok": True,
        "category": "ok",
        "class": "success",
        "operation": "run_command",
        "retry": "none",
        "correlation_id": "cid-1",
        "message": "Done.",
        "result": {"exit_status": 0},
    }


@pytest.mark.parametrize("status", [1, 126, 127, 141, 255])
def test_a_command_that_ended_with_an_error_may_be_half_done(status: int) -> None:
    claim = told(ended(status, reported=status))
    assert (claim.category, claim.retry, claim.reconcile) == ("outcome_unknown", "reconcile_first", "command_status")
    assert claim.message.startswith(f"The command ended with exit status {status};")


def test_a_link_that_ends_normally_without_a_status_proves_nothing() -> None:
    assert told(RemoteExchange(Stage.ORDER_SENT, 1.0)).category == "outcome_unknown"


def test_a_signal_proves_nothing() -> None:
    assert told(RemoteExchange(Stage.ENDED, 1.0, exit_signal="KILL")).category == "outcome_unknown"


def test_status_255_without_a_report_is_a_malformed_answer() -> None:
    claim = told(RemoteExchange(Stage.ENDED, 1.0, exit_status=255))
    assert (claim.category, claim.failed_field) == ("malformed_response", "/")


@pytest.mark.parametrize(
    ("exchange", "failed"),
    [
        (ended(0, reported=0, correlation_id="cid-0"), "/correlation_id"),
        (ended(0, reported=0, operation_id="op-0"), "/operation_id"),
        (ended(0, reported=1), "/exit_status"),
    ],
)
def test_a_report_that_is_not_about_this_order_is_malformed(exchange: RemoteExchange, failed: str) -> None:
    claim = told(exchange)
    assert (claim.category, claim.failed_field) == ("malformed_response", failed)


def test_nothing_sent_is_a_local_failure() -> None:
    assert told(RemoteExchange(Stage.NOTHING_SENT, 1.0)).category == "local_failure"


@pytest.mark.parametrize(
    ("refused", "category"),
    [(Refused.CREDENTIAL, "authentication_failed"), (Refused.ORDER, "authorization_denied")],
)
def test_whoever_said_no_is_told_apart(refused: Refused, category: str) -> None:
    assert told(RemoteExchange(Stage.ORDER_SENT, 1.0, refused)).category == category


def test_a_marker_that_cannot_be_written_means_a_person() -> None:
    claim = told(ended(125, State.MARKER_REFUSED))
    assert (claim.category, claim.retry, claim.reconcile) == ("confirmed_failure", "ask_human", None)


def test_a_command_that_is_not_there_is_a_confirmed_failure() -> None:
    assert (told(ended(125, State.COMMAND_NOT_FOUND)).category) == "confirmed_failure"


def test_an_id_that_was_used_before_is_looked_up_and_not_run_again() -> None:
    claim = told(ended(125, State.ALREADY_STARTED))
    assert (claim.category, claim.retry) == ("outcome_unknown", "reconcile_first")


def test_where_nothing_reads_the_markers_the_way_on_is_a_person() -> None:
    claim = told(RemoteExchange(Stage.ORDER_SENT, 1.0), settles=None)
    assert (claim.retry, claim.reconcile) == ("ask_human", "none")
