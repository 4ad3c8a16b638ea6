"""Clients that nobody here wrote: what they tell their caller, and what the service's ledger says."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
import requests
from tests.serve.serving import Here

RECEIVED, COMMITTED = "received", "mutation_committed"
PATIENCE_S = 0.25


@pytest.fixture
def fresh(stand: Here) -> Here:
    requests.post(
        f"{stand._stand.control_url}/reset",
        headers={"Authorization": f"Bearer {stand._stand.control_token}"},
        timeout=10,
    )
    return stand


def by_requests(here: Here, method: str = "POST", **options: Any) -> str:
    """Make one call with the library's defaults; return the status or the name of the exception."""
    body = {"title": "x"} if method == "POST" else None
    try:
        answer = requests.request(method, here.records, json=body, headers=here.headers, timeout=PATIENCE_S, **options)
    except requests.RequestException as error:
        return type(error).__name__
    return str(answer.status_code)


def by_aiohttp(here: Here, *methods: str) -> list[str]:
    """Make calls on one session with the library's defaults; return statuses or names of exceptions."""

    async def calls() -> list[str]:
        seen = []
        timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
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
    assert by_requests(fresh) == claim
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
    assert by_aiohttp(fresh, "POST") == [claim]
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
