"""The engine: plans a run, runs it, and checks what was stored."""

from unacked.engine.audit import Difference, rejudge, verify
from unacked.engine.budget import RunBudget, RunCutError
from unacked.engine.folder import RunFolder, find_run
from unacked.engine.garbage import settle_garbage
from unacked.engine.leaks import Canaries
from unacked.engine.paths import StoredPath, stored_history, stored_paths
from unacked.engine.plan import Plan, RunRequest, make_plan
from unacked.engine.prune import Retained, prunable, prune
from unacked.engine.run import Outcome, execute, open_run
from unacked.engine.summary import expected_of_control, summarize
from unacked.engine.verdicts import read_verdicts

__all__ = [
    "Canaries",
    "Difference",
    "Outcome",
    "Plan",
    "Retained",
    "RunBudget",
    "RunCutError",
    "RunFolder",
    "RunRequest",
    "StoredPath",
    "execute",
    "expected_of_control",
    "find_run",
    "make_plan",
    "open_run",
    "prunable",
    "prune",
    "read_verdicts",
    "rejudge",
    "settle_garbage",
    "stored_history",
    "stored_paths",
    "summarize",
    "verify",
]
