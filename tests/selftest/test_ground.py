"""What the services hold in any case, and what the values of a trace are called there."""

from __future__ import annotations

import pytest
from tests.suites import ROOT

from unacked.selftest.ground import Ground, Names
from unacked.suite import load_suite

TOKENS = frozenset({"scope-1", "scope-2", "record_id-1", "record_id-2"})


@pytest.fixture(scope="module")
def ground() -> Ground:
    return Ground(load_suite(ROOT))


def test_seeds_of_all_cases_lie_together_and_no_row_twice(ground: Ground) -> None:
    assert ground.seed("credentials", {}) == {
        "credentials": [{"name": "billing-db", "version": 4}, {"name": "mail-relay", "version": 2}]
    }
    assert sorted(ground.seed("permissions", {})["subjects"]) == ["dana", "eve", "records-bot"]


def test_what_is_no_row_is_as_in_the_case_itself(ground: Ground) -> None:
    assert ground.seed("credentials", {"slow": True})["slow"] is True


def test_arguments_are_those_that_scripts_of_the_operation_use_first(ground: Ground) -> None:
    assert next(ground.usual("revoke_permission", "scope")) == "repo:admin"
    assert next(ground.usual("grant_permission", "scope")) == "repo:write"


def test_where_no_script_says_it_the_services_do(ground: Ground) -> None:
    assert "bld-9" in ground.usual("read_nothing", "build_id")


def test_two_values_get_two_names_and_keep_them(ground: Ground) -> None:
    names = Names(ground, TOKENS)
    first = names.arguments("revoke_permission", {"scope": "scope-1"})
    second = names.arguments("revoke_permission", {"scope": "scope-2"})
    assert (first, second) == ({"scope": "repo:admin"}, {"scope": "repo:delete"})
    assert names.arguments("grant_permission", {"scope": "scope-1"}) == {"scope": "repo:admin"}


def test_a_value_that_a_result_gives_is_called_as_it_is_given(ground: Ground) -> None:
    names = Names(ground, TOKENS)
    assert names.hears("record_id-1", "rec-5")
    assert not names.hears("record_id-1", "rec-6")
    assert not names.hears("record_id-2", "rec-5")
    assert names.arguments("get_record", {"record_id": "record_id-1"}) == {"record_id": "rec-5"}


def test_a_constant_is_meant_as_it_is(ground: Ground) -> None:
    names = Names(ground, TOKENS)
    assert names.hears("renewed", "renewed")
    assert not names.hears("renewed", "nobody answered")
    assert names.arguments("finish", {"status": "unknown"}) == {"status": "unknown"}


def test_lists_are_compared_item_by_item(ground: Ground) -> None:
    names = Names(ground, TOKENS)
    assert names.hears(["scope-1"], ["repo:read"])
    assert not names.hears(["scope-1", "scope-2"], ["repo:read"])
    assert names.said(["scope-1", "scope-2"]) == ["repo:read", "scope-2"]


def test_an_inventory_that_holds_more_than_the_trace_says_is_repeated_by_later_calls(ground: Ground) -> None:
    names = Names(ground, frozenset({"snapshot-1"}))
    assert names.takes("reasons", [], ["MORE_PAGES_AVAILABLE"])
    assert not names.takes("scopes", [], ["repo:write"])
    assert names.arguments("ask_human", {"reasons": []}) == {"reasons": ["MORE_PAGES_AVAILABLE"]}


def test_a_snapshot_that_is_taken_anew_has_a_new_name(ground: Ground) -> None:
    names = Names(ground, frozenset({"snapshot-1"}))
    assert names.takes("snapshot", "snapshot-1", "snap-1")
    assert names.takes("snapshot", "snapshot-1", "snap-2")
    assert names.said("snapshot-1") == "snap-2"
