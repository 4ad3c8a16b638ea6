"""Ask a model for its next call, as often as told, and count what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace

from unacked.agents import BudgetSpentError, Provider, Reply, Seat
from unacked.agents.model import APIS, ModelDriver
from unacked.canonical import JSON
from unacked.errors import HarnessError, Place, Problem, SpecificationError
from unacked.guard import guarded
from unacked.probe.next_call import NextCall, judge_next
from unacked.probe.odds import LOGPROBS, Odds, read_odds
from unacked.probe.prefix import Prefix
from unacked.suite import LoadedAgent, Suite
from unacked.trial.provider import provided

__all__ = ["Probed", "ask"]

_KEY = "unacked-probe"
"""What a fake provider accepts; it guards nothing."""


@dataclass(slots=True)
class Probed:
    """What one agent did next, sample by sample; ``trouble`` is what ended the asking before its time."""

    agent: str
    samples: list[NextCall] = field(default_factory=list)
    odds: Odds | None = None
    trouble: str | None = None
    served: set[str] = field(default_factory=set)
    tokens: Counter[str] = field(default_factory=Counter)

    @property
    def counts(self) -> list[tuple[tuple[str, str, str], int]]:
        """Each transition with how often it was taken, the most frequent first."""
        counted = Counter(sample.transition for sample in self.samples)
        return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


@dataclass(slots=True)
class _Heard:
    """What a session puts on the record of one sample."""

    erred: str | None = None
    answer: Mapping[str, JSON] = field(default_factory=dict)

    def emit(self, event: str, *, detail: Mapping[str, JSON] | None = None, **_: object) -> None:
        if event == "agent_erred" and detail is not None:
            self.erred = self.erred or detail["kind"]
        elif event == "model_answered" and detail is not None:
            self.answer = detail


def ask(
    suite: Suite,
    prefix: Prefix,
    agent: LoadedAgent,
    times: int,
    *,
    logprobs: bool = False,
    told: Callable[[int], None] = lambda _: None,
) -> Probed:
    """Ask for the next call ``times`` times, each time anew; ``told`` hears how many samples there are.

    Where ``logprobs`` is set, one request more asks for the likeliest tokens. What a provider does wrong ends the
    asking and is told as ``trouble``. Raises SpecificationError for an agent without a model.
    """
    probed = Probed(agent.name)
    file = agent.definition.file
    try:
        with guarded(file.reaches, programs=file.starts) as watch, _asking(suite, prefix, agent) as asked:
            for number in range(1, times + 1):
                reply, heard = asked({})
                probed.samples.append(judge_next(prefix, reply, heard.erred))
                probed.served.add(str(heard.answer.get("served")))
                probed.tokens.update(_tokens(heard.answer))
                told(number)
            if logprobs:
                probed.odds = read_odds(asked(LOGPROBS)[1].answer.get("logprobs"), prefix.task.tools)
    except (HarnessError, BudgetSpentError) as error:
        refused = ", ".join(sorted(map(str, watch.refused)))
        probed.trouble = f"{error} (the harness let nothing through to {refused})" if refused else str(error)
    return probed


def _tokens(answer: Mapping[str, JSON]) -> dict[str, int]:
    usage = answer.get("usage") or {}
    return {name: usage.get(name) or 0 for name in ("input_tokens", "output_tokens")}


_Asked = Callable[[Mapping[str, JSON]], tuple[Reply, _Heard]]


@contextmanager
def _asking(suite: Suite, prefix: Prefix, agent: LoadedAgent) -> Iterator[_Asked]:
    """Make ready to ask; what is yielded asks once, with some parameters more."""
    file = agent.definition.file
    if file.driver not in APIS:
        raise _refused(agent.name, f"its driver {file.driver!r} has no model", f"drivers with one: {', '.join(APIS)}")
    problems: Sequence[Problem] = agent.problems()
    if problems:
        raise SpecificationError(problems)
    if file.provider is not None and prefix.case is None:
        raise _refused(agent.name, "the fake model server plays cases, and not somebody's trace", "give it a case")
    task = None if prefix.case is None else prefix.task
    with provided(suite, file.provider, task, _KEY) as stand:
        provider: Provider | None = None if stand is None else stand.provider

        def once(parameters: Mapping[str, JSON]) -> tuple[Reply, _Heard]:
            heard = _Heard()
            more = file.model_copy(update={"parameters": {**file.parameters, **parameters}})
            driver = ModelDriver(more, agent.definition.prompt)
            session = driver.resume(prefix.task, replace(Seat(), emit=heard.emit, provider=provider), prefix.past)
            with closing(session):
                return session.next(()), heard

        yield once


def _refused(agent: str, told: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place(f"agent {agent}"), told, hint)])
