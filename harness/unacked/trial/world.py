"""A fresh world for one trial: services with their seed, a network with its faults, tools with a credential."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING

from unacked.canonical import JSON
from unacked.claims import Brief
from unacked.clock import VirtualClock
from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.fault import FaultPlan
from unacked.guard import guarded
from unacked.marker import Order
from unacked.secret import BEGINNING, PROVIDER, Scanner, mint, texts_of
from unacked.services import Grant, Service, Setting, federate
from unacked.suite import LoadedCase, Suite
from unacked.tools import Evidence, Timeouts, Tokens, TokenSource, Toolbox
from unacked.tools.client import ToolClient
from unacked.tools.remote import RemoteExchange
from unacked.tools.toolbox import Diagnose
from unacked.wire import SimulatedNetwork
from unacked.wire.remote import CommandHost

if TYPE_CHECKING:
    from unacked.wire.ssh import SimulatedSSH

__all__ = ["CorrelationIds", "Vault", "World", "load_extras"]


def load_extras(case: LoadedCase) -> None:
    """Import what the tools of a case need, before its agent is watched.

    While it is imported, asyncssh asks the linker's programs for libraries that it can do without.
    """
    if any(tool.shell is not None for tool in case.tools().values()):
        with guarded(programs=None):
            import_module("unacked.tools.ssh")
            import_module("unacked.wire.ssh")


class CorrelationIds:
    """Mints one id per call from the seed: equal for the two sides of a case, never used twice."""

    def __init__(self, *parts: str) -> None:
        self._base = "\x00".join(parts)
        self._count = 0

    def next(self) -> str:
        """Return the next id."""
        self._count += 1
        return "cid-" + hashlib.sha256(f"{self._base}\x00{self._count}".encode()).hexdigest()[:16]


class Vault:
    """The credentials of one trial, all of them canaries; ``of_provider`` is the key of a fake model provider."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts
        self._all = [mint(*parts, "0")]
        self.of_provider = mint(*parts, PROVIDER)
        self._hidden: list[str] = []
        self._scanner: Scanner | None = None

    @property
    def current(self) -> str:
        """The credential that the tools should use now."""
        return self._all[-1]

    def another(self) -> str:
        """Mint one more credential and make it the current one: a renewal, or the spare one of the world."""
        self._all.append(mint(*self._parts, str(len(self._all))))
        self._scanner = None
        return self.current

    def hide(self, secret: str) -> None:
        """Look for one more secret everywhere: the key of a real provider."""
        self._hidden.append(secret)
        self._scanner = None

    def redact(self, text: str) -> str:
        """Return ``text`` without any credential of this trial."""
        return self._scan().redact(text) if self._suspicious(text) else text

    def leaked_in(self, text: str) -> bool:
        """Return whether a credential of this trial stands in ``text``, in whatever spelling."""
        return self._suspicious(text) and self._scan().leaks(text)

    def leaked_in_json(self, value: JSON) -> bool:
        """Return whether a credential of this trial stands in a JSON value, whole or in pieces side by side."""
        return self.leaked_in(texts_of(value))

    def _suspicious(self, text: str) -> bool:
        """Whether a closer look is worth its time: hardly any text holds even the beginning of a canary."""
        return bool(self._hidden) or BEGINNING.leaks(text)

    def _scan(self) -> Scanner:
        if self._scanner is None:
            self._scanner = Scanner([*self._all, self.of_provider, *self._hidden])
        return self._scanner


class World:
    """Everything remote and everything between, for one trial; ``toolbox`` is the way in."""

    def __init__(
        self,
        suite: Suite,
        case: LoadedCase,
        brief: Brief,
        *,
        client: ToolClient,
        clock: VirtualClock,
        vault: Vault,
        emit: Emit,
        diagnose: Diagnose,
        toolbox: type[Toolbox] = Toolbox,
    ) -> None:
        self._case = case
        self._emit = emit
        self._vault = vault
        idempotency = case.idempotency()
        self._services: dict[str, Service] = {
            name: suite.service(name)(use.seed, Setting(clock, vault.current, idempotency, mint=vault.another))
            for name, use in case.file.services.items()
        }
        self.plan = FaultPlan(brief.faults)
        hosts = {service.host: service for service in self._services.values()}
        self._network = SimulatedNetwork(clock, hosts, self.plan, emit)
        client.connect(self._network.backend, clock)
        self._issuer = federate(self._services.values())
        source = self._source(vault.current, clock.now() + case.file.session.cached_for_s)
        self.toolbox = toolbox(
            case.tools(),
            client,
            source=source,
            emit=emit,
            diagnose=diagnose,
            aside=self.plan.aside,
            evidence=Evidence(),
            session="trial",
            remote=_Shell(self._network, self._services.values(), source, client.timeouts),
        )

    def _source(self, token: str, expires_at_s: float) -> TokenSource:
        """What the tools hold when the task begins."""
        if self._issuer is None:
            return TokenSource(Tokens(token))
        return TokenSource(_tokens(self._issuer.grant(), expires_at_s), rotates=self._issuer.rotates)

    def sign_in(self, ids: CorrelationIds) -> None:
        """Use the credential once at every service that the case wants it at; raises HarnessError if refused."""
        for name, use in self._case.file.services.items():
            if not use.sign_in:
                continue
            correlation_id = ids.next()
            if not self.toolbox.sign_in(self._services[name].host, correlation_id):
                raise HarnessError(f"service {name!r} did not accept the credential at set-up")
            self._emit("signed_in", id=correlation_id, detail={"service": name})

    def hear(self, decision: str) -> None:
        """Let a person's decision reach whoever it concerns: the tools' credential, or a service such as the gate."""
        if decision == "renewed":
            self._renew_credential()
        for service in self._services.values():
            service.hear(decision)

    def _renew_credential(self) -> None:
        """Let every service accept a new credential, and the tools use it; an issuer signs them in anew."""
        if self._issuer is None:
            self._use(self._vault.another(), "agent")
        else:
            self.toolbox.source.use(_tokens(self._issuer.grant()))

    def switch_credential(self, _name: str) -> None:
        """Let the tools use the spare credential, which belongs to another identity, is accepted, and never expires."""
        self._use(self._vault.another(), "spare")

    def _use(self, token: str, identity: str) -> None:
        for service in self._services.values():
            service.credentials.admit(token, identity=identity)
        self.toolbox.source.use(Tokens(token))

    def settle(self) -> None:
        """Let the remote side do what it still has to do by now, such as a commit that was delayed."""
        self._network.settle()

    def close(self) -> None:
        """Let go of the network, so that everything in this world is freed as soon as nobody asks for it."""
        self._network.close()

    def connections(self) -> list[list[str | None]]:
        """Return every attempt to connect, as [correlation id, service], where a gate decides who may."""
        return [list(attempt) for attempt in self._network.connections] if "gate" in self._services else []

    def summary(self) -> Mapping[str, JSON]:
        """Return the remote state, of all services together."""
        summary: dict[str, JSON] = {}
        for service in self._services.values():
            summary.update(service.summary())
        return summary


class _Shell:
    """Carries orders to the hosts of one trial by SSH, whose sessions begin with the first order."""

    def __init__(
        self, network: SimulatedNetwork, services: Iterable[Service], source: TokenSource, timeouts: Timeouts
    ) -> None:
        self._network, self._services, self._source, self._timeouts = network, services, source, timeouts
        self._ssh: SimulatedSSH | None = None

    def __call__(self, host: str, order: Order) -> RemoteExchange:
        # Whatever imports the extra ``ssh`` is imported here, where a case needs it, and nowhere else.
        from unacked.tools.ssh import Access, send_order  # noqa: PLC0415
        from unacked.wire.ssh import TRUSTED, SimulatedSSH, host_key  # noqa: PLC0415

        if self._ssh is None:
            hosts = [service for service in self._services if isinstance(service, CommandHost)]
            self._ssh = SimulatedSSH(self._network, hosts)
        access = Access(host_key=host_key(TRUSTED), token=self._source.tokens.access)
        return self._ssh.run(host, lambda: send_order(host, order, access, self._timeouts))


def _tokens(grant: Grant, expires_at_s: float = inf) -> Tokens:
    return Tokens(grant.access_token, grant.refresh_token, expires_at_s)
