"""How many times a service sees one call, for clients with the defaults of their libraries, and what they claim.

Each client makes one POST, with a timeout of a second, against a service on a real socket that always does
the same: falls silent after the commit, resets, answers 500, 429 or a 307 to itself. What the service
counted is the truth. Nothing is installed here: a client that is not there is named as not measured.

    python benchmarks/resends.py [CLIENT ..] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import importlib.util
import json
import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import md5
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from unacked.fault import Action, Fault, Point
from unacked.wire.loopback import LoopbackServer
from unacked.wire.message import Request, Response

PATIENCE_S = 1.0
FAULTS: Mapping[str, tuple[str, Any]] = {
    "timeout": ("after_commit", "silence"),
    "reset": ("after_commit", "rst"),
    "500": ("after_commit", {"status": {"code": 500, "body": {"error": {"message": "failed"}}}}),
    "429": ("before_commit", {"status": {"code": 429, "body": {"error": {"message": "slow down"}}}}),
    "307 loop": ("after_commit", {"redirect": 307}),
}
JSON_TYPE = ("content-type", "application/json")


class Anything:
    """Takes every POST for the same operation, and answers as the client's own service would."""

    name = "anything"
    operations = ("call",)

    def operation_of(self, method: str, path: str) -> str | None:  # noqa: ARG002
        """Every POST is a call."""
        return "call" if method == "POST" else None

    def handle(self, request: Request, *, commit: bool = True) -> Response:  # noqa: ARG002
        """Answer well, so that only the fault is to blame."""
        answer: dict[str, Any] = {"id": "x-1", "object": "charge"}
        if "x-amz-target" in request.headers:
            body = json.loads(request.body)["MessageBody"]
            answer = {"MessageId": "m-1", "MD5OfMessageBody": md5(body.encode(), usedforsecurity=False).hexdigest()}
        elif b"amount=" in request.body:
            answer["amount"] = int(parse_qs(request.body.decode())["amount"][0])
        return Response(200, json.dumps(answer).encode(), (JSON_TYPE,), committed=True)

    def disturb(self, action: Action, operation: str) -> None:
        """Do nothing."""


# The clients: each makes one POST to a URL, and returns a word for what it told its caller


def by_httpx2(url: str) -> str:
    """Use httpx2, redirects followed, for its default never does."""
    import httpx2

    return str(
        httpx2.post(f"{url}/v1/x", json={}, timeout=PATIENCE_S, follow_redirects=True, trust_env=False).status_code
    )


def by_requests(url: str) -> str:
    """Use requests."""
    import requests

    return str(requests.post(f"{url}/v1/x", json={}, timeout=PATIENCE_S).status_code)


def by_aiohttp(url: str) -> str:
    """Use aiohttp."""
    import aiohttp

    async def call() -> str:
        patience = aiohttp.ClientTimeout(total=PATIENCE_S)
        async with aiohttp.ClientSession(timeout=patience) as session, session.post(f"{url}/v1/x", json={}) as answer:
            return str(answer.status)

    return asyncio.run(call())


def by_anthropic(url: str) -> str:
    """Use anthropic's messages."""
    import anthropic

    client = anthropic.Anthropic(api_key="k", base_url=url, timeout=int(PATIENCE_S))
    client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
    return "200"


def by_openai(url: str) -> str:
    """Use openai's chat completions."""
    import openai

    client = openai.OpenAI(api_key="k", base_url=f"{url}/v1", timeout=PATIENCE_S)
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
    return "200"


def by_boto3(url: str) -> str:
    """Send a message to an SQS queue."""
    import boto3
    from botocore.config import Config

    patience = Config(connect_timeout=PATIENCE_S, read_timeout=PATIENCE_S)
    keys = {"aws_access_key_id": "k", "aws_secret_access_key": "k"}
    queue = boto3.client("sqs", endpoint_url=url, region_name="us-east-1", config=patience, **keys)
    queue.send_message(QueueUrl=f"{url}/1/q", MessageBody="x")
    return "200"


def by_stripe(url: str) -> str:
    """Create a charge by the module's own API."""
    import stripe

    stripe.api_key, stripe.api_base = "k", url
    stripe.default_http_client = stripe.new_default_http_client(timeout=PATIENCE_S)
    stripe.Charge.create(amount=9, currency="eur")
    return "200"


def by_pygithub(url: str) -> str:
    """Open an issue; the repository itself is not asked for."""
    import github

    hub = github.Github(auth=github.Auth.Token("k"), base_url=url, timeout=int(PATIENCE_S), lazy=True)
    hub.get_repo("o/r").create_issue("x")
    return "200"


def by_curl(url: str, *options: str) -> str:
    """Use curl, redirects followed."""
    command = ["curl", "--silent", "--location", "--max-time", str(PATIENCE_S), "--write-out", "%{http_code}"]
    command += ["--noproxy", "*", "--data", "{}", *options, f"{url}/v1/x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - nobody else's words
    return done.stdout[-3:] if done.returncode == 0 else f"exit {done.returncode}"


def by_curl_with_retry(url: str) -> str:
    """Use curl with its own retries."""
    return by_curl(url, "--retry", "2", "--retry-all-errors", "--retry-delay", "1")


class Client(NamedTuple):
    """What is called, and what must be there for it."""

    call: Callable[[str], str]
    needs: str
    imports: str = ""

    @property
    def module(self) -> str:
        """What is imported where the package is there."""
        return self.imports or self.needs


CLIENTS: Mapping[str, Client] = {
    "httpx2": Client(by_httpx2, "httpx2"),
    "requests": Client(by_requests, "requests"),
    "aiohttp": Client(by_aiohttp, "aiohttp"),
    "anthropic": Client(by_anthropic, "anthropic"),
    "openai": Client(by_openai, "openai"),
    "boto3": Client(by_boto3, "boto3"),
    "stripe": Client(by_stripe, "stripe"),
    "PyGithub": Client(by_pygithub, "PyGithub", "github"),
    "curl": Client(by_curl, "curl"),
    "curl --retry 2": Client(by_curl_with_retry, "curl"),
}


class Measured(NamedTuple):
    """How many times the service saw the call, and what the client claimed."""

    seen: int
    claim: str


def version(client: Client) -> str | None:
    """Return which version is there, None where none is."""
    if client.needs == "curl":
        if shutil.which("curl") is None:
            return None
        return subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]  # noqa: S607
    return importlib.metadata.version(client.needs) if importlib.util.find_spec(client.module) else None


def measure(client: Client, fault: str) -> Measured:
    """Let one client make one call of a service with a persistent fault."""
    point, action = FAULTS[fault]
    planned = Fault("call", Point(point), Action.parse(action), persistent=True)
    with LoopbackServer([Anything()], [planned]) as server:
        try:
            claim = client.call(server.url("anything"))
        except Exception as error:  # noqa: BLE001 - which one it is, is what is measured
            claim = type(error).__name__
        server.settle()
        return Measured(server.run(lambda: server.faults.calls.get("call", 0)), claim)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", choices=[[], *CLIENTS], metavar="CLIENT")
    parser.add_argument("--json", action="store_true", help="one JSON object a client")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if not arguments.json:
        print(f"| client | {' | '.join(FAULTS)} |\n|{' --- |' * (len(FAULTS) + 1)}")
    for name in arguments.clients or CLIENTS:
        present = version(CLIENTS[name])
        if present is None:
            print(f"{name}: not installed, not measured", file=sys.stderr)
            continue
        results = {fault: measure(CLIENTS[name], fault) for fault in FAULTS}
        if arguments.json:
            print(json.dumps({"client": name, "version": present, **{key: list(of) for key, of in results.items()}}))
        else:
            cells = (f"**{result.seen}** {result.claim}" for result in results.values())
            print(f"| {name} {present} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
