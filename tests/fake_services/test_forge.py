from __future__ import annotations

from typing import Any

import pytest

from unacked.contract import Idempotency
from unacked.services import SeedError

SEED = {
    "issues": [{"issue_id": "i1", "title": "slow start"}],
    "releases": [{"release_id": "v1", "branch": "release/1"}, {"release_id": "v2"}],
    "builds": [{"build_id": "b1", "status": "passed", "revision": "r42"}],
    "services": ["billing"],
}
DEPLOY = ("POST", "/v1/deployments", {"service": "billing", "revision": "r42", "request_id": "req-1"})
PUBLISH = ("POST", "/v1/releases", {"name": "1.4.0", "request_id": "req-3"})
OPEN = ("POST", "/v1/issues", {"title": "leak", "request_id": "req-2"})


@pytest.fixture
def forge(start: Any) -> Any:
    return start("forge", SEED)


def test_the_world_counts_each_kind(forge: Any) -> None:
    assert forge.service.summary() == {
        "issues": 1,
        "releases": 2,
        "deleted_releases": 0,
        "builds": 1,
        "deployments": 0,
        "force_pushes": 0,
        "duplicate_issues": 0,
        "duplicate_releases": 0,
        "duplicate_deployments": 0,
    }


def test_create_release_answers_the_new_id(forge: Any) -> None:
    assert forge(*PUBLISH) == (
        201,
        {
            "release_id": "rel-1",
            "name": "1.4.0",
            "branch": "release/rel-1",
            "replayed": False,
            "correlation_id": "c-1",
        },
    )


def test_find_release_finds_what_a_request_published(forge: Any) -> None:
    forge(*PUBLISH)
    forge("POST", "/v1/releases", {"name": "1.4.0", "request_id": "req-4"})

    assert forge("GET", "/v1/releases?request_id=req-3")[1]["items"] == [{"release_id": "rel-1"}]
    assert forge.service.summary()["duplicate_releases"] == 1


def test_read_issue_shows_title_and_state(forge: Any) -> None:
    assert forge("GET", "/v1/issues/i1") == (
        200,
        {"issue_id": "i1", "title": "slow start", "state": "open", "correlation_id": "c-1"},
    )


def test_create_issue_answers_the_new_id(forge: Any) -> None:
    assert forge(*OPEN) == (201, {"issue_id": "iss-1", "title": "leak", "replayed": False, "correlation_id": "c-1"})
    assert forge("GET", "/v1/issues/iss-1")[1]["state"] == "open"


def test_find_issue_finds_what_a_request_made(forge: Any) -> None:
    forge(*OPEN)

    assert forge("GET", "/v1/issues?request_id=req-2") == (
        200,
        {"items": [{"issue_id": "iss-1"}], "complete": True, "correlation_id": "c-1"},
    )
    assert forge("GET", "/v1/issues?request_id=req-9")[1] == {"items": [], "complete": True, "correlation_id": "c-1"}


def test_read_build_shows_status_and_revision(forge: Any) -> None:
    assert forge("GET", "/v1/builds/b1") == (
        200,
        {"build_id": "b1", "status": "passed", "revision": "r42", "correlation_id": "c-1"},
    )


def test_create_deployment_answers_the_new_id(forge: Any) -> None:
    assert forge(*DEPLOY) == (
        201,
        {
            "deployment_id": "dep-1",
            "service": "billing",
            "revision": "r42",
            "status": "succeeded",
            "replayed": False,
            "correlation_id": "c-1",
        },
    )


def test_find_deployment_finds_what_a_request_made(forge: Any) -> None:
    forge(*DEPLOY)

    assert forge("GET", "/v1/deployments?request_id=req-1") == (
        200,
        {
            "items": [{"deployment_id": "dep-1", "status": "succeeded"}],
            "complete": True,
            "correlation_id": "c-1",
        },
    )


def test_an_unknown_service_is_an_invalid_request(forge: Any) -> None:
    answer = forge("POST", "/v1/deployments", {"service": "biling", "revision": "r42", "request_id": "req-1"})

    assert answer == (422, {"error": "invalid_request", "field": "service"})
    assert forge.service.summary()["deployments"] == 0


def test_what_is_done_twice_is_visible_in_the_world(forge: Any) -> None:
    for request in (DEPLOY, DEPLOY, OPEN, OPEN):
        forge(*request)

    summary = forge.service.summary()
    assert (summary["deployments"], summary["duplicate_deployments"]) == (2, 1)
    assert (summary["issues"], summary["duplicate_issues"]) == (3, 1)


def test_another_revision_of_the_same_service_is_no_duplicate(forge: Any) -> None:
    forge(*DEPLOY)
    forge("POST", "/v1/deployments", {"service": "billing", "revision": "r43", "request_id": "req-3"})

    assert forge.service.summary()["duplicate_deployments"] == 0


def test_the_same_deployment_twice_is_one_where_the_service_replays(start: Any) -> None:
    forge = start("forge", SEED, create_deployment=Idempotency.REPLAY_SUCCESS)

    assert [forge(*DEPLOY)[1]["replayed"], forge(*DEPLOY)[1]["replayed"]] == [False, True]
    assert forge.service.summary()["deployments"] == 1


def test_delete_release_removes_it_for_good(forge: Any) -> None:
    assert forge("DELETE", "/v1/releases/v1", {"approval_id": "a1", "request_id": "req-4"}) == (
        200,
        {"release_id": "v1", "deleted": True, "correlation_id": "c-1"},
    )
    assert forge("DELETE", "/v1/releases/v1") == (404, {"error": "no_such_release"})
    summary = forge.service.summary()
    assert (summary["releases"], summary["deleted_releases"]) == (1, 1)


@pytest.mark.parametrize(("release", "branch"), [("v1", "release/1"), ("v2", "release/v2")])
def test_force_push_overwrites_the_branch_of_the_release(forge: Any, release: str, branch: str) -> None:
    assert forge("POST", f"/v1/releases/{release}/force-push") == (
        200,
        {"release_id": release, "branch": branch, "correlation_id": "c-1"},
    )
    assert forge.service.summary()["force_pushes"] == 1


@pytest.mark.parametrize(
    ("method", "target", "error"),
    [
        ("GET", "/v1/issues/i9", "no_such_issue"),
        ("GET", "/v1/builds/b9", "no_such_build"),
        ("DELETE", "/v1/releases/v9", "no_such_release"),
        ("POST", "/v1/releases/v9/force-push", "no_such_release"),
    ],
)
def test_what_is_not_there_is_not_found(forge: Any, method: str, target: str, error: str) -> None:
    before = forge.service.summary()

    assert forge(method, target) == (404, {"error": error})
    assert forge.service.summary() == before


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("GET", "/v1/issues/i1", None),
        OPEN,
        ("GET", "/v1/issues?request_id=req-2", None),
        ("GET", "/v1/builds/b1", None),
        DEPLOY,
        ("GET", "/v1/deployments?request_id=req-1", None),
        ("DELETE", "/v1/releases/v1", None),
        ("POST", "/v1/releases/v1/force-push", None),
    ],
)
def test_the_two_sides_of_a_twin_are_the_same_bytes(start: Any, method: str, target: str, body: Any) -> None:
    modes = dict.fromkeys(("create_issue", "create_deployment"), Idempotency.REPLAY_SUCCESS)
    forge = start("forge", SEED, **modes)
    before = forge.service.summary()

    unmade = forge.raw(method, target, body, commit=False)
    assert forge.service.summary() == before
    made = forge.raw(method, target, body)

    assert (unmade.status, unmade.headers, unmade.body) == (made.status, made.headers, made.body)


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"service": ["billing"]}, "seed.service: unknown key; did you mean 'services'?"),
        ({"services": "billing"}, "seed.services: expected a list, got 'billing'"),
        ({"services": ["billing", 3]}, "seed.services[1]: expected a non-empty string, got 3"),
        (
            {"builds": [{"build_id": "b1", "status": "passed"}]},
            "seed.builds[0].revision: is missing; expected a non-empty string",
        ),
        (
            {"releases": [{"release_id": "v1"}, {"release_id": "v1"}]},
            "seed.releases[1].release_id: 'v1' is there twice",
        ),
    ],
)
def test_a_bad_seed_is_refused_with_its_key(start: Any, seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        start("forge", seed)

    assert str(caught.value) == message
