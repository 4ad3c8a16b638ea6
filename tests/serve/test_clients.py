"""Clients that nobody here wrote: what they tell their caller, and what the service's ledger says."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import Any

import aiohttp
import pytest
import requests
from tests.serve.serving import ROOT, Here

RECEIVED, COMMITTED = "received", "mutation_committed"
PATIENCE_S, SHORT_S = 10.0, 0.25


@pytest.fixture
def fresh(stand: Here) -> Here:
    requests.post(
        f"{stand._stand.control_url}/reset",
        headers={"Authorization": f"Bearer {stand._stand.control_token}"},
        timeout=10,
    )
    return stand


def by_requests(here: Here, patience_s: float = PATIENCE_S) -> str:
    """Make one POST with the library's defaults; return the status or the name of the exception."""
    try:
        answer = requests.post(here.records, json={"title": "x"}, headers=here.headers, timeout=patience_s)
    except requests.RequestException as error:
        return type(error).__name__
    return str(answer.status_code)


def by_aiohttp(here: Here, *methods: str, patience_s: float = PATIENCE_S) -> list[str]:
    """Make calls on one session with the library's defaults; return statuses or names of exceptions."""

    async def calls() -> list[str]:
        seen = []
        timeout = aiohttp.ClientTimeout(total=patience_s)
        async with aiohttp.ClientSession(headers=here.headers, timeout=timeout) as session:
            for method in methods:
                body = {"title": "x"} if method == "POST" else None
                query = {"request_id": "req-1"} if method == "GET" else None
                try:
                    async with session.request(method, here.records, json=body, params=query) as answer:
                        await answer.read()
                        seen.append(str(answer.status))
                except (aiohttp.ClientError, TimeoutError) as error:
                    seen.append(type(error).__name__)
        return seen

    return asyncio.run(calls())


def planned(point: str, action: Any, **options: Any) -> dict[str, Any]:
    return {"operation": options.pop("operation", "create_record"), "point": point, "action": action, **options}


@pytest.mark.parametrize(
    ("point", "action", "claim", "committed"),
    [
        ("after_commit", "silence", "ReadTimeout", 1),
        ("before_commit", "silence", "ReadTimeout", 0),
        ("after_commit", "rst", "ConnectionError", 1),
        ("after_commit", {"status": 500}, "500", 1),
        ("before_commit", {"rate_limit": 30}, "429", 0),
        ("before_connect", "silence", "ConnectTimeout", 0),
    ],
)
def test_requests_sends_a_post_once(fresh: Here, point: str, action: Any, claim: str, committed: int) -> None:
    fresh.arm(planned(point, action))
    assert by_requests(fresh, SHORT_S if action == "silence" else PATIENCE_S) == claim
    assert (fresh.calls(), len(fresh.moments(COMMITTED))) == (1, committed)


def test_requests_follows_a_307_to_itself_with_30_more_posts(fresh: Here) -> None:
    fresh.arm(planned("after_commit", {"redirect": 307}, persistent=True))
    assert by_requests(fresh) == "TooManyRedirects"
    assert len(fresh.moments(COMMITTED)) == 31


@pytest.mark.parametrize(
    ("point", "action", "claim", "committed"),
    [
        ("after_commit", "silence", "TimeoutError", 1),
        ("after_commit", "rst", "ClientOSError", 1),
        ("after_commit", "fin", "ServerDisconnectedError", 1),
        ("after_commit", {"status": 500}, "500", 1),
    ],
)
def test_aiohttp_sends_a_post_once(fresh: Here, point: str, action: Any, claim: str, committed: int) -> None:
    fresh.arm(planned(point, action))
    assert by_aiohttp(fresh, "POST", patience_s=SHORT_S if action == "silence" else PATIENCE_S) == [claim]
    assert (fresh.calls(), len(fresh.moments(COMMITTED))) == (1, committed)


def test_aiohttp_follows_a_307_to_itself_with_9_more_posts(fresh: Here) -> None:
    fresh.arm(planned("after_commit", {"redirect": 307}, persistent=True))
    assert by_aiohttp(fresh, "POST") == ["TooManyRedirects"]
    assert len(fresh.moments(COMMITTED)) == 10


def test_aiohttp_silently_sends_a_get_again_where_the_kept_connection_was_closed(fresh: Here) -> None:
    fresh.arm(planned("reuse", "fin", operation="lookup_by_request_id", nth=2))
    assert by_aiohttp(fresh, "GET", "GET") == ["200", "200"]
    assert fresh._server.faults.unfired == ()
    assert len(fresh.moments(RECEIVED)) == 2  # the third request is the second call's: its first one was never read


@pytest.mark.long  # real timeouts and retries of many calls
@pytest.mark.parametrize(
    "client", ["httpx2", "requests", "aiohttp", "boto3", "stripe", "PyGithub", "curl", "curl --retry 2"]
)
def test_the_table_of_clients_says_what_is_measured(client: str) -> None:
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {re.escape(client)} [\d.]+ \|(.*)\|$", page, flags=re.MULTILINE)
    command = [sys.executable, str(ROOT / "benchmarks" / "resends.py"), client, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    measured = json.loads(done.stdout)
    faults = ("timeout", "reset", "500", "429", "307 loop")
    assert [int(count) for count in re.findall(r"\*\*(\d+)\*\*", row)] == [measured[fault][0] for fault in faults]
