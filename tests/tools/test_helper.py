"""The helper: a process that alone reads the credential, and whose death leaves the outcome open."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.wire.shells import HOST, ORDER, TOKEN, Served, Shell, category

from unacked.tools.helper import SENDING, Helper, told_by
from unacked.tools.remote import Stage

AGENT = """
import sys
from pathlib import Path
from unacked.marker import Order
from unacked.tools.helper import Helper
exchange = Helper(Path(sys.argv[1]), patience_s=10)("web-1", Order("op-1", "cid-1", "restart"))
print(exchange.stage.name, exchange.exit_status, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(Shell(seconds=0.2), tmp_path) as served:
        yield served


def test_an_order_by_way_of_the_helper_is_done_and_reported(served: Served) -> None:
    exchange = Helper(served.access, patience_s=10)(HOST, ORDER)
    assert (category(exchange), served.world()["restarts"]) == ("ok", 1)


@pytest.mark.long
def test_a_wrong_credential_is_refused(served: Served) -> None:
    served.token_file.write_text("tok_other")
    assert category(Helper(served.access, patience_s=10)(HOST, ORDER)) == "authentication_failed"


@pytest.mark.long
def test_a_port_where_nobody_listens_is_a_local_failure(served: Served) -> None:
    written = json.loads(served.access.read_text())
    served.access.write_text(json.dumps(written | {"port": 1}))
    assert category(Helper(served.access, patience_s=10)(HOST, ORDER)) == "local_failure"


@pytest.mark.parametrize(("output", "restarts", "completed"), [("silent", 1, 1), ("tty", 0, 0)])
def test_the_helper_dies_after_the_remote_start(tmp_path: Path, output: str, restarts: int, completed: int) -> None:
    """Once the command goes on and completes, once the hang-up kills it: the caller cannot tell."""
    pids: list[int] = []
    known = threading.Event()

    def started(pid: int) -> None:
        pids.append(pid)
        known.set()

    def kill(event: str) -> None:
        if event == "remote_started" and known.wait(10):
            os.kill(pids[0], signal.SIGKILL)

    with Served(Shell(seconds=0.3, output=output), tmp_path, on_event=kill) as served:
        exchange = Helper(served.access, patience_s=10, started=started)(HOST, ORDER)
        served.ended.wait(10)
        assert (exchange.stage, category(exchange)) == (Stage.ORDER_SENT, "outcome_unknown")
        assert (served.world()["started"], served.world()["completed"]) == (1, completed)
        assert served.world()["restarts"] == restarts


@pytest.mark.parametrize(
    ("lines", "category_told"),
    [
        ([], "local_failure"),
        (["nonsense"], "local_failure"),
        ([SENDING], "outcome_unknown"),
        ([SENDING, '{"phase": "ended"'], "outcome_unknown"),
        ([SENDING, "[]"], "outcome_unknown"),
    ],
)
def test_a_helper_that_breaks_off_is_believed_as_far_as_it_got(lines: list[str], category_told: str) -> None:
    assert category(told_by(lines, 1.0)) == category_told


def memory_holds(pid: int, needle: bytes) -> bool:
    """Whether the readable and writable memory of a process holds some bytes."""
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if match is None or "[v" in line:
                continue
            first, last = (int(place, 16) for place in match.groups())
            memory.seek(first)
            if needle in memory.read(last - first):
                return True
    return False


@pytest.mark.long
@pytest.mark.parametrize(("variable", "expected"), [("HARMLESS", False), ("CREDENTIAL", True)])
def test_the_credential_is_nowhere_in_the_caller_s_process(served: Served, variable: str, expected: bool) -> None:  # noqa: FBT001 - the two sides of the check
    """The second side shows that the search would find it."""
    environment = {**os.environ, variable: TOKEN if variable == "CREDENTIAL" else "nothing"}
    with subprocess.Popen(
        [sys.executable, "-c", AGENT, str(served.access)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        assert agent.stdout.readline() == "ENDED 0\n"
        assert memory_holds(agent.pid, TOKEN.encode()) is expected
        agent.stdin.close()
