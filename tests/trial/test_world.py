from __future__ import annotations

from tests.trial.conftest import Tried

from unacked.trial.world import CorrelationIds, Vault

ONE = 'yield Call("create_record", {"title": "Pump 7 inspection", "request_id": "r", "idempotency_key": "k"})'


def test_correlation_ids_are_never_used_twice() -> None:
    ids = CorrelationIds("0", "E01", "1")
    assert len({ids.next() for _ in range(1000)}) == 1000


def test_the_same_seed_gives_the_same_correlation_ids() -> None:
    assert CorrelationIds("0", "E01", "1").next() == CorrelationIds("0", "E01", "1").next()


def test_another_seed_case_or_repeat_gives_other_correlation_ids() -> None:
    names = [("0", "E01", "1"), ("1", "E01", "1"), ("0", "E02", "1"), ("0", "E01", "2"), ("0E", "01", "1")]
    assert len({CorrelationIds(*name).next() for name in names}) == 5


def test_a_correlation_id_holds_no_part_of_a_credential() -> None:
    assert not Vault("0", "E01", "careful", "1").leaked_in(CorrelationIds("0", "E01", "1").next())


def test_every_credential_of_a_trial_is_looked_for() -> None:
    vault = Vault("0", "E01", "careful", "1")
    first, second = vault.current, vault.another()
    assert [vault.leaked_in(f"x{token}x") for token in (first, second)] == [True, True]


def test_a_credential_of_another_trial_is_not_this_ones_leak() -> None:
    assert not Vault("0", "E01", "careful", "1").leaked_in(Vault("0", "E01", "careful", "2").current)


def test_redaction_leaves_no_credential_in_a_text() -> None:
    vault = Vault("0", "E01", "careful", "1")
    text = f"{vault.current} and {vault.another()}"
    assert vault.redact(text) == "[redacted] and [redacted]"


def test_a_commit_that_comes_late_is_part_of_the_world_at_the_end(tried: Tried) -> None:
    policy = f'{ONE}\nyield Call("wait", {{"seconds": 100}})\nyield Call("finish", {{"status": "unknown"}})'
    record = tried(policy)
    assert record.history[len(record.history) - 1].detail["world"]["records"] == 1


def test_the_twin_leaves_no_trace_in_the_world(tried: Tried) -> None:
    record = tried(f'{ONE}\nyield Call("finish", {{"status": "unknown"}})', twin=True)
    assert record.history[len(record.history) - 1].detail["world"]["records"] == 0
