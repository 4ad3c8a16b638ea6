"""What the harness adds to one turn of a model: the same turns through the bare SDK, on the same fake server.

A turn is: make the request, send it through the SDK, read the reply strictly, put both on a hash-chained record, and
hand on the calls. The tools are not part of it (see ``trial.py`` for them): both sides are told the results that one
real trial has recorded. CPU of this process, the server's thread included on both sides; the last column is the whole
trial with its tools, its world and its verdict, for a turn of the model.

    python benchmarks/drivers.py [--trials 100]
"""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unacked.agents import Provider, Seat
from unacked.agents.model import APIS, Access
from unacked.clock import VirtualClock
from unacked.engine import RunRequest, execute, make_plan, open_run
from unacked.suite import LoadedAgent, LoadedCase, Suite, load_suite
from unacked.tools import REGISTRY
from unacked.trail import Recorder, TrialName
from unacked.trial.provider import provided

ROOT = Path(__file__).resolve().parents[1]
CASE = "I-planned-again-with-a-new-key"  # create, lookup, attach_note, finish
LIMIT = 1.5


@dataclass(frozen=True)
class Recorded:
    """One trial as it was: the bodies of its requests, the results of its calls, and its cost."""

    bodies: Sequence[Mapping[str, Any]]
    results: Sequence[Mapping[str, Any]]
    cpu_ms: float


@dataclass(frozen=True)
class Stage:
    """What both sides of the comparison share."""

    suite: Suite
    case: LoadedCase
    agent: LoadedAgent
    out: Path

    @property
    def driver(self) -> str:
        """The driver's name."""
        return self.agent.definition.file.driver


def record(stage: Stage, trials: int) -> Recorded:
    """Run the case for real and read off its record what the two sides need; CPU is for a turn of the model."""
    plan = make_plan(stage.suite, RunRequest((CASE,), (stage.agent.name,), trials))
    folder = open_run(stage.suite, plan, stage.out, None)
    spent: list[float] = []
    execute(folder, plan, jobs=1, told=lambda outcome: spent.append(outcome.cpu_s))
    lines = [json.loads(line) for line in folder.verdicts.read_text().splitlines()]
    events = [json.loads(line) for line in folder.events(0, lines[0]["trial"]).read_text().splitlines()]
    called = [event["detail"] for event in events if event["event"] == "model_called"]
    name, sent, bodies = "input" if stage.driver == "openai-responses" else "messages", [], []
    for detail in called:
        sent = [*sent, *detail["messages"]]
        bodies.append({**called[0]["setup"], name: sent})
    results = [event["detail"]["envelope"] for event in events if event["event"] == "result"]
    turns = sum(line["model"]["requests"] for line in lines)
    return Recorded(bodies, results, sum(spent) / turns * 1000)


@contextmanager
def provider(stage: Stage) -> Iterator[Provider]:
    """The fake server, as a trial has it."""
    with provided(stage.suite, stage.agent.definition.file.provider, stage.case.task(), "key") as stand:
        if stand is None:
            raise SystemExit(f"{stage.agent.name} has no fake provider")
        yield stand.provider


def bare(stage: Stage, recorded: Recorded, trials: int) -> float:
    """Send the same requests by the SDK alone, which makes its own objects; returns CPU ms a request."""
    spent = 0.0
    for _ in range(trials):
        with provider(stage) as stand:
            began = time.process_time()
            send, close = client(stage.driver, stand.url)
            for body in recorded.bodies:
                send(**body)
            close()
            spent += time.process_time() - began
    return spent / (trials * len(recorded.bodies)) * 1000


def turns(stage: Stage, recorded: Recorded, trials: int) -> float:
    """Take the same turns by the harness, recorded as in a trial; returns CPU ms a turn."""
    driver, task, spent = stage.agent.driver(), stage.case.task(), 0.0
    for number in range(trials):
        path = stage.out / f"{stage.driver}-{trials}-{number}.jsonl"
        recorder = Recorder(path, TrialName("bench", f"t{number}", CASE), VirtualClock(), REGISTRY)
        with provider(stage) as stand:
            began = time.process_time()
            session = driver.begin(task, Seat(emit=recorder.emit, provider=stand))
            session.next(())
            for result in recorded.results[:-1]:
                session.next([result])
            session.close()
            recorder.close()
            spent += time.process_time() - began
    return spent / (trials * len(recorded.results)) * 1000


def client(driver: str, url: str) -> tuple[Callable[..., Any], Callable[[], None]]:
    """The SDK as one would use it: how to send a request, and how to close it."""
    api = APIS[driver]
    sdk = importlib.import_module(f"unacked.agents.model.{api.module}")
    connection = sdk.connect(Access(api.dialect.operation, "key", url + api.prefix, 60.0))
    if driver == "litellm":
        litellm = importlib.import_module("litellm")
        options = {"api_key": "key", "base_url": url + api.prefix, "num_retries": 0, "max_retries": 0}
        return (lambda **body: litellm.completion(**body, **options)), connection.close
    own = connection.client  # the same client, with the same settings
    if driver == "anthropic":
        return own.messages.create, connection.close
    resource = own.responses if driver == "openai-responses" else own.chat.completions
    return resource.create, connection.close


def main() -> None:
    """Measure and print; exit 1 where the harness costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    trials = parser.parse_args().trials
    suite, worst = load_suite(ROOT), 0.0
    print(f"{'driver':18}{'bare SDK':>12}{'our turn':>12}{'times':>8}{'whole trial':>14}   CPU ms a model turn")
    with tempfile.TemporaryDirectory() as out:
        for driver in APIS:
            stage = Stage(suite, suite.cases[CASE], suite.agent(f"careful-{driver}"), Path(out))
            recorded = record(stage, max(2, trials // 5))
            for measure in (bare, turns):
                measure(stage, recorded, 3)  # whatever is loaded late is loaded now
            alone, ours = bare(stage, recorded, trials), turns(stage, recorded, trials)
            worst = max(worst, ours / alone)
            print(f"{driver:18}{alone:12.2f}{ours:12.2f}{ours / alone:8.2f}{recorded.cpu_ms:14.2f}")
    if worst > LIMIT:
        raise SystemExit(f"a turn may cost {LIMIT} times the bare SDK call at most")


if __name__ == "__main__":
    main()
