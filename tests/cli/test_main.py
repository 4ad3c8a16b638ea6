from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.suites import CommandLine, start

from unacked import __version__
from unacked.cli import COMMANDS

SLOW = ("httpx2", "httpcore2", "pydantic", "networkx", "rich", "yaml", "h11", "jsonlines", "multiprocessing")


def test_help_names_every_command_and_the_exit_codes(unacked: CommandLine) -> None:
    done = unacked("--help")
    assert done.code == 0
    assert [name for name in COMMANDS if f"  {name} " not in done.out] == []
    assert "130 interrupted" in done.out


@pytest.mark.parametrize("command", [*COMMANDS, "audit verify"])
def test_every_command_has_help(unacked: CommandLine, command: str) -> None:
    done = unacked(*command.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Usage: unacked {command}" in done.out


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_loads_none_of_the_slow_libraries(tmp_path: Path, arguments: list[str]) -> None:
    code = (
        "import sys; from unacked.cli import main; sys.argv[1:] = sys.argv[1:]\n"
        "try:\n    main()\nexcept SystemExit:\n    print(*sys.modules)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert loaded & set(SLOW) == set()


def test_the_version_is_told(unacked: CommandLine) -> None:
    assert unacked("--version").out == f"unacked, version {__version__}\n"


@pytest.mark.parametrize("arguments", [("rnu",), ("--nonsense",), ("show",), ("judge",), ("audit",), ("audit", "x")])
def test_a_command_line_that_makes_no_sense_is_a_usage_error(unacked: CommandLine, arguments: tuple[str, ...]) -> None:
    done = unacked(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err != ""


@pytest.mark.parametrize("arguments", [("show", "r"), ("check", "r"), ("audit", "verify", "r")])
def test_a_run_that_is_not_there_is_a_usage_error(unacked: CommandLine, arguments: tuple[str, ...]) -> None:
    done = unacked(*arguments)
    assert done.code == 2
    assert "there is no run 'r' in runs" in done.err


@pytest.mark.parametrize("error", [ZeroDivisionError("odd"), EOFError("odd"), RecursionError("odd"), SystemExit("odd")])
def test_a_fault_of_our_own_is_told_as_such_without_a_traceback(
    unacked: CommandLine, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(_path: object) -> None:
        raise error

    monkeypatch.setattr("unacked.cli.list_command.open_suite", fail)
    done = unacked("list")
    assert done.code == 4
    assert f"unexpected {type(error).__name__}: odd\n    hint: this is a fault of unacked; " in done.err


def test_ctrl_c_ends_any_command_without_a_traceback(unacked: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(_path: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unacked.cli.list_command.open_suite", press)
    done = unacked("list")
    assert (done.code, done.out, done.err.strip()) == (130, "", "interrupted")


def test_a_fault_of_our_own_shows_where_it_happened_to_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unacked.cli.list_command.open_suite", lambda _path: 1 // 0)
    monkeypatch.setattr("sys.argv", ["unacked", "list"])
    monkeypatch.setenv("UNACKED_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        sys.modules["unacked.cli"].main()


def test_trouble_with_the_machine_is_not_told_as_a_fault_of_our_own(unacked: CommandLine) -> None:
    done = unacked("run", "--suite", "x" * 300)
    assert done.code == 4
    assert done.err == f"{'x' * 300}/agents: File name too long\n"


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["list"], ["run", "C01", "--agent", "careful"], ["list", "--help"], ["schema"]])
def test_a_reader_that_goes_away_is_no_reason_to_shout(tmp_path: Path, arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "unacked", *arguments]
    done = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (4, "")


def test_the_module_is_the_same_command(tmp_path: Path) -> None:
    done = start("--version", cwd=tmp_path)
    assert (done.code, done.out) == (0, f"unacked, version {__version__}\n")


@pytest.mark.long
def test_a_terminal_that_knows_ascii_only_is_no_reason_to_fail(tmp_path: Path) -> None:
    done = start("run", "C01", "--agent", "careful", cwd=tmp_path, environment={"PYTHONIOENCODING": "ascii"})
    assert done.code == 0, done.err


def test_an_argument_that_is_no_text_is_refused(unacked: CommandLine) -> None:
    done = unacked("run", "C01", "--seed", "\udcff")
    assert (done.code, done.err) == (2, "argument: '\\udcff' is not UTF-8\n")
