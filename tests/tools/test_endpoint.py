"""What a call may carry, how it becomes a request, and what a usable answer looks like."""

from __future__ import annotations

import json
import math
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.contract import Argument, Effect, Operation
from unacked.tools.endpoint import Endpoint, argument_problem, field_problem, has_type

JARS = Operation(
    name="fill_jar",
    effect=Effect.UPDATE,
    description="Fill a jar.",
    arguments=(
        Argument("jar_id"),
        Argument("size", "integer"),
        Argument("weight", "number", required=False),
        Argument("open", "boolean", required=False),
        Argument("lids", "array", required=False),
        Argument("label", "object", required=False),
        Argument("kind", required=False, choices=("glass", "clay")),
        Argument("comment", required=False),
        Argument("key", required=False),
        Argument("request_id", required=False),
    ),
    categories=frozenset({"ok"}),
    target="jar_id",
    request="request_id",
    idempotency="key",
)
GOOD: dict[str, Any] = {"jar_id": "jar-1", "size": 3}
ENDPOINT = Endpoint(
    service="jars", method="PUT", path="/v1/jars/{jar_id}/lids/{lid}", query=("color", "size"), body=("label", "kind")
)


# What a call may carry


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"weight": 2, "open": False, "lids": [], "label": {}, "kind": "clay", "key": "K 1", "request_id": "R1"},
        {"weight": 0.5, "comment": ""},
        {"weight": None, "open": None, "kind": None, "key": None},
        {"size": -1_000_000_000_000_000},
    ],
)
def test_a_call_that_holds_the_contract_has_no_problem(arguments: dict[str, Any]) -> None:
    assert argument_problem(JARS, {**GOOD, **arguments}) is None


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"colour": "red"}, "fill_jar takes no argument 'colour'"),
        ({"jar_id": None}, "argument 'jar_id' is missing"),
        ({"jar_id": ""}, "argument 'jar_id' must not be empty"),
        ({"jar_id": 7}, "argument 'jar_id' must be of type string"),
        ({"jar_id": ["jar-1"]}, "argument 'jar_id' must be of type string"),
        ({"size": "3"}, "argument 'size' must be of type integer"),
        ({"size": 3.0}, "argument 'size' must be of type integer"),
        ({"size": True}, "argument 'size' must be of type integer"),
        ({"size": 10**16}, "argument 'size' is out of range"),
        ({"size": -(10**400)}, "argument 'size' is out of range"),
        ({"weight": False}, "argument 'weight' must be of type number"),
        ({"weight": math.nan}, "argument 'weight' is out of range"),
        ({"weight": math.inf}, "argument 'weight' is out of range"),
        ({"weight": 1e300}, "argument 'weight' is out of range"),
        ({"open": 1}, "argument 'open' must be of type boolean"),
        ({"lids": {}}, "argument 'lids' must be of type array"),
        ({"label": []}, "argument 'label' must be of type object"),
        ({"kind": "wood"}, "argument 'kind' must be one of: glass, clay"),
        ({"key": ""}, "argument 'key' must not be empty"),
        ({"request_id": ""}, "argument 'request_id' must not be empty"),
        ({"key": "K\r\nX-Admin: yes"}, "argument 'key' must be printable ASCII"),
        ({"key": "ключ"}, "argument 'key' must be printable ASCII"),
        ({"key": " K"}, "argument 'key' must be printable ASCII"),
        ({"key": "K "}, "argument 'key' must be printable ASCII"),
    ],
)
def test_a_call_that_breaks_the_contract_is_told_why(arguments: dict[str, Any], problem: str) -> None:
    assert argument_problem(JARS, {**GOOD, **arguments}) == problem


def test_an_argument_that_is_not_there_is_missing() -> None:
    assert argument_problem(JARS, {"size": 3}) == "argument 'jar_id' is missing"


@pytest.mark.parametrize("identifier", ["", ".", ".."])
@pytest.mark.parametrize("name", ["jar_id", "lid"])
def test_an_identifier_that_would_name_something_else_in_the_path_is_refused(name: str, identifier: str) -> None:
    arguments = {"jar_id": "a", "lid": "b", name: identifier}
    assert ENDPOINT.problem(arguments) == f"argument {name!r} must be an identifier"


@pytest.mark.parametrize("name", ["jar_id", "lid", "color"])
def test_half_a_character_cannot_stand_in_a_url(name: str) -> None:
    assert (
        ENDPOINT.problem({"jar_id": "a", "lid": "b", name: "x\ud800"}) == f"argument {name!r} must be whole characters"
    )


def test_dots_and_nothing_may_stand_in_the_query_and_the_body() -> None:
    assert ENDPOINT.problem({"jar_id": "a", "lid": "b", "color": "..", "label": "", "kind": "\ud800"}) is None


# How it becomes a request


@pytest.mark.parametrize(
    ("identifier", "path"),
    [
        ("jar-1", "/v1/jars/jar-1/lids/b"),
        ("../records", "/v1/jars/..%2Frecords/lids/b"),
        ("a/b", "/v1/jars/a%2Fb/lids/b"),
        ("a?b=c&d", "/v1/jars/a%3Fb%3Dc%26d/lids/b"),
        ("a#b", "/v1/jars/a%23b/lids/b"),
        ("%2f", "/v1/jars/%252f/lids/b"),
        ("%2e%2e", "/v1/jars/%252e%252e/lids/b"),
        ("é", "/v1/jars/%C3%A9/lids/b"),
        ("a b", "/v1/jars/a%20b/lids/b"),
        ("a\r\nHost: evil", "/v1/jars/a%0D%0AHost%3A%20evil/lids/b"),
        ("@evil.test", "/v1/jars/%40evil.test/lids/b"),
        ("{lid}", "/v1/jars/%7Blid%7D/lids/b"),
    ],
)
def test_an_identifier_in_the_path_is_quoted_and_never_interpreted(identifier: str, path: str) -> None:
    assert ENDPOINT.url({"jar_id": identifier, "lid": "b"}) == f"https://jars.test{path}"


@given(st.text(min_size=1).filter(lambda text: text not in {".", ".."}))
def test_every_identifier_reaches_the_service_as_it_is_under_its_own_path(identifier: str) -> None:
    url = httpx2.URL(ENDPOINT.url({"jar_id": identifier, "lid": "b"}))
    parts = url.raw_path.decode("ascii").split("/")
    assert (url.host, parts[:3], unquote(parts[3]), parts[4:]) == (
        "jars.test",
        ["", "v1", "jars"],
        identifier,
        ["lids", "b"],
    )


def test_half_a_character_in_the_body_is_no_business_of_the_url() -> None:
    assert ENDPOINT.url({"jar_id": "a", "lid": "b", "kind": "\ud800"}) == "https://jars.test/v1/jars/a/lids/b"


@given(st.text())
def test_every_value_in_the_query_reaches_the_service_as_it_is(value: str) -> None:
    url = httpx2.URL(ENDPOINT.url({"jar_id": "a", "lid": "b", "color": value}))
    assert parse_qsl(url.query.decode("ascii"), keep_blank_values=True) == [("color", value)]


def test_the_query_holds_what_is_given_and_nothing_else() -> None:
    arguments = {"jar_id": "a", "lid": "b", "color": None, "size": 0, "label": {"x": 1}}
    assert ENDPOINT.url(arguments) == "https://jars.test/v1/jars/a/lids/b?size=0"


def test_the_body_holds_what_is_given_as_canonical_json() -> None:
    assert ENDPOINT.content({"kind": "é", "label": {"b": 1, "a": None}, "color": "x"}, "cid-1") == (
        b'{"kind":"\\u00e9","label":{"a":null,"b":1}}'
    )


@pytest.mark.parametrize("arguments", [{}, {"kind": None, "color": "x"}])
def test_a_call_with_nothing_for_the_body_sends_none(arguments: dict[str, Any]) -> None:
    assert ENDPOINT.content(arguments, "cid-1") == b""


# What a usable answer looks like


@pytest.mark.parametrize(
    ("json_type", "good", "bad", "named"),
    [
        ("string", ["", "x"], [None, 1, [], {}, True], "a string"),
        ("integer", [0, -3], [None, 1.0, "1", True], "an integer"),
        ("number", [0, 1.5], [None, "1", False], "a number"),
        ("boolean", [True, False], [None, 0, "true"], "a boolean"),
        ("array", [[], [1]], [None, {}, "x"], "an array"),
        ("object", [{}, {"a": 1}], [None, [], "x"], "an object"),
    ],
)
def test_a_field_has_its_type_or_is_told_what_it_must_be(
    json_type: str, good: list[Any], bad: list[Any], named: str
) -> None:
    field = Argument("x", json_type)
    assert [field_problem(field, {"x": value}) for value in good] == [None] * len(good)
    assert [field_problem(field, {"x": value}) for value in bad] == [named] * len(bad)


def test_a_required_field_that_is_absent_is_told_what_it_must_be() -> None:
    assert field_problem(Argument("x", "array"), {}) == "an array"


@pytest.mark.parametrize("body", [{}, {"x": None}])
def test_an_optional_field_may_be_absent_or_null(body: dict[str, Any]) -> None:
    assert field_problem(Argument("x", required=False), body) is None


def test_an_optional_field_that_is_there_must_hold_its_type() -> None:
    assert field_problem(Argument("x", required=False), {"x": 7}) == "a string"


def test_a_field_of_a_closed_set_must_be_in_it() -> None:
    assert field_problem(Argument("x", choices=("open", "shut")), {"x": "ajar"}) == "one of: open, shut"


@pytest.mark.parametrize(("value", "is_number"), [(1, True), (1.5, True), (True, False), ("1", False), (None, False)])
def test_true_and_false_are_not_numbers(value: Any, is_number: bool) -> None:  # noqa: FBT001 - a row of the table
    assert has_type(value, "number") is is_number


def test_what_stands_behind_a_place_travels_in_the_message_and_not_in_the_url() -> None:
    endpoint = Endpoint(service="node", method="POST", path="/mcp#tools/call/{tool}")

    assert endpoint.url({"tool": "a/b"}) == "https://node.test/mcp"
    assert endpoint.headers({"tool": "a/b"})["mcp-name"] == "a/b"
    assert json.loads(endpoint.content({"tool": "a/b"}, "cid-1"))["params"]["name"] == "a/b"


@pytest.mark.parametrize("name", ["caf\u00e9", "a\nb", " a"])
def test_a_name_that_no_head_can_hold_is_refused(name: str) -> None:
    endpoint = Endpoint(service="node", method="POST", path="/mcp#tools/call/{tool}")

    assert endpoint.problem({"tool": name}) == "argument 'tool' must be printable ASCII"
