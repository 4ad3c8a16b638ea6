"""The wrapper in a real shell: markers before and after, at most one run under an id, a report of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from unacked.marker import FOLDER, REFUSED_STATUS, Order, Report, State, read_order, read_report


class Host:
    """A home folder, and a shell that runs orders in it."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, command: str, operation_id: str = "op-1") -> tuple[int, Report | None]:
        order = Order(operation_id, "cid-1", command)
        done = subprocess.run(
            ["/bin/sh", "-c", order.command_line],
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
            cwd=self.home.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        self.errors = done.stderr
        return done.returncode, read_report(done.stdout)

    def markers(self) -> dict[str, str]:
        folder = self.home / FOLDER
        return {path.name: path.read_text() for path in folder.iterdir()} if folder.is_dir() else {}


@pytest.fixture
def host(tmp_path: Path) -> Host:
    (tmp_path / "home").mkdir()
    return Host(tmp_path / "home")


def test_a_command_that_ends_leaves_both_markers_and_a_report_under_the_ids(host: Host) -> None:
    assert host.run("true") == (0, Report("op-1", "cid-1", State.COMPLETED, 0))
    assert host.markers() == {"op-1.started": "", "op-1.completed": "0\n"}


def test_the_start_marker_stands_before_the_command_changes_anything(host: Host) -> None:
    host.run(f"ls {host.home}/{FOLDER}")
    assert host.errors == "op-1.started\n"


def test_the_second_order_with_one_id_is_not_run(host: Host) -> None:
    host.run("touch first")
    assert host.run("touch second") == (REFUSED_STATUS, Report("op-1", "cid-1", State.ALREADY_STARTED, None))
    assert sorted(path.name for path in host.home.parent.iterdir()) == ["first", "home"]


def test_where_no_marker_can_be_written_nothing_is_run(host: Host) -> None:
    (host.home / ".unacked").write_text("a file where the folder should be")
    assert host.run("touch changed") == (REFUSED_STATUS, Report("op-1", "cid-1", State.MARKER_REFUSED, None))
    assert not (host.home.parent / "changed").exists()


def test_a_program_that_is_not_there_is_refused_before_the_start_marker(host: Host) -> None:
    assert host.run("no-such-program --now") == (
        REFUSED_STATUS,
        Report("op-1", "cid-1", State.COMMAND_NOT_FOUND, None),
    )
    assert host.markers() == {}


def test_a_chain_that_is_left_half_done_completes_with_its_status(host: Host) -> None:
    assert host.run("touch first && false") == (1, Report("op-1", "cid-1", State.COMPLETED, 1))
    assert (host.home.parent / "first").exists()
    assert host.markers()["op-1.completed"] == "1\n"


def test_a_command_that_is_killed_after_its_start_leaves_the_start_marker_only(host: Host) -> None:
    status, report = host.run("kill -KILL $PPID")
    assert status != 0
    assert report is None
    assert host.markers() == {"op-1.started": ""}


def test_a_command_that_looks_like_a_report_is_not_taken_for_one(host: Host) -> None:
    forged = Report("op-1", "cid-1", State.COMPLETED, 0).as_line().strip()
    _, report = host.run(f"echo '{forged}' && exit 3")
    assert report == Report("op-1", "cid-1", State.COMPLETED, 3)


@pytest.mark.parametrize("command", ["echo 'it is' \"quoted\" && false", "a\\b | c; d & e", "$(date) `id` *"])
def test_an_order_is_read_back_from_its_command_line(command: str) -> None:
    order = Order("op-1", "cid-1", command)
    assert read_order(order.command_line) == order


@pytest.mark.parametrize("line", ["uptime", "sh -c true", "sh -c 'unclosed", Order("a", "b", "c").command_line + " d"])
def test_another_command_line_is_no_order(line: str) -> None:
    assert read_order(line) is None


@pytest.mark.parametrize("operation_id", ["", ".hidden", "../up", "a/b", "x" * 65, "a b", "ä"])
def test_an_operation_id_that_is_no_file_name_is_refused(operation_id: str) -> None:
    assert "operation_id" in str(Order(operation_id, "cid-1", "true").problem())


@pytest.mark.parametrize("command", ["", "  ", "a\nb", "a\x00b"])
def test_a_command_that_is_not_one_line_is_refused(command: str) -> None:
    assert "command" in str(Order("op-1", "cid-1", command).problem())


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Last login: today",
        "[]",
        Report("op-1", "cid-1", State.COMPLETED, 0).as_line() * 2,
        Report("op-1", "cid-1", State.COMPLETED, None).as_line(),
        Report("op-1", "cid-1", State.MARKER_REFUSED, 0).as_line(),
        '{"correlation_id":"c","exit_status":0,"operation_id":7,"state":"completed"}',
        '{"correlation_id":"c","exit_status":true,"operation_id":"o","state":"completed"}',
        '{"correlation_id":"c","exit_status":0,"operation_id":"o","state":"done"}',
        '{"correlation_id":"c","exit_status":0,"operation_id":"o"}',
    ],
)
def test_what_is_not_exactly_one_report_is_none(output: str) -> None:
    assert read_report(output) is None
