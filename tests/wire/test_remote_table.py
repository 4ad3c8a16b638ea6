"""The table of docs/remote-commands.md, row by row: what happened, what the client saw, which category."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import yaml
from tests.wire.shells import ROOT, Shell, category, seen

from unacked.fault import Action, Fault, Point
from unacked.wire.remote import REMOTE_FAULTS


class Row(NamedTuple):
    happened: str
    point: str
    action: str
    saw: str
    category: str
    loopback: str

    def faults(self) -> tuple[Fault, ...]:
        if not self.action:
            return ()
        return (Fault("run_command", Point(self.point), Action.parse(yaml.safe_load(_written(self.action)))),)


def _written(action: str) -> str:
    return f"{{{action}}}" if ":" in action else action


def rows() -> list[Row]:
    lines = (ROOT / "docs" / "remote-commands.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [Row(*found) for found in cells if len(found) == 6 and found[0] not in ("what happened", "---")]


ROWS = rows()
EVERY = pytest.mark.parametrize("row", ROWS, ids=[row.happened for row in ROWS])


@EVERY
def test_what_the_client_saw_and_the_category_are_those_of_the_table(row: Row) -> None:
    shell = Shell(row.faults())
    exchange = shell.in_memory()
    assert (seen(exchange), category(exchange)) == (row.saw, row.category)
    assert shell.events.count("fault_fired") == len(row.faults())


@pytest.mark.long
@pytest.mark.parametrize("row", [row for row in ROWS if row.loopback], ids=lambda row: row.happened)
def test_a_real_port_shows_the_same(row: Row) -> None:
    exchange = Shell(row.faults()).on_loopback()
    assert (seen(exchange), category(exchange)) == (row.saw, row.category)


def test_the_table_holds_every_kind_of_fault_that_a_remote_command_can_meet() -> None:
    kinds = {action for actions in REMOTE_FAULTS.values() for action in actions}
    assert kinds - {row.action.partition(":")[0] for row in ROWS} == {"revoke_credential"}


def test_a_local_failure_never_follows_a_sent_order() -> None:
    local = [row for row in ROWS if row.category == "local_failure"]
    assert len(local) == 7
    assert {row.saw.partition(":")[0] for row in local} == {"nothing sent"}
