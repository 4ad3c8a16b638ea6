"""One call of an adapter in a fresh world: which call, under which fault, on which wire, and what came of it."""

from __future__ import annotations

import copy
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

import httpcore2

from unacked.adapter.link import Adapter, Link, wire_client
from unacked.adapter.notes import Hung, Notes, Sayings, WatchedBackend, Witness, listening
from unacked.adapter.orders import carried_out
from unacked.adapter.reference import LinkedClient
from unacked.adapter.replies import Misreply
from unacked.canonical import JSON
from unacked.claims import Brief
from unacked.clock import Clock, VirtualClock
from unacked.completeness import Page
from unacked.contract import Operation
from unacked.event import History
from unacked.fault import Action, Fault, FaultPlan, Point
from unacked.guard import guarded
from unacked.secret import Scanner, mint
from unacked.services import Ids, Setting, federate
from unacked.suite import LoadedCase, Suite
from unacked.tools import TOOLS, Tokens, TokenSource, Toolbox
from unacked.trial.world import CorrelationIds
from unacked.wire import SimulatedNetwork
from unacked.wire.loopback import LoopbackServer, impossible

__all__ = ["LoopbackStage", "Played", "Scene", "SimulatedStage", "Stage", "scenes"]

_SPARE = "deploy-admin"
"""Whose the credential is that lies about in every scene."""

_NOBODY = "nobody-asked-for-this"
"""A request id that no request had."""


@dataclass(frozen=True, slots=True)
class Session:
    """An issuer that refreshes the call's token, and what it does: its seed, and whether it refuses."""

    seed: Mapping[str, JSON] = field(default_factory=dict)
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """One call to be made: the case whose world it is made in, the side with its fault, and the arguments.

    Without a ``session`` there is nothing that the call's token could be refreshed with.
    """

    case: LoadedCase
    brief: Brief
    operation: Operation
    place: str
    overridden: Mapping[str, JSON]
    session: Session | None = None

    @property
    def name(self) -> str:
        """Operation, place and side, such as ``create_record.after-commit-fin.twin``."""
        return ".".join([self.operation.name, self.place, *(["twin"] if self.brief.twin else [])])

    @property
    def is_baseline(self) -> bool:
        """Whether no fault acts."""
        return not self.brief.faults


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a scene: what the adapter returned or raised, and what the services saw.

    ``returned`` is a Misreply where it came over MCP and no envelope could be taken from the reply.
    ``arguments`` are the caller's own, as they were after the call.
    ``raised`` is the exception with all of its chain, as text. ``identities`` are those that the service's own
    answers named, ``pages`` its answers to a collection. ``said`` is what was printed and logged meanwhile.
    ``worked_as`` are the owners of the credentials that requests carried.
    """

    correlation_id: str
    arguments: Mapping[str, JSON]
    returned: object
    raised: str | None
    hung: bool
    history: History
    identities: frozenset[str]
    said: Sayings
    scanner: Scanner
    egress: tuple[str, ...]
    worked_as: frozenset[str]
    pages: Sequence[Page]


def scenes(case: LoadedCase) -> Iterator[Scene]:
    """Yield the call of a swept case without a fault, and then at every place of the sweep."""
    declared, sweep = case.declared, case.file.sweep
    if declared is None or sweep is None:
        return
    operation = declared.tools[sweep.operation]
    clean = replace(declared, faults=())
    yield Scene(case, clean, operation, "no-fault", {})
    endpoint = TOOLS[operation.name].endpoint
    if endpoint is not None and endpoint.lookup:
        yield from _incomplete(case, clean, operation)
    for brief in case.sides:
        yield Scene(case, brief, operation, brief.place, {})
    yield from _with_session(case, clean, operation)


def told_scenes(suite: Suite, operation: str) -> Iterator[Scene]:
    """Yield the calls of the cases that say what the tool must respond to the operation's first call."""
    for case in suite.cases.values():
        file, declared = case.file, case.declared
        expected = file.expect.result
        if declared is None or file.response is None or expected is None:
            continue
        if (expected.operation, expected.nth) == (operation, 1):
            yield Scene(case, declared, declared.tools[operation], case.name, {})


def _incomplete(case: LoadedCase, clean: Brief, operation: Operation) -> Iterator[Scene]:
    """The four states of a collection that are left: incomplete with and without items, complete and empty."""
    incomplete = Fault(operation.name, Point.IN_BODY, Action.parse({"replace": {"field": "complete", "value": False}}))
    nobody = {operation.request or "request_id": _NOBODY}
    yield Scene(case, clean, operation, "no-fault-empty", nobody)
    yield Scene(case, replace(clean, faults=(incomplete,)), operation, "incomplete", {})
    yield Scene(case, replace(clean, faults=(incomplete,)), operation, "incomplete-empty", nobody)


def _with_session(case: LoadedCase, clean: Brief, operation: Operation) -> Iterator[Scene]:
    """The ways of a token that can be refreshed: refreshed, refused, refused again, and not concerned at all."""
    expired = Fault(operation.name, Point.BEFORE_COMMIT, Action("expire_credential"))
    silence = Fault(operation.name, Point.AFTER_COMMIT, Action("silence"))
    for place, fault, session in (
        ("token-refreshed", expired, Session()),
        ("token-refresh-denied", expired, Session(denied=True)),
        ("token-refused-again", expired, Session({"first_lifetime_s": 300, "lifetime_s": 0})),
        ("token-not-concerned", silence, Session()),
    ):
        yield Scene(case, replace(clean, faults=(fault,)), operation, place, {}, session)


@dataclass(frozen=True, slots=True)
class _Cast:
    """The services of one scene, and every credential in it; ``spare`` belongs to another identity."""

    services: Mapping[str, Witness]
    access: str
    refresh: str | None
    spare: str
    secrets: Sequence[str]


class Stage(ABC):
    """Where scenes are played: one wire, with fresh services for every scene."""

    timeout: float

    def __init__(self, suite: Suite) -> None:
        self.suite = suite

    def impossible(self, scene: Scene) -> str | None:
        """Return why a scene cannot be played here."""
        if scene.session is not None and not (self.suite.root / "fake_services" / "tokens.py").exists():
            return "the suite has no service 'tokens'"
        return None

    @abstractmethod
    def play(self, scene: Scene, adapter: Adapter) -> Played:
        """Make the call of ``scene`` through ``adapter``."""

    def _cast(self, scene: Scene, clock: Clock) -> _Cast:
        secrets: list[str] = []

        def minted() -> str:
            secrets.append(mint("adapter", scene.name, str(len(secrets))))
            return secrets[-1]

        access, spare = minted(), minted()
        setting = Setting(clock, access, scene.case.idempotency(), mint=minted)
        seeds = {name: use.seed for name, use in scene.case.file.services.items()}
        if scene.session is not None:
            seeds["tokens"] = dict(scene.session.seed)
        services = {name: self.suite.service(name)(seed, replace(setting, ids=Ids())) for name, seed in seeds.items()}
        for service in services.values():
            service.credentials.admit(spare, identity=_SPARE)
        refresh = None
        if scene.session is not None and (issuer := federate(services.values())) is not None:
            grant = issuer.grant()
            access, refresh = grant.access_token, grant.refresh_token
            if scene.session.denied:
                issuer.disturb(Action("revoke_credential"), "refresh_token")
        witnesses = {name: Witness(service) for name, service in services.items()}
        return _Cast(witnesses, access, refresh, spare, secrets)

    def _link(
        self, urls: Mapping[str, str], cast: _Cast, clock: Clock, inner: httpcore2.NetworkBackend, patience_s: float
    ) -> Link:
        backend = WatchedBackend(inner, clock, patience_s)
        return Link(
            base_url=urls,
            token=cast.access,
            refresh_token=cast.refresh,
            stored={_SPARE: cast.spare},
            correlation_id="",
            timeout=self.timeout,
            clock=clock,
            http=wire_client(backend, self.timeout),
            backend=backend,
        )


@contextmanager
def _closing(link: Link) -> Iterator[None]:
    try:
        yield
    finally:
        link.http.close()
        assert isinstance(link.backend, WatchedBackend)  # noqa: S101 - a stage makes its links itself
        link.backend.close()


class _Acts:
    """The steps of one scene, the same on every wire."""

    def __init__(
        self, scene: Scene, link: Link, notes: Notes, client: LinkedClient, services: Iterable[Witness]
    ) -> None:
        self._scene, self.link, self._notes = scene, link, notes
        self._remote = carried_out((witness.service for witness in services), notes.emit)
        self._ids = CorrelationIds("adapter", scene.case.name, scene.place)
        self.egress: list[str] = []
        self._client = client

    def prepare(self) -> dict[str, JSON]:
        """Make the calls that come before, with our own tools; return the arguments of the call under test."""
        known: dict[str, JSON] = {}
        self._client.use(self.link)
        toolbox = Toolbox(
            self._scene.case.tools(),
            self._client,
            source=TokenSource(Tokens(self.link.token)),
            emit=self._notes.emit,
            diagnose=lambda _: "d1",
            remote=self._remote,
        )
        for number, step in enumerate(self._scene.case.task().script, start=1):
            operation = self._scene.brief.tools[step.operation]
            names = ((operation.request, f"req-{number}"), (operation.idempotency, f"key-{number}"))
            ids: dict[str, JSON] = {argument: value for argument, value in names if argument is not None}
            arguments = ids | step.resolved(known)
            if operation.name == self._scene.operation.name:
                return arguments | dict(self._scene.overridden)
            known.update(toolbox.call(operation.name, arguments, self._ids.next()).result)
        made_up: dict[str, JSON] = {argument.name: "made-up" for argument in self._scene.operation.arguments}
        return made_up | dict(self._scene.overridden)

    def warm_up(self, adapter: Adapter) -> None:
        """Let the adapter read something, so that it has an open connection, where a fault wants to act on one."""
        if not any(fault.point is Point.REUSE for fault in self._scene.brief.faults):
            return
        here = TOOLS[self._scene.operation.name].endpoint
        for name, tool in TOOLS.items():
            same = here is not None and tool.endpoint is not None and tool.endpoint.service == here.service
            if same and not tool.operation.writes and name != self._scene.operation.name:
                arguments = {argument.name: "warm-up" for argument in tool.operation.arguments}
                self._perform(adapter, name, arguments)
                return

    def perform(self, adapter: Adapter, arguments: dict[str, JSON]) -> tuple[str, object, str | None]:
        """Make the call under test; returns its id, what came back, and what was raised."""
        return self._perform(adapter, self._scene.operation.name, arguments)

    def _perform(self, adapter: Adapter, name: str, arguments: dict[str, JSON]) -> tuple[str, object, str | None]:
        correlation_id = self._ids.next()
        self._notes.emit("dispatch_started", id=correlation_id, operation=name)
        link = replace(self.link, correlation_id=correlation_id)
        try:
            with guarded(programs=None) as watch:  # a tool may well run a program
                try:
                    return correlation_id, adapter(name, arguments, link), None
                finally:
                    self.egress += [str(egress) for egress in watch.refused]
        except KeyboardInterrupt:
            raise
        except Hung:
            return correlation_id, None, None
        except Misreply as reply:
            return correlation_id, reply, None
        except BaseException as error:  # noqa: BLE001 - whatever an adapter raises is its own finding
            return correlation_id, None, "".join(traceback.format_exception(error))


class SimulatedStage(Stage):
    """Scenes in memory, on the virtual clock."""

    timeout = 5.0
    _FOR_EVER_S = 600.0

    def __init__(self, suite: Suite) -> None:
        super().__init__(suite)
        self._client = LinkedClient(self.timeout)

    def play(self, scene: Scene, adapter: Adapter) -> Played:
        """Make the call of ``scene`` through ``adapter``."""
        clock = VirtualClock()
        notes, cast = Notes(clock), self._cast(scene, clock)
        services = cast.services
        plan = FaultPlan(scene.brief.faults)
        network = SimulatedNetwork(clock, {service.host: service for service in services.values()}, plan, notes.emit)
        urls = {name: f"https://{service.host}" for name, service in services.items()}
        link = self._link(urls, cast, clock, network.backend, self._FOR_EVER_S)
        acts = _Acts(scene, link, notes, self._client, services.values())
        with _closing(link), listening() as said:
            arguments = copy.deepcopy(acts.prepare())
            acts.warm_up(adapter)
            plan.begin_call(scene.operation.name, "")
            try:
                correlation_id, returned, raised = acts.perform(_calling(adapter, plan), arguments)
            finally:
                plan.end_call()
            network.settle()
        return _played(scene, acts, cast, notes, said, correlation_id, arguments, returned, raised)


def _calling(adapter: Adapter, plan: FaultPlan) -> Adapter:
    """Let receipts name the call's id."""

    def call(operation: str, arguments: dict[str, JSON], link: Link, /) -> dict[str, JSON]:
        plan.call_id = link.correlation_id
        return adapter(operation, arguments, link)

    return call


class LoopbackStage(Stage):
    """Scenes on 127.0.0.1, in real time; use it as a context manager."""

    timeout = 0.5
    _FOR_EVER_S = 5.0

    def __init__(self, suite: Suite) -> None:
        super().__init__(suite)
        self._client = LinkedClient(self.timeout)
        self._notes: Notes
        names = sorted(path.stem for path in (suite.root / "fake_services").glob("*.py"))
        empty = [suite.service(name)({}, Setting(VirtualClock(), "nobody")) for name in names]
        self._server = LoopbackServer(empty, (), self._emit)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.__exit__(None, None, None)

    def _emit(self, event: str, **more: JSON) -> None:
        self._notes.emit(event, **more)

    def impossible(self, scene: Scene) -> str | None:
        """Return why the fault cannot exist on real sockets, or the scene not here."""
        reasons = [super().impossible(scene), *(impossible(fault, tls=False) for fault in scene.brief.faults)]
        return next((reason for reason in reasons if reason is not None), None)

    def play(self, scene: Scene, adapter: Adapter) -> Played:
        """Make the call of ``scene`` through ``adapter``."""
        server, clock = self._server, self._server.clock
        notes = self._notes = Notes(clock)
        cast = self._cast(scene, clock)
        services = cast.services
        server.run(lambda: server.replace(services.values()))
        urls = {name: server.url(name) for name in services}
        link = self._link(urls, cast, clock, httpcore2.SyncBackend(), self._FOR_EVER_S)
        acts = _Acts(scene, link, notes, self._client, services.values())
        with _closing(link), listening() as said:
            arguments = copy.deepcopy(acts.prepare())
            acts.warm_up(adapter)
            server.settle()
            server.arm(*scene.brief.faults)
            correlation_id, returned, raised = acts.perform(adapter, arguments)
            server.settle()
        return _played(scene, acts, cast, notes, said, correlation_id, arguments, returned, raised)


def _played(
    scene: Scene,
    acts: _Acts,
    cast: _Cast,
    notes: Notes,
    said: Sayings,
    correlation_id: str,
    arguments: Mapping[str, JSON],
    returned: object,
    raised: str | None,
) -> Played:
    named = scene.operation.identity or ""
    identities: Sequence[set[JSON]] = [service.named(scene.operation.name, named) for service in cast.services.values()]
    link = acts.link
    assert isinstance(link.backend, WatchedBackend)  # noqa: S101 - a stage makes its links itself
    return Played(
        correlation_id,
        arguments,
        returned,
        raised,
        link.backend.hung,
        notes.history(),
        frozenset[str]().union(*identities),
        said,
        Scanner(cast.secrets),
        tuple(dict.fromkeys(acts.egress)),
        frozenset[str]().union(*(service.worked_as for service in cast.services.values())),
        [page for service in cast.services.values() for page in service.pages(scene.operation.name)],
    )
