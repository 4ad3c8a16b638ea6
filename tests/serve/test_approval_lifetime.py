"""An approval ends with the process that it was given to: real processes against the gate on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.serve.serving import Served

PROCESS = Path(__file__).with_name("approved_process.py")
SEED = """
forge: {releases: [{release_id: rel-3}, {release_id: rel-4}, {release_id: rel-5}]}
gate: {decisions: [approved, declined, approved]}
"""


def request(release: str) -> list[Any]:
    return ["request_approval", {"action": "delete_release", "target": release}]


def delete(release: str, approval: str | None) -> list[Any]:
    return ["delete_release", {"release_id": release, "approval_id": approval}]


@pytest.fixture
def in_a_process(start: Callable[..., Served], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Make calls in a new process each time; all of them against the same services."""
    (tmp_path / "seed.yaml").write_text(SEED)
    served = start("--seed-file", str(tmp_path / "seed.yaml"))
    lines = [served.services[name] for name in ("forge", "gate")]
    urls = {line["service"]: line["url"] for line in lines}

    def run(name: str, *calls: list[Any]) -> dict[str, Any]:
        given = json.dumps({"urls": urls, "token": lines[0]["credential"], "name": name, "calls": calls})
        done = subprocess.run(
            [sys.executable, PROCESS], input=given, capture_output=True, text=True, timeout=60, check=True
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        answer["said"] = [(result["category"], result.get("refusal")) for result in answer["results"]]
        answer["world"], answer["ledger"] = served.ask("/world"), served.ask("/ledger/forge")
        return answer

    return run


def test_an_approval_serves_in_its_process_a_decline_ends_there_and_a_new_process_holds_neither(
    in_a_process: Callable[..., dict[str, Any]],
) -> None:
    first = in_a_process(
        "first", request("rel-3"), delete("rel-3", "apr-1"), request("rel-4"), delete("rel-4", None), request("rel-5")
    )
    assert first["said"] == [
        ("approved", None),
        ("ok", None),
        ("declined", "call_declined"),
        ("declined", "call_declined"),
        ("approved", None),
    ]
    left = first["results"][4]["result"]["approval_id"]

    second = in_a_process("second", delete("rel-5", left))

    assert second["pid"] != first["pid"]
    assert second["said"] == [("declined", "approval_unknown")]
    assert second["world"]["forge"]["releases"] == 2
    assert second["world"]["gate"] == {"prompts": 3, "approvals": 2, "approved_calls": 1}
    assert {entry["correlation_id"] for entry in second["ledger"]} == {"first-1"}
