"""The probe as it is started by orchestrators."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unacked.conformance import probe
from unacked.conformance.record import Line, read_lines
from unacked.errors import RecordError

Started = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "lines.jsonl"


@pytest.fixture
def start(tmp_path: Path, record: Path) -> Iterator[Started]:
    """``start(script, context)``: the probe of a step ``a`` that obeys a script."""

    begun: list[subprocess.Popen[str]] = []

    def started(script: dict[str, Any], context: object = (), argument: object = None) -> subprocess.Popen[str]:
        file = tmp_path / "script.json"
        file.write_text(json.dumps({"run": "r", "record": str(record), "steps": {"a": script}}))
        words = [
            sys.executable,
            "-I",
            "-S",
            str(probe.__file__),
            str(file),
            "a",
            json.dumps(argument),
            json.dumps(context),
        ]
        begun.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True))
        return begun[-1]

    yield started
    for process in begun:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def first_line(record: Path, process: subprocess.Popen[str]) -> Line:
    while process.poll() is None:
        if found := read_lines(record):
            return found[0]
    raise AssertionError("the probe ended before it had begun")


def test_it_writes_what_it_was_handed_and_prints_its_value(start: Started, record: Path) -> None:
    process = start({}, [["b", "b()"], ["c", "c()"]], 7)
    said, _ = process.communicate()
    assert (process.returncode, said) == (0, '"a[7](b() c())"')
    begin, end = read_lines(record)
    assert (begin.event, begin.attempt, begin.argument, begin.context) == ("begin", 1, 7, (("b", "b()"), ("c", "c()")))
    assert (end.event, end.value, end.host, end.pid) == ("end", "a[7](b() c())", process.pid, process.pid)
    assert end.at_s >= begin.at_s


def test_it_fails_as_often_as_its_script_says(start: Started, record: Path) -> None:
    statuses = [start({"raises": 2}).wait() for _ in range(3)]
    assert statuses == [1, 1, 0]
    written = [(line.attempt, line.event) for line in read_lines(record)]
    assert written == [(1, "begin"), (1, "raise"), (2, "begin"), (2, "raise"), (3, "begin"), (3, "end")]


def test_it_kills_the_command_that_runs_it(start: Started, record: Path) -> None:
    assert start({"kills": [1]}).wait() == -signal.SIGKILL
    assert [line.event for line in read_lines(record)] == ["begin", "kill"]


def test_asked_to_stop_it_cleans_up_first(start: Started, record: Path) -> None:
    process = start({"sleep_s": 60, "cleanup_s": 0})
    first_line(record, process)
    process.terminate()
    assert process.wait() == 143
    assert [line.event for line in read_lines(record)] == ["begin", "stopped", "released"]


def test_a_stubborn_one_does_not_heed_the_request(start: Started, record: Path) -> None:
    process = start({"sleep_s": 0.2, "stubborn": True})
    first_line(record, process)
    process.terminate()
    assert process.wait() == 0
    assert [line.event for line in read_lines(record)] == ["begin", "end"]


def test_a_context_that_is_none_begins_nothing(start: Started, record: Path) -> None:
    assert start({}, {"b": "b()"}).wait() != 0
    assert read_lines(record) == []


def test_a_line_that_is_still_being_written_is_not_there_yet(record: Path) -> None:
    line = {
        "step": "a",
        "attempt": 1,
        "event": "begin",
        "host": 1,
        "pid": 2,
        "at_s": 0.5,
        "argument": None,
        "context": [],
    }
    record.write_text(f"{json.dumps(line)}\n{json.dumps(line)[:20]}")
    assert [found.pid for found in read_lines(record)] == [2]


def test_what_is_no_line_of_a_probe_is_refused(record: Path) -> None:
    record.write_text('{"step": "a"}\n')
    with pytest.raises(RecordError, match=r"lines\.jsonl:1: this is no line of a probe$"):
        read_lines(record)


def test_the_probe_needs_nothing_but_the_standard_library() -> None:
    code = f"import runpy, sys; sys.argv = ['probe']; runpy.run_path({str(probe.__file__)!r}, run_name='probe')"
    environment = {**os.environ, "PYTHONPATH": ""}
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, env=environment)
