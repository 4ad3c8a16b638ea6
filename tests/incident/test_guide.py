from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.suites import ROOT, CommandLine, SuiteFolder

GUIDE = (ROOT / "docs" / "incidents.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", GUIDE, flags=re.DOTALL)


def steps() -> list[tuple[str, list[str]]]:
    """Every command of the guide with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(BLOCKS).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def test_every_step_of_the_guide_does_what_it_says(
    unacked: CommandLine, suite: SuiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(suite.path)
    codes = {}
    for command, lines in steps():
        program, *arguments = shlex.split(command)
        if program == "cp":
            shutil.copy(ROOT / arguments[0], arguments[1])
            continue
        assert program == "unacked"
        done = unacked(*arguments)
        codes[command] = done.code
        for line in lines:
            pattern = re.escape(line).replace(re.escape("..."), ".*")
            assert re.search(f"^{pattern}$", done.out, flags=re.MULTILINE), f"{command} does not print {line!r}"

    red = {command for command, code in codes.items() if code}
    assert red == {"unacked run I-ticket-opened-twice --agent culprit --out runs"}
    assert len(codes) == 9


def test_every_format_stands_in_the_guide() -> None:
    from_table = set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"(?m)^\| (`.*?) \|", GUIDE))))

    assert from_table == {"openai-chat", "openai-responses", "anthropic", "otel", "inspect", "mcp", "neutral"}
    assert Path(ROOT / "docs" / "trace.md").is_file()
