"""Shards over a real Temporal: its dev server, workers as processes of their own, and kill -9."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from tests.scale.conftest import texts
from tests.suites import finished_run

from unacked.engine import RunRequest, make_plan, verify
from unacked.errors import HarnessError, SpecificationError
from unacked.scale import gathered
from unacked.scale.shard import make_order
from unacked.scale.temporal import MOST_SHARDS, TemporalQueue
from unacked.suite import load_suite

pytestmark = pytest.mark.long

REQUEST = RunRequest(("E01", "C05"), ("careful", "reckless"), 12)
LEASE_S = 2.0


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """A Temporal of this test alone, and where it listens."""
    program = shutil.which("temporal", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    async with await WorkflowEnvironment.start_local(dev_server_existing_path=program) as environment:
        yield environment.client.service_client.config.target_host


@contextmanager
def worker(address: str, suite: Path, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-m", "unacked", "scale", "worker", "--address", address]
    words += ["--suite", str(suite), "--out", str(out)]
    with subprocess.Popen(words) as process:
        try:
            yield process
        finally:
            process.kill()


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not there():  # noqa: ASYNC110 - files tell nobody that they have grown
            await asyncio.sleep(0.05)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_worker_that_is_killed_in_a_shard_costs_nothing(little: Path, tmp_path: Path) -> None:
    suite = load_suite(little)
    plan = make_plan(suite, REQUEST)
    order, shards = make_order("big", plan, 2), tmp_path / "shards"

    async def run() -> None:
        async with served() as address:
            queue = await TemporalQueue.connect(address)
            await queue.submit(order, lease_s=LEASE_S)
            with pytest.raises(SpecificationError, match="big: there is a run of this name already"):
                await queue.submit(order)
            with worker(address, little, shards) as first:
                await until(lambda: any(lines(path) > 10 for path in shards.glob("big.shard-*/verdicts.jsonl")))
                first.send_signal(signal.SIGKILL)
                first.wait()
            begun = [path.parent.name for path in shards.glob("big.shard-*/verdicts.jsonl") if lines(path)]
            assert len(begun) == 1
            with worker(address, little, shards):
                order_, results = await queue.results("big")
                status = await queue.status("big")
            assert order_ == order
            assert (status.state, len(status.done), status.running, status.given_up) == ("completed", 2, [], {})
            whole = gathered(suite, order, results, shards, tmp_path / "runs")
        local, _ = finished_run(
            little, tmp_path / "local", select=REQUEST.select, agents=REQUEST.agents, repeat=REQUEST.repeat
        )
        assert whole.verdicts.read_bytes() == local.verdicts.read_bytes()
        assert texts(whole) == texts(local)
        assert verify(whole) == len(plan.trials) == 96

    asyncio.run(run())


def test_a_run_can_be_cancelled_and_what_it_finished_is_kept(little: Path, tmp_path: Path) -> None:
    order = make_order("big", make_plan(load_suite(little), REQUEST), 2)

    async def run() -> None:
        async with served() as address:
            queue = await TemporalQueue.connect(address)
            await queue.submit(order, lease_s=LEASE_S)
            with worker(address, little, tmp_path):
                await until(lambda: any(lines(path) > 10 for path in tmp_path.glob("big.shard-*/verdicts.jsonl")))
                assert await queue.cancel("big", patience_s=30) == "canceled"
                assert (await queue.status("big")).state == "canceled"
                with pytest.raises(HarnessError, match=r"^run 'big' is canceled: 0 of 2 done$"):
                    await queue.results("big")
            with pytest.raises(SpecificationError, match="other: there is no run of this name"):
                await queue.status("other")

    asyncio.run(run())
    assert any(lines(path) > 10 for path in tmp_path.glob("big.shard-*/verdicts.jsonl"))


def test_a_worker_with_another_suite_gives_up_its_shards_and_says_why(little: Path, tmp_path: Path) -> None:
    order = replace(make_order("big", make_plan(load_suite(little), REQUEST), 2), run="0" * 16)

    async def run() -> None:
        async with served() as address:
            queue = await TemporalQueue.connect(address)
            await queue.submit(order, lease_s=LEASE_S)
            with worker(address, little, tmp_path):
                why = r"^run 'big' is failed: 0 of 2 done\n    shard 0: .* was ordered as 0{16}"
                with pytest.raises(HarnessError, match=why):
                    await queue.results("big")

    asyncio.run(run())


def test_more_shards_than_a_workflow_may_have_are_refused(little: Path) -> None:
    plan = make_plan(load_suite(little), replace(REQUEST, repeat=200))
    order = make_order("big", plan, MOST_SHARDS + 1)

    async def run() -> None:
        queue = TemporalQueue(await Client.connect("127.0.0.1:1", lazy=True), "unacked")
        with pytest.raises(SpecificationError, match="1001 shards are more than one workflow may have"):
            await queue.submit(order)

    asyncio.run(run())


def test_where_no_temporal_answers_it_is_said() -> None:
    with pytest.raises(HarnessError, match=r"^127\.0\.0\.1:1: no Temporal answers: "):
        asyncio.run(TemporalQueue.connect("127.0.0.1:1"))
