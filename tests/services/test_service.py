from __future__ import annotations

from typing import Any

import pytest

from unacked.canonical import JSON
from unacked.clock import VirtualClock
from unacked.fault import Action
from unacked.services import Call, Result, Route, Service, Setting, Standing, repeats
from unacked.wire.message import Request


def test_an_answer_echoes_the_correlation_id_in_header_and_body(jars: Any) -> None:
    response = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}', headers={"x-correlation-id": "c-9"})

    assert response.status == 201
    assert response.body == b'{"correlation_id":"c-9","jar_id":"jar-1","replayed":false}'
    assert response.headers == (("content-type", "application/json"), ("x-correlation-id", "c-9"))
    assert response.committed is True


def test_a_refusal_echoes_the_correlation_id_in_the_header_only(jars: Any) -> None:
    response = jars.send("GET", "/v1/spoons")

    assert response.status == 404
    assert response.body == b'{"error":"no_such_route"}'
    assert ("x-correlation-id", "c-1") in response.headers
    assert response.committed is False


def test_a_request_without_a_correlation_id_gets_none_back(jars: Any) -> None:
    request = Request("GET", "/v1/jars", "label=plum", {"authorization": "Bearer tok"}, b"")

    response = jars.service.handle(request)

    assert response.body == b'{"correlation_id":null,"label":"plum"}'
    assert response.headers == (("content-type", "application/json"),)


def test_the_host_is_the_name_under_test(jars: Any) -> None:
    assert jars.service.host == "jars.test"


def test_signing_in_answers_the_identity(jars: Any) -> None:
    response = jars.send("GET", "/v1/session")

    assert (response.status, response.body) == (200, b'{"correlation_id":"c-1","identity":"agent"}')


def test_a_token_that_was_never_valid_is_refused_without_a_challenge(jars: Any) -> None:
    response = jars.send("GET", "/v1/session", headers={"authorization": "Bearer other"})

    assert (response.status, response.body) == (401, b'{"error":"invalid_token"}')
    assert "www-authenticate" not in dict(response.headers)


@pytest.mark.parametrize("header", ["tok", "Basic tok", "Bearer", "Bearer tok x", ""])
def test_anything_but_the_bearer_token_is_refused(jars: Any, header: str) -> None:
    assert jars.send("GET", "/v1/session", headers={"authorization": header}).status == 401


def test_the_scheme_is_read_in_any_case(jars: Any) -> None:
    assert jars.send("GET", "/v1/session", headers={"authorization": "bearer tok"}).status == 200


def test_an_expired_token_is_refused_with_a_challenge(jars: Any) -> None:
    assert jars.send("GET", "/v1/session").status == 200
    jars.service.disturb(Action("expire_credential"), "fill_jar")

    response = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}')

    assert (response.status, response.body) == (401, b'{"error":"token_expired"}')
    assert dict(response.headers)["www-authenticate"] == 'Bearer error="invalid_token"'
    assert jars.service.summary()["jars"] == 0


def test_a_revoked_token_is_refused_with_a_challenge_and_its_own_error(jars: Any) -> None:
    jars.service.disturb(Action("revoke_credential"), "fill_jar")

    response = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}')

    assert (response.status, response.body) == (401, b'{"error":"token_revoked"}')
    assert dict(response.headers)["www-authenticate"] == 'Bearer error="invalid_token"'


def test_a_token_that_expired_before_everything_was_revoked_stays_expired(jars: Any) -> None:
    jars.service.disturb(Action("expire_credential"), "fill_jar")
    jars.service.disturb(Action("revoke_credential"), "fill_jar")

    assert jars.send("GET", "/v1/session").body == b'{"error":"token_expired"}'


def test_a_token_that_the_service_never_knew_is_refused_without_a_challenge(jars: Any) -> None:
    jars.service.disturb(Action("never_valid"), "fill_jar")

    response = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}')

    assert (response.status, response.body) == (401, b'{"error":"invalid_token"}')
    assert "www-authenticate" not in dict(response.headers)
    jars.service.credentials.admit("renewed")
    assert jars.send("GET", "/v1/session", headers={"authorization": "Bearer renewed"}).status == 200


def test_a_hidden_denial_answers_as_if_the_object_were_not_there(jars: Any) -> None:
    jars.service.disturb(Action.parse({"deny": {"hidden": True}}), "fill_jar")

    assert jars.fill() == (404, {"error": "not_found"})
    assert jars.service.summary()["jars"] == 0


def test_an_expired_credential_stays_expired_until_another_is_admitted(jars: Any) -> None:
    jars.service.disturb(Action("expire_credential"), "fill_jar")
    assert jars.send("GET", "/v1/session").status == 401

    jars.service.credentials.admit("renewed")

    assert jars.send("GET", "/v1/session").status == 401
    assert jars.send("GET", "/v1/session", headers={"authorization": "Bearer renewed"}).status == 200


def test_an_unknown_route_is_not_told_to_a_stranger(jars: Any) -> None:
    assert jars.send("GET", "/v1/spoons", headers={"authorization": "Bearer other"}).status == 401


def test_a_known_path_with_another_method_is_no_route(jars: Any) -> None:
    assert jars.send("PUT", "/v1/jars").status == 404


def test_a_denied_operation_stays_denied_and_others_do_not(jars: Any) -> None:
    jars.service.disturb(Action("deny"), "fill_jar")

    first, second = jars.fill(), jars.fill()

    assert first == second == (403, {"error": "insufficient_scope"})
    assert jars.send("GET", "/v1/jars", query="label=plum").status == 200


def test_a_denial_holds_for_the_identity_whatever_token_it_renews(jars: Any) -> None:
    jars.service.disturb(Action("deny"), "fill_jar")
    jars.service.credentials.admit("renewed")

    response = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}', headers={"authorization": "Bearer renewed"})

    assert response.status == 403


def test_another_identity_is_not_denied_so_that_going_round_a_denial_has_its_effect(jars: Any) -> None:
    jars.service.disturb(Action("deny"), "fill_jar")
    jars.service.credentials.admit("spare", identity="other")

    response = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}', headers={"authorization": "Bearer spare"})

    assert response.status == 201
    assert jars.service.summary()["jars"] == 1


def test_the_tokens_of_an_issuer_are_accepted_until_the_issuer_or_the_service_ends_them(jars: Any) -> None:
    standings = {"issued": Standing("agent"), "ended": Standing("agent", "token_expired")}
    jars.service.credentials.trust(lambda: standings)

    def signed_in(token: str) -> int:
        status: int = jars.send("GET", "/v1/session", headers={"authorization": f"Bearer {token}"}).status
        return status

    assert [signed_in(token) for token in ("tok", "issued", "ended", "other")] == [200, 200, 401, 401]
    jars.service.disturb(Action("expire_credential"), "fill_jar")
    standings["later"] = Standing("agent")
    assert [signed_in(token) for token in ("tok", "issued", "later")] == [401, 401, 200]


def test_a_service_that_never_knew_a_token_does_not_ask_its_issuer_either(jars: Any) -> None:
    jars.service.credentials.trust(lambda: {"issued": Standing("agent")})
    jars.service.disturb(Action("never_valid"), "fill_jar")

    assert jars.send("GET", "/v1/session", headers={"authorization": "Bearer issued"}).status == 401


def test_a_denial_holds_for_the_owner_of_an_issued_token(jars: Any) -> None:
    jars.service.credentials.trust(lambda: {"issued": Standing("other")})
    jars.service.disturb(Action("deny"), "fill_jar")

    headers = {"authorization": "Bearer issued"}
    assert jars.send("POST", "/v1/jars", body=b'{"label":"plum"}', headers=headers).status == 403


def test_signing_in_answers_the_identity_of_the_token(jars: Any) -> None:
    jars.service.credentials.admit("spare", identity="other")

    response = jars.send("GET", "/v1/session", headers={"authorization": "Bearer spare"})

    assert response.body == b'{"correlation_id":"c-1","identity":"other"}'


def test_a_rate_limit_refuses_the_next_request_of_its_operation_only(jars: Any) -> None:
    jars.service.disturb(Action.parse({"rate_limit": 2.5}), "fill_jar")

    assert jars.send("GET", "/v1/jars", query="label=plum").status == 200
    limited = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}')
    assert (limited.status, limited.body) == (429, b'{"error":"rate_limited"}')
    assert dict(limited.headers)["retry-after"] == "3"
    assert jars.fill()[0] == 201


def test_a_rate_limit_is_spent_by_a_request_that_is_not_committed(jars: Any) -> None:
    jars.service.disturb(Action.parse({"rate_limit": 1}), "fill_jar")

    assert jars.fill(commit=False)[0] == 429
    assert jars.fill()[0] == 201


def test_a_failing_execution_answers_its_status_and_has_no_effect(jars: Any) -> None:
    jars.service.disturb(
        Action.parse({"failure": {"status": 503, "body": {"error": "down"}, "headers": {"Retry-After": 4}}}),
        "fill_jar",
    )

    response = jars.send("POST", "/v1/jars", body=b'{"label":"plum"}')

    assert (response.status, response.body) == (503, b'{"error":"down"}')
    assert dict(response.headers)["retry-after"] == "4"
    assert response.committed is False
    assert jars.service.summary()["jars"] == 0


def test_disturbing_an_unknown_operation_names_the_nearest(jars: Any) -> None:
    with pytest.raises(ValueError, match=r"'jars' has no operation 'fill_jars'; did you mean 'fill_jar'\?"):
        jars.service.disturb(Action("deny"), "fill_jars")


def test_a_fault_of_the_wire_is_not_a_disturbance(jars: Any) -> None:
    with pytest.raises(ValueError, match="'silence' is the wire's business"):
        jars.service.disturb(Action("silence"), "fill_jar")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"label":"a"} x',
        b'{"label":"a","label":"b"}',
        b'{"label":NaN}',
        b'{"label":"a","size":{"litres":1e999}}',
        b'{"label":"\xff"}',
        b"9" * 5000,
        b"[" * 100_000,
    ],
)
def test_a_body_that_is_not_strict_json_is_refused(jars: Any, body: bytes) -> None:
    response = jars.send("POST", "/v1/jars", body=body)

    assert (response.status, response.body) == (400, b'{"error":"invalid_json"}')


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", b"label"),
        (b"{}", b"label"),
        (b'{"label":null}', b"label"),
        (b'{"label":""}', b"label"),
        (b'{"label":7}', b"label"),
        (b'{"label":true}', b"label"),
        (b'{"label":"a","request_id":1}', b"request_id"),
        (b'{"label":"a","colour":"red","also":1}', b"also"),
        (b"[]", b"body"),
    ],
)
def test_a_wrong_field_is_named(jars: Any, body: bytes, field: bytes) -> None:
    response = jars.send("POST", "/v1/jars", body=body)

    assert (response.status, response.body) == (422, b'{"error":"invalid_request","field":"%s"}' % field)
    assert jars.service.summary()["jars"] == 0


@pytest.mark.parametrize(
    ("query", "status", "body"),
    [
        ("", 422, b'{"error":"invalid_request","field":"label"}'),
        ("label=", 422, b'{"error":"invalid_request","field":"label"}'),
        ("label=a&label=b", 422, b'{"error":"invalid_request","field":"label"}'),
        ("label=a&page=2", 422, b'{"error":"invalid_request","field":"page"}'),
        ("label=%FF", 400, b'{"error":"invalid_query"}'),
        ("label=a%20b%26c", 200, b'{"correlation_id":"c-1","label":"a b&c"}'),
    ],
)
def test_the_fields_of_a_get_come_from_the_query(jars: Any, query: str, status: int, body: bytes) -> None:
    response = jars.send("GET", "/v1/jars", query=query)

    assert (response.status, response.body) == (status, body)


def test_a_lone_surrogate_goes_back_as_the_escape_it_came_in_as(jars: Any) -> None:
    response = jars.send("POST", "/v1/jars", body=b'{"label":"a","\\ud800":1}')

    assert response.body == b'{"error":"invalid_request","field":"\\ud800"}'


def test_names_in_a_path_are_decoded(jars: Any) -> None:
    jars.service.state["jar/1"] = {"label": "plum", "lids": []}

    assert jars.send("POST", "/v1/jars/jar%2F1/lids").status == 200


def test_a_request_that_is_not_committed_gets_the_same_bytes_and_leaves_no_trace(jars: Any) -> None:
    jars.fill()
    unmade = jars.send("POST", "/v1/jars", body=b'{"label":"pear"}', commit=False)
    assert jars.service.summary() == {"jars": 1, "lids": 0}

    made = jars.send("POST", "/v1/jars", body=b'{"label":"pear"}')

    assert (unmade.status, unmade.headers, unmade.body) == (made.status, made.headers, made.body)
    assert (unmade.committed, made.committed) == (False, True)
    assert b"jar-2" in made.body


def test_a_nested_change_that_is_not_committed_leaves_no_trace(jars: Any) -> None:
    jars.fill()
    state = jars.service.state

    unmade = jars.send("POST", "/v1/jars/jar-1/lids", commit=False)

    assert unmade.body == b'{"correlation_id":"c-1","lids":1}'
    assert jars.service.state is state
    assert jars.service.summary() == {"jars": 1, "lids": 0}


def test_a_crash_in_an_action_that_is_not_committed_still_leaves_no_trace(jars: Any) -> None:
    state = jars.service.state

    with pytest.raises(KeyError):
        jars.send("POST", "/v1/jars/none/lids", commit=False)

    assert jars.service.state is state


def test_a_committed_request_does_not_copy_the_state(jars: Any) -> None:
    state = jars.service.state
    jars.fill()

    assert jars.service.state is state


def test_two_routes_for_one_request_are_refused() -> None:
    def act(_self: Service, _call: Call) -> Result:
        return Result(200, {})

    with pytest.raises(ValueError, match=r"GET /v1/x/\{b\} is routed twice"):
        type(
            "Twice",
            (Service,),
            {"routes": (Route("a", "GET", "/v1/x/{b}", act), Route("b", "GET", "/v1/x/{b}", act))},
        )


def test_two_routes_for_one_operation_are_refused() -> None:
    def act(_self: Service, _call: Call) -> Result:
        return Result(200, {})

    with pytest.raises(ValueError, match="operation 'a' has two routes"):
        type("Twice", (Service,), {"routes": (Route("a", "GET", "/v1/x", act), Route("a", "GET", "/v1/y", act))})


def test_services_of_one_trial_share_its_ids() -> None:
    setting = Setting(clock=VirtualClock(), token="tok")

    assert [setting.ids.new("jar"), setting.ids.new("jar"), setting.ids.new("lid")] == ["jar-1", "jar-2", "lid-1"]


def test_an_id_that_a_seed_has_taken_is_passed_over() -> None:
    setting = Setting(clock=VirtualClock(), token="tok")

    assert setting.ids.new("jar", {"jar-1", "jar-2"}) == "jar-3"


def test_repeats_counts_what_was_done_again_by_any_of_its_keys() -> None:
    items: list[dict[str, JSON]] = [
        {"title": "a", "request_id": "r1"},
        {"title": "a", "request_id": "r2"},
        {"title": "b", "request_id": "r2"},
        {"title": "c", "request_id": None},
        {"title": "d", "request_id": None},
    ]

    assert repeats(items, ("title",), ("request_id",)) == 2
    assert repeats(items, ("title", "request_id")) == 0
