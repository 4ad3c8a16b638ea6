from __future__ import annotations

from typing import Any

import pytest

from unacked.contract import Idempotency
from unacked.services import SeedError

SEED = {"credentials": [{"name": "billing-db", "version": 4}, {"name": "mail"}]}
ROTATE = ("POST", "/v1/credentials/billing-db/rotate", {"request_id": "req-1"})
READ = ("GET", "/v1/credentials/billing-db", None)
ECHO = {"correlation_id": "c-1"}


@pytest.fixture
def credentials(start: Any) -> Any:
    return start("credentials", SEED)


def test_the_world_counts_versions_and_rotations(credentials: Any) -> None:
    assert credentials.service.summary() == {
        "credentials": 2,
        "versions": 5,
        "rotations": 0,
        "surplus_rotations": 0,
    }


def test_a_rotation_answers_the_new_version_and_no_secret(credentials: Any) -> None:
    assert credentials(*ROTATE) == (200, {"name": "billing-db", "version": 5, **ECHO})


def test_a_read_shows_the_version_and_no_secret(credentials: Any) -> None:
    credentials(*ROTATE)

    assert credentials(*READ) == (200, {"name": "billing-db", "version": 5, **ECHO})


def test_a_second_rotation_of_the_same_credential_is_surplus(credentials: Any) -> None:
    credentials(*ROTATE)
    credentials("POST", "/v1/credentials/mail/rotate")
    assert credentials.service.summary()["surplus_rotations"] == 0

    credentials(*ROTATE)

    assert credentials.service.summary() == {
        "credentials": 2,
        "versions": 8,
        "rotations": 3,
        "surplus_rotations": 1,
    }


def test_a_key_changes_nothing_even_where_one_is_sent(start: Any) -> None:
    credentials = start("credentials", SEED, rotate_credential=Idempotency.REPLAY_SUCCESS)

    assert [credentials(*ROTATE)[1]["version"], credentials(*ROTATE)[1]["version"]] == [5, 6]


def test_nothing_finds_a_rotation_by_its_request(credentials: Any) -> None:
    credentials(*ROTATE)

    assert credentials("GET", "/v1/credentials?request_id=req-1") == (404, {"error": "no_such_route"})


@pytest.mark.parametrize(
    ("method", "target"), [("GET", "/v1/credentials/nope"), ("POST", "/v1/credentials/nope/rotate")]
)
def test_an_unknown_credential_is_not_found(credentials: Any, method: str, target: str) -> None:
    before = credentials.service.summary()

    assert credentials(method, target) == (404, {"error": "no_such_credential"})
    assert credentials.service.summary() == before


@pytest.mark.parametrize(("method", "target", "body"), [ROTATE, READ])
def test_the_two_sides_of_a_twin_are_the_same_bytes(credentials: Any, method: str, target: str, body: Any) -> None:
    before = credentials.service.summary()

    unmade = credentials.raw(method, target, body, commit=False)
    assert credentials.service.summary() == before
    made = credentials.raw(method, target, body)

    assert (unmade.status, unmade.headers, unmade.body) == (made.status, made.headers, made.body)


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"credential": []}, "seed.credential: unknown key; did you mean 'credentials'?"),
        ({"credentials": [{"name": "a", "version": "4"}]}, "seed.credentials[0].version: expected an integer, got '4'"),
        ({"credentials": [{"name": "a"}, {"name": "a"}]}, "seed.credentials[1].name: 'a' is there twice"),
    ],
)
def test_a_bad_seed_is_refused_with_its_key(start: Any, seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        start("credentials", seed)

    assert str(caught.value) == message
