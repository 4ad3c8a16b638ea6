"""What is served: which services, from which seeds, under which terms, and with which faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from unacked.canonical import JSON
from unacked.clock import Clock, VirtualClock
from unacked.contract import Idempotency
from unacked.document import Document, read_yaml
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.fault import Fault
from unacked.secret import mint
from unacked.services import Factory, SeedError, Service, Setting
from unacked.suite import LoadedCase, Suite
from unacked.tools import REGISTRY, TOOLS
from unacked.wire.loopback import impossible

__all__ = ["Offer", "offer_case", "offer_suite", "with_seeds"]


@dataclass(frozen=True, slots=True)
class Offer:
    """Services by name, each with its seed; from it the same world can be built again and again."""

    factories: Mapping[str, Factory]
    seeds: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    idempotency: Mapping[str, Idempotency] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def build(self, clock: Clock, token: str) -> dict[str, Service]:
        """Return fresh services; raises SeedError where a seed does not fit."""
        numbers = count()
        minted = lambda: mint("issued", token, str(next(numbers)))  # noqa: E731 - the same ones after a reset
        return {
            name: factory(self.seeds.get(name, {}), Setting(clock, token, self.idempotency, mint=minted))
            for name, factory in self.factories.items()
        }


def offer_suite(suite: Suite) -> Offer:
    """Offer every service of a suite, empty, under the terms of its tools; no fault is armed."""
    names = sorted(path.stem for path in (suite.root / "fake_services").glob("*.py"))
    modes = {name: operation.idempotency_mode for name, operation in REGISTRY.items()}
    return Offer({name: suite.service(name) for name in names}, idempotency=modes)


def offer_case(suite: Suite, name: str, *, tls: bool) -> Offer:
    """Offer the services of one case with its seed, terms and faults.

    Raises SpecificationError for an unknown or pending case, and for a fault that no real socket can have.
    """
    case = _case(suite, name)
    faults = () if case.declared is None else case.declared.faults
    problems = [
        case.document.problem(("faults", number), f"{fault} cannot exist on the loopback wire: {reason}")
        for number, fault in enumerate(faults)
        if (reason := _unserved(fault) or impossible(fault, tls=tls)) is not None
    ]
    if problems:
        raise SpecificationError(problems)
    services = case.file.services
    return Offer(
        {service: suite.service(service) for service in services},
        {service: use.seed for service, use in services.items()},
        case.idempotency(),
        tuple(faults),
    )


def _unserved(fault: Fault) -> str | None:
    remote = fault.operation in TOOLS and TOOLS[fault.operation].shell is not None
    return "commands are served with the extra 'ssh'" if remote and find_spec("asyncssh") is None else None


def _case(suite: Suite, name: str) -> LoadedCase:
    if name not in suite.cases:
        raise SpecificationError([Problem(Place("serve"), f"unknown case {name!r}", nearest(name, suite.cases))])
    case = suite.cases[name]
    if case.declared is None:
        raise SpecificationError([Problem(Place("serve"), f"{name} cannot be served yet: {case.file.pending}")])
    return case


def with_seeds(offer: Offer, path: Path) -> Offer:
    """Return the offer with the seeds of a YAML or JSON file, which maps services to what stands in them."""
    document = read_yaml(path)
    problems = list(_seed_problems(document, offer))
    if problems:
        raise SpecificationError(problems)
    return replace(offer, seeds={**offer.seeds, **document.value})


def _seed_problems(document: Document, offer: Offer) -> list[Problem]:
    seeds: JSON = document.value
    if not isinstance(seeds, dict):
        return [document.problem((), "expected a mapping of services to their seeds", "records: {records: []}")]
    problems = []
    for name, seed in seeds.items():
        if name not in offer.factories:
            problems.append(document.key_problem((name,), f"unknown service {name!r}", nearest(name, offer.factories)))
        elif not isinstance(seed, dict):
            problems.append(document.problem((name,), "expected a mapping of what stands in the service"))
        else:
            problems.extend(_misfits(document, offer, name, seed))
    return problems


def _misfits(document: Document, offer: Offer, name: str, seed: Mapping[str, JSON]) -> list[Problem]:
    try:
        offer.factories[name](seed, Setting(VirtualClock(), "token"))
    except SeedError as error:
        return [document.problem((name, *error.location), f"the seed does not fit: {error}")]
    return []
