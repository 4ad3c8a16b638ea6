"""An orchestrator of its own: a plan of tasks, a journal, and a runner on asyncio that survives kill -9.

    async def fetch(context: Context) -> JSON:
        page = await context.step("read", read_page, context.task.input, retry=Retry(3), timeout_s=10)
        return {"length": len(page)}

    plan = Plan([
        Task("a", fetch, input="https://a.test"),
        Task("b", fetch, input="https://b.test"),
        Task("sum", add_up, after=("a", "b")),
    ])
    report = await run(plan, Path("journal.db"), "tonight", parallel=4)  # the same line again resumes it
    report.results, report.dead_letters, report.need_a_person

It knows nothing of agents, cases or services. Lifecycle and schedule are pure; the journal is one SQLite file, read
beside the run with ``Reader``; only loop time and a seed decide.
"""

from unacked.orchestrator.context import Context, NotJSON, StepTimedOut, current, idempotency_token
from unacked.orchestrator.journal import Fenced, Journal, Locked, PlanChanged
from unacked.orchestrator.killable import WorkerDied, killable
from unacked.orchestrator.lifecycle import Event, IllegalTransition, State, next_state
from unacked.orchestrator.limiter import Gate, Limiter
from unacked.orchestrator.metrics import Metrics, Sample, metrics_of, prometheus
from unacked.orchestrator.records import Entry, Reader, RunRecord, StepRecord, TaskRecord
from unacked.orchestrator.runner import Report, Runner, redrive, run
from unacked.orchestrator.task import Compensation, Join, Plan, Propagation, Retry, Saga, Task

__all__ = [
    "Compensation",
    "Context",
    "Entry",
    "Event",
    "Fenced",
    "Gate",
    "IllegalTransition",
    "Join",
    "Journal",
    "Limiter",
    "Locked",
    "Metrics",
    "NotJSON",
    "Plan",
    "PlanChanged",
    "Propagation",
    "Reader",
    "Report",
    "Retry",
    "RunRecord",
    "Runner",
    "Saga",
    "Sample",
    "State",
    "StepRecord",
    "StepTimedOut",
    "Task",
    "TaskRecord",
    "WorkerDied",
    "current",
    "idempotency_token",
    "killable",
    "metrics_of",
    "next_state",
    "prometheus",
    "redrive",
    "run",
]
