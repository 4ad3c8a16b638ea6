from __future__ import annotations

from typing import Any

import pytest

from unacked.services import SeedError

SEED = {"subjects": ["dana", "eve"], "grants": [{"grant_id": "g1", "subject": "dana", "scope": "repo:read"}]}
GRANT = ("POST", "/v1/permissions", {"subject": "dana", "scope": "repo:write", "request_id": "req-1"})
REVOKE = ("DELETE", "/v1/subjects/dana/permissions/repo%3Aread", {"request_id": "req-2"})
READ = ("GET", "/v1/subjects/dana/permissions", None)
ECHO = {"correlation_id": "c-1"}


@pytest.fixture
def permissions(start: Any) -> Any:
    return start("permissions", SEED)


def test_the_world_counts_grants_and_revocations(permissions: Any) -> None:
    assert permissions.service.summary() == {"grants": 1, "revocations": 0, "surplus_grants": 0}


def test_a_grant_answers_its_new_id(permissions: Any) -> None:
    answer = {"grant_id": "grant-1", "subject": "dana", "scope": "repo:write", **ECHO}

    assert permissions(*GRANT) == (201, answer)


def test_what_a_subject_may_do_is_read_back_in_the_order_of_the_alphabet(permissions: Any) -> None:
    permissions(*GRANT)

    assert permissions(*READ) == (200, {"subject": "dana", "scopes": ["repo:read", "repo:write"], **ECHO})
    assert permissions("GET", "/v1/subjects/eve/permissions")[1]["scopes"] == []


def test_a_grant_that_is_made_twice_stays_behind_as_surplus(permissions: Any) -> None:
    for _ in range(2):
        permissions(*GRANT)

    assert permissions.service.summary() == {"grants": 3, "revocations": 0, "surplus_grants": 1}
    assert permissions(*READ)[1]["scopes"] == ["repo:read", "repo:write"]


def test_nothing_finds_a_grant_by_its_request(permissions: Any) -> None:
    permissions(*GRANT)

    assert permissions("GET", "/v1/permissions?request_id=req-1") == (404, {"error": "no_such_route"})


def test_a_revocation_takes_the_scope_away(permissions: Any) -> None:
    assert permissions(*REVOKE) == (200, {"subject": "dana", "scope": "repo:read", **ECHO})
    assert permissions(*READ)[1]["scopes"] == []
    assert permissions.service.summary() == {"grants": 0, "revocations": 1, "surplus_grants": 0}


def test_a_revocation_takes_every_grant_of_the_scope_and_no_other(permissions: Any) -> None:
    for _ in range(2):
        permissions(*GRANT)

    permissions("DELETE", "/v1/subjects/dana/permissions/repo%3Awrite")

    assert permissions.service.summary() == {"grants": 1, "revocations": 1, "surplus_grants": 0}


@pytest.mark.parametrize(
    ("method", "target", "body", "error"),
    [
        ("POST", "/v1/permissions", {"subject": "mallory", "scope": "x"}, "no_such_subject"),
        ("GET", "/v1/subjects/mallory/permissions", None, "no_such_subject"),
        ("DELETE", "/v1/subjects/mallory/permissions/x", None, "no_such_subject"),
        ("DELETE", "/v1/subjects/eve/permissions/repo%3Aread", None, "no_such_permission"),
    ],
)
def test_what_is_not_there_is_not_found(permissions: Any, method: str, target: str, body: Any, error: str) -> None:
    before = permissions.service.summary()

    assert permissions(method, target, body) == (404, {"error": error})
    assert permissions.service.summary() == before


@pytest.mark.parametrize(("method", "target", "body"), [GRANT, REVOKE, READ])
def test_the_two_sides_of_a_twin_are_the_same_bytes(permissions: Any, method: str, target: str, body: Any) -> None:
    before = permissions.service.summary()

    unmade = permissions.raw(method, target, body, commit=False)
    assert permissions.service.summary() == before
    made = permissions.raw(method, target, body)

    assert (unmade.status, unmade.headers, unmade.body) == (made.status, made.headers, made.body)


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"subject": []}, "seed.subject: unknown key; did you mean 'subjects'?"),
        ({"subjects": "dana"}, "seed.subjects: expected a list, got 'dana'"),
        ({"subjects": ["dana", ""]}, "seed.subjects[1]: expected a non-empty string, got ''"),
        (
            {"grants": [{"grant_id": "g1", "subject": "dana", "scope": "x"}]},
            "seed.grants[0].subject: 'dana' is not among the subjects",
        ),
    ],
)
def test_a_bad_seed_is_refused_with_its_key(start: Any, seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        start("permissions", seed)

    assert str(caught.value) == message
