"""SDKs take seconds to import: no command and no test session pays for one that it does not use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SDKS = ("anthropic", "litellm", "mcp", "openai")
LOOK = """
import json, sys
{work}
print(json.dumps(sorted(name for name in {sdks} if name in sys.modules)))
"""


def imported_by(work: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK.format(work=work, sdks=SDKS)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_neither_the_command_line_nor_the_plugin_nor_a_suite_imports_an_sdk() -> None:
    work = """
import importlib
import unacked.cli
from unacked.cli import COMMANDS
for name in COMMANDS:
    importlib.import_module(f"unacked.cli.{name}_command")
import unacked.pytest_plugin, unacked.pytest_plugin.collect, unacked.pytest_plugin.session
from unacked.suite import load_suite, shipped_suite
from unacked.engine import RunRequest, make_plan
suite = load_suite(shipped_suite())
make_plan(suite, RunRequest(("E01",), tuple(suite.agents)[:0] + ("careful-litellm", "careful-anthropic", "gpt-naive")))
"""
    assert imported_by(work) == []


def test_the_drivers_themselves_are_found_without_any_sdk() -> None:
    assert imported_by("import unacked.agents.model.session, unacked.agents.command, unacked.agents.replay") == []


@pytest.mark.long
def test_litellm_reaches_for_no_network_when_it_is_imported() -> None:
    work = """
import threading, time
from unacked.guard import guarded
with guarded() as watch:
    import unacked.agents.model.litellm_sdk
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(5)
assert not watch.refused, watch.refused
"""
    assert "litellm" in imported_by(work)
