"""What a reply over MCP is accused of."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.suites import start

from unacked.adapter import Misreply, cases_of, check, load_adapter
from unacked.adapter.replies import read_reply
from unacked.errors import SpecificationError
from unacked.suite import Suite

DONE = {"ok": True, "category": "ok", "operation": "create_record"}
LOST = {"ok": False, "category": "outcome_unknown", "operation": "create_record"}


def text(value: object) -> list[dict[str, str]]:
    return [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]


@pytest.mark.parametrize(
    ("reply", "envelope"),
    [
        ({"structuredContent": DONE, "content": text(DONE)}, DONE),
        ({"structuredContent": LOST, "content": [], "isError": True}, LOST),
        ({"content": text(LOST), "isError": True}, LOST),
        ({"structuredContent": DONE, "content": text("It is done.")}, DONE),
    ],
)
def test_one_place_is_enough(reply: dict[str, Any], envelope: dict[str, Any]) -> None:
    assert read_reply(reply) == envelope


@pytest.mark.parametrize(
    ("reply", "rule", "empty"),
    [
        ({"content": text(LOST)}, "failure-as-success", False),
        ({"content": text("Request timed out")}, "failure-as-success", False),
        ({"content": text(DONE), "isError": True}, "success-as-error", False),
        ({"content": text("Something went wrong."), "isError": True}, "error-without-envelope", False),
        ({"content": text("Created record 7.")}, "prose-for-envelope", False),
        ({"content": text({"record_id": "7"})}, "prose-for-envelope", False),
        ({"content": text("[]")}, "prose-for-envelope", True),
        ({"structuredContent": {"items": []}, "content": text({"items": []})}, "prose-for-envelope", True),
        ({"content": []}, "prose-for-envelope", True),
        ({"structuredContent": DONE, "content": text(LOST)}, "places-disagree", False),
    ],
)
def test_a_reply_that_says_two_things_or_none_is_refused(reply: dict[str, Any], rule: str, *, empty: bool) -> None:
    with pytest.raises(Misreply) as refused:
        read_reply(reply)
    assert (refused.value.rule, refused.value.empty) == (rule, empty)


def test_a_program_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(SpecificationError, match="'no-such-server' is no program that could be started"):
        load_adapter("mcp:no-such-server --stdio")


def test_a_server_is_not_reached_on_the_simulated_wire(tmp_path: Path) -> None:
    done = start("adapter", "check", "mcp:true", "read_build", "--wire", "simulated", cwd=tmp_path)
    assert (done.code, "only the loopback wire reaches it" in done.err) == (2, True)


SERVER = """
import json, os, sys
import httpx2
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")
token, correlation_id = os.environ["UNACKED_TOKEN"], os.environ["UNACKED_CORRELATION_ID"]

@server.tool()
def get_record(record_id: str) -> str:
    print("asked with", token, file=sys.stderr)
    headers = {"Authorization": "Bearer " + token, "X-Correlation-Id": correlation_id}
    try:
        answer = httpx2.get(os.environ["UNACKED_URL_RECORDS"] + "/v1/records/" + record_id, headers=headers)
        answer.raise_for_status()
    except httpx2.HTTPError as error:
        return "request failed: " + repr(error)
    envelope = {"ok": True, "category": "ok", "operation": "get_record", "retry": "none", "message": "Done."}
    return json.dumps({**envelope, "correlation_id": correlation_id, "result": answer.json()})

server.run()
"""


@pytest.mark.long
def test_a_server_of_the_users_own_is_put_to_the_test(tmp_path: Path, shipped: Suite) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    adapter = load_adapter(f"mcp:{sys.executable} {tmp_path / 'server.py'}")
    rules: list[set[str]] = []
    for heard in check(adapter, shipped, cases_of(shipped, ["get_record"]), wire="loopback"):
        rules += [{finding.rule for finding in heard.findings}] if heard.skipped is None else []
        if "failure-as-success" in set().union(*rules):
            break
    assert (rules[0], rules[-1]) == ({"secret-leaked"}, {"secret-leaked", "failure-as-success"})
