"""The OpenAPI document of each service."""

from __future__ import annotations

from typing import Any

import pytest
from tests.serve.serving import ROOT

from unacked.clock import VirtualClock
from unacked.serve import offer_suite, openapi
from unacked.suite import load_suite

SERVICES = offer_suite(load_suite(ROOT)).build(VirtualClock(), "token")


def document(name: str) -> Any:
    return openapi(SERVICES[name], f"http://{name}")


def operations(name: str) -> dict[str, Any]:
    paths = document(name)["paths"]
    return {operation["operationId"]: operation for path in paths.values() for operation in path.values()}


@pytest.mark.parametrize("name", SERVICES)
def test_every_operation_of_a_service_is_in_its_document(name: str) -> None:
    assert set(operations(name)) == set(SERVICES[name].operations)


@pytest.mark.parametrize("name", SERVICES)
def test_every_name_in_a_path_is_a_parameter(name: str) -> None:
    for path, methods in document(name)["paths"].items():
        for operation in methods.values():
            named = [item["name"] for item in operation["parameters"] if item["in"] == "path"]
            assert [f"{{{word}}}" in path for word in named] == [True] * path.count("{")


def test_a_document_says_where_the_service_is_and_how_to_sign_in() -> None:
    shown = document("records")
    assert (shown["openapi"], shown["info"]["title"], shown["servers"]) == (
        "3.1.0",
        "records",
        [{"url": "http://records"}],
    )
    assert (shown["security"], shown["components"]["securitySchemes"]) == (
        [{"bearer": []}],
        {"bearer": {"type": "http", "scheme": "bearer"}},
    )


def test_a_write_is_described_with_its_body_key_and_answer() -> None:
    create = operations("records")["create_record"]
    body = create["requestBody"]["content"]["application/json"]["schema"]
    assert (sorted(body["properties"]), body["required"]) == (["request_id", "title"], ["title"])
    assert [item["name"] for item in create["parameters"]] == ["Idempotency-Key", "X-Correlation-Id"]
    assert sorted(create["responses"]) == ["201", "400", "401", "403", "404", "409", "422", "429"]
    answer = create["responses"]["201"]["content"]["application/json"]["schema"]
    assert answer["required"] == ["record_id"]


def test_a_lookup_is_described_as_a_collection() -> None:
    lookup = operations("records")["lookup_by_request_id"]
    assert lookup["parameters"][0] == {
        "name": "request_id",
        "in": "query",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
    }
    answer = lookup["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer["required"] == ["items", "complete"]
    assert answer["properties"]["items"]["items"]["required"] == ["record_id"]


def test_a_token_endpoint_is_described_as_a_form_that_asks_for_no_credential() -> None:
    refresh = operations("tokens")["refresh_token"]
    assert (refresh["security"], list(refresh["requestBody"]["content"])) == ([], ["application/x-www-form-urlencoded"])
    answer = refresh["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer["required"] == ["access_token", "token_type", "expires_in"]


def test_a_call_over_mcp_is_described_as_the_message_that_makes_it() -> None:
    message = operations("node")["open_ticket"]["requestBody"]["content"]["application/json"]["schema"]
    arguments = message["properties"]["params"]["properties"]["arguments"]

    assert (message["properties"]["method"], message["required"]) == (
        {"const": "tools/call"},
        ["jsonrpc", "id", "method", "params"],
    )
    assert (set(arguments["properties"]), arguments["required"]) == ({"title", "request_id"}, ["title"])
