"""An adapter that takes its process with it is a finding, and the rest goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.adapter import Report, supervised
from unacked.errors import SpecificationError

ENDS = """
import os
from unacked.adapter import reference

def call(operation, arguments, link):
    claim = reference.call(operation, arguments, link)
    if operation == "read_issue" and claim["category"] == "local_failure":
        os._exit(3)
    return claim
"""


@pytest.mark.long
def test_an_operation_that_ends_the_process_is_given_up_and_the_next_one_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ends_the_process_tools.py").write_text(ENDS)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    report = Report("ends", "simulated")
    for heard in supervised("ends_the_process_tools:call", ROOT, ["read_issue", "read_build"], wire="simulated"):
        report.add(heard)
    assert report.operations == ["read_issue", "read_build"]
    (finding,) = report.findings.values()
    assert (finding["rule"], finding["count"], finding["first"]) == ("crashed", 3, "read_issue.dns-fail")
    assert report.calls > 190


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nothing", "'nothing' names no adapter"),
        ("no_such_module_here:call", "module 'no_such_module_here' cannot be imported"),
        ("unacked.adapter.reference:cal", "did you mean 'call'?"),
    ],
)
def test_an_adapter_that_is_not_there_is_a_usage_error(name: str, told: str) -> None:
    with pytest.raises(SpecificationError, match=told.replace("?", r"\?")):
        list(supervised(name, ROOT, ["read_issue"], wire="simulated"))


def test_an_unknown_operation_is_a_usage_error_with_the_nearest_name() -> None:
    with pytest.raises(SpecificationError, match="did you mean 'read_issue'"):
        list(supervised("unacked.adapter.reference:call", ROOT, ["read_isue"], wire="simulated"))
