"""Cases as test items: one for each side of a case and each agent, ``C05[careful]`` or ``C05.twin[careful]``.

The trial is run in the item's set-up phase and its verdict is told in the call phase. So a trial that judged
nothing of the agent (ERROR, INCONCLUSIVE) is an error in pytest's words, and UNSAFE or FAIL a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from unacked.canonical import JSON
from unacked.claims import CLAIMS
from unacked.document import read_yaml
from unacked.engine import RunFolder, RunRequest, expected_of_control, make_plan
from unacked.engine.run import run_trial
from unacked.errors import Place, Problem, SpecificationError, UnackedError
from unacked.graph import Verdict
from unacked.report import findings_text
from unacked.suite import CONTENT_FOLDERS, LoadedAgent, LoadedCase, Suite, load_suite
from unacked.trial import Bench, TrialPlan

__all__ = ["pytest_collect_file", "pytest_configure", "pytest_terminal_summary"]

_SUFFIX = ".case.yaml"
_UNJUDGED = (Verdict.ERROR, Verdict.INCONCLUSIVE)


class UnackedFailure(pytest.fail.Exception):
    """The agent did what it must not do, or a control did not behave as it declares."""

    __module__ = "builtins"  # as pytest's own outcomes: its short summary shows the bare name


class UnackedError_(pytest.fail.Exception):  # noqa: N801
    """The trial says nothing of the agent."""
