"""The engine: plans a run, runs it, and checks what was stored."""

from unacked.engine.audit import Difference, rejudge, verify
from unacked.engine.budget import RunBudget, RunCutError
from unacked.engine.dispatch import Limit, Policy
from unacked.engine.folder import RunFolder, find_run
from unacked.engine.garbage import settle_garbage
from unacked.engine.leaks import Canaries
from unacked.engine.opening import open_run
from unacked.engine.paths import StoredPath, stored_history, stored_paths
from unacked.engine.plan import Plan, RunRequest, make_plan
from unacked.engine.prune import Retained, prunable, prune
from unacked.engine.redrive import dead_letters, retry_dead
from unacked.engine.run import Drain, execute
from unacked.engine.status import Call, RunStatus, calls, run_log, run_status
from unacked.engine.summary import expected_of_control, summarize
from unacked.engine.trials import Outcome
from unacked.engine.verdicts import read_verdicts

__all__ = [
    "Call",
    "Canaries",
    "Difference",
    "Drain",
    "Limit",
    "Outcome",
    "Plan",
    "Policy",
    "Retained",
    "RunBudget",
    "RunCutError",
    "RunFolder",
    "RunRequest",
    "RunStatus",
    "StoredPath",
    "calls",
    "dead_letters",
    "execute",
    "expected_of_control",
    "find_run",
    "make_plan",
    "open_run",
    "prunable",
    "prune",
    "read_verdicts",
    "rejudge",
    "retry_dead",
    "run_log",
    "run_status",
    "settle_garbage",
    "stored_history",
    "stored_paths",
    "summarize",
    "verify",
]
