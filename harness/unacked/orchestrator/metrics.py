"""A run in numbers: folded from the entries of its step log, while they come or afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unacked.orchestrator.lifecycle import Event, State
from unacked.orchestrator.records import Entry

__all__ = ["BUCKETS_S", "Metrics", "Sample", "metrics_of", "prometheus"]

BUCKETS_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)
"""Upper edges of the histogram of durations, in seconds."""

_OUTCOMES: Mapping[str, str] = {
    Event.SUCCEEDED: "succeeded",
    Event.FAILED: "failed",
    Event.GIVEN_UP: "failed",
    Event.CONDITION_FAILED: "failed",
    Event.FAILED_UPSTREAM: "failed",
    Event.TIMED_OUT: "timed_out",
    Event.CANCEL: "cancelled",
    Event.CONDITION_UNMET: "skipped",
    Event.SKIPPED_UPSTREAM: "skipped",
}


@dataclass(slots=True)
class Metrics:
    """Counts over one run.

    ``durations_s`` counts attempts by the upper edge of their duration; ``peak`` is how many ran at once at most.
    """

    ended: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    retries: int = 0
    recoveries: int = 0
    late: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    running: set[str] = field(default_factory=set)
    peak: int = 0
    durations_s: Counter[float] = field(default_factory=Counter)
    duration_sum_s: float = 0.0

    def observe(self, entry: Entry) -> None:
        """Count one entry; a Journal can be given this as ``told``."""
        state = entry.detail.get("state")
        if entry.kind == "late":
            self.late += 1
        elif entry.kind.startswith("step_"):
            self.steps[entry.kind.removeprefix("step_")] += 1
        elif entry.kind == Event.START:
            self.attempts += 1
            self.running.add(entry.task)
            self.peak = max(self.peak, len(self.running))
        elif state is not None and state != State.RUNNING:
            self.running.discard(entry.task)
        self.retries += entry.kind == Event.ATTEMPT_FAILED
        self.recoveries += entry.kind == Event.RECOVERED
        if entry.kind in _OUTCOMES:
            self.ended[_OUTCOMES[entry.kind]] += 1
        if not entry.kind.startswith("step_") and "duration_s" in entry.detail:
            self._time(float(entry.detail["duration_s"]))

    def _time(self, duration_s: float) -> None:
        self.duration_sum_s += duration_s
        self.durations_s[next((edge for edge in BUCKETS_S if duration_s <= edge), float("inf"))] += 1

    def samples(self) -> list[Sample]:
        """Return the numbers as samples for Prometheus."""
        return [
            *(
                Sample("tasks_total", "Tasks that ended.", n, {"outcome": name})
                for name, n in sorted(self.ended.items())
            ),
            Sample("attempts_total", "Attempts that were started.", self.attempts),
            Sample("retries_total", "Attempts that failed with another one due.", self.retries),
            Sample("recoveries_total", "Attempts that the process did not survive.", self.recoveries),
            Sample("late_events_total", "Events that came after their task had ended.", self.late),
            *(Sample("steps_total", "Steps.", n, {"outcome": name}) for name, n in sorted(self.steps.items())),
            Sample("running", "Tasks that are running.", len(self.running)),
            Sample("running_peak", "Most tasks that ran at once.", self.peak),
            *self._histogram(),
        ]

    def _histogram(self) -> Iterable[Sample]:
        name, about, count = "attempt_duration_seconds", "How long attempts took.", 0
        for edge in BUCKETS_S:
            count += self.durations_s[edge]
            yield Sample(name, about, count, {"le": f"{edge:g}"}, "_bucket")
        count = self.durations_s.total()
        yield Sample(name, about, count, {"le": "+Inf"}, "_bucket")
        yield Sample(name, about, round(self.duration_sum_s, 6), {}, "_sum")
        yield Sample(name, about, count, {}, "_count")


def metrics_of(entries: Iterable[Entry]) -> Metrics:
    """Count the entries of a run."""
    metrics = Metrics()
    for entry in entries:
        metrics.observe(entry)
    return metrics


@dataclass(frozen=True, slots=True)
class Sample:
    """One number of one metric; ``suffix`` is for the parts of a histogram."""

    name: str
    about: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""

    @property
    def kind(self) -> str:
        """The metric's type, as Prometheus names types."""
        if self.suffix:
            return "histogram"
        return "counter" if self.name.endswith("_total") else "gauge"


def prometheus(samples: Sequence[Sample], *, prefix: str = "unacked", labels: Mapping[str, str] | None = None) -> str:
    """Return samples in Prometheus' text format 0.0.4; ``labels`` are added to each. Equal names stand together."""
    lines: list[str] = []
    told: set[str] = set()
    for sample in samples:
        name = f"{prefix}_{sample.name}"
        if name not in told:
            told.add(name)
            lines += [f"# HELP {name} {sample.about}", f"# TYPE {name} {sample.kind}"]
        every = {**(labels or {}), **sample.labels}
        inside = ",".join(f'{key}="{_escaped(value)}"' for key, value in every.items())
        lines.append(
            f"{name}{sample.suffix}{{{inside}}} {sample.value}" if inside else f"{name}{sample.suffix} {sample.value}"
        )
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
