"""What adapters in Python build on, and how little is left for them to say."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from unacked.conformance.adapter import SHIPPED
from unacked.conformance.job import Job, StepFailed, beating, context_of, is_wanted, worst_of

ECHO = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", "script"]
FAIL = [sys.executable, "-c", "raise SystemExit(1)"]


def job(folder: Path, *, verb: str = "start", **plan: Any) -> Job:
    (folder / "plan.json").write_text(json.dumps({"run": "r", "steps": [], "on": {}, **plan}))
    return Job.told([verb, str(folder / "plan.json"), str(folder)])


def code_lines(source: str) -> int:
    """How many lines of a program are neither blank, nor comments, nor docstrings."""
    tree = ast.parse(source)
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    told = [node.body[0] for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node) is not None]
    prose = {number for text in told for number in range(text.lineno, (text.end_lineno or 0) + 1)}
    lines = enumerate(source.splitlines(), start=1)
    return sum(number not in prose and line.strip()[:1] not in ("", "#") for number, line in lines)


def test_lines_of_code_are_counted_without_prose() -> None:
    source = '"""What it is."""\n\nx = """a\nb"""  # why\n# more\ndef f():\n    """Do."""\n    return x\n'
    assert code_lines(source) == 4


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.*")), ids=lambda path: path.name)
def test_an_adapter_is_a_file_and_at_most_sixty_lines_of_code(path: Path) -> None:
    source = path.read_text()
    assert (code_lines(source) if path.suffix == ".py" else len(source.splitlines())) <= 60


def test_a_command_is_told_its_verb_plan_state_and_port(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"steps":[{"argument":1},{"argument":null}]}')
    told = Job.told(["resume", str(tmp_path / "plan.json"), "there", "7233"])
    assert (told.verb, told.state, told.port, told.arguments) == ("resume", Path("there"), 7233, [1, None])


def test_a_probe_is_handed_its_step_argument_and_context_as_json(tmp_path: Path) -> None:
    value = asyncio.run(job(tmp_path, probe=ECHO).probe("a", {"x": 1}, [("b", "v")]))
    assert value == ["script", "a", '{"x": 1}', '[["b", "v"]]']


def test_a_probe_that_fails_is_a_step_that_failed(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="a"):
        asyncio.run(job(tmp_path, probe=FAIL).probe("a"))


def test_how_a_run_ended_is_told_to_the_steps_that_the_plan_has_for_it(tmp_path: Path) -> None:
    told: list[Any] = []

    class Told(Job):
        async def probe(self, step: str, argument: Any = None, context: Any = ()) -> None:
            told.append((step, argument, context))

    plan: Mapping[str, Any] = {"on": {"deadletter": "dead", "failed": "over", "compensation_failed": "stuck"}}
    asyncio.run(Told("start", plan, tmp_path).tell_end(["succeeded", "failed"], dead=["a"], stuck=["b"]))
    assert told == [("dead", None, [("a", None)]), ("stuck", None, [("b", None)]), ("over", None, [])]


def test_a_step_is_handed_the_values_of_those_before_it_that_gave_one() -> None:
    assert context_of({"after": ["b", "gone", "a"]}, {"a": 1, "b": 2, "c": 3}) == [["b", 2], ["a", 1]]


def test_a_step_is_wanted_unless_its_condition_does_not_hold() -> None:
    assert is_wanted({"when": None}, {})
    assert is_wanted({"when": ["a", "yes"]}, {"a": "yes"})
    assert not is_wanted({"when": ["a", "yes"]}, {"a": "no"})
    assert not is_wanted({"when": ["a", "yes"]}, {})


@pytest.mark.parametrize(
    ("states", "worst"),
    [
        ([], "succeeded"),
        (["succeeded", "skipped"], "succeeded"),
        (["failed", "timed_out", "skipped"], "timed_out"),
        (["timed_out", "cancelled"], "cancelled"),
    ],
)
def test_a_run_ends_in_the_worst_state_of_its_steps(states: list[str], worst: str) -> None:
    assert worst_of(states) == worst


def test_a_worker_waits_until_a_run_is_free_and_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unacked.conformance.job.time.sleep", lambda _: None)
    tries: list[int] = []

    def work() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise BlockingIOError

    job(tmp_path, verb="worker").once_free(work, BlockingIOError)
    assert len(tries) == 3
    tries.clear()
    with pytest.raises(BlockingIOError):
        job(tmp_path, verb="resume").once_free(work, BlockingIOError)


def test_another_command_of_the_run_can_cancel_it(tmp_path: Path) -> None:
    async def run() -> None:
        cancelled = asyncio.Event()
        job(tmp_path).heed_cancel(cancelled.set)
        job(tmp_path, verb="cancel").send_cancel()
        await asyncio.wait_for(cancelled.wait(), 10)

    asyncio.run(run())
    assert (tmp_path / "pid").read_text() == str(os.getpid())


def test_a_heart_beats_as_long_as_the_block_runs() -> None:
    beats: list[int] = []

    async def run() -> None:
        thrice = asyncio.Event()

        def beat() -> None:
            beats.append(1)
            if len(beats) == 3:
                thrice.set()

        async with beating(beat, every_s=0):
            await asyncio.wait_for(thrice.wait(), 10)
        beats.clear()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(run())
    assert beats == []
