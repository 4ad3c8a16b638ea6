"""The base of all fake services: everything that real ones do alike, once."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from unacked.canonical import JSON, dumps, loads
from unacked.errors import nearest
from unacked.fault import Action
from unacked.rpc import Meant, reply
from unacked.services.credential import AGENT, Credentials
from unacked.services.idempotency import IdempotencyStore, Recall
from unacked.services.ledger import Ledger
from unacked.services.route import Call, RefusedError, Result, Route, RouteTable
from unacked.services.setting import Setting
from unacked.wire.message import Request, Response

__all__ = ["Service", "repeats"]


class Service(ABC):
    """A fake service in one trial.

    A subclass gives ``name``, ``routes``, the methods that the routes name, and ``summary``; ``commands`` are
    operations that come another way than by a route. All its durable state lives in ``self.state``, a plain
    JSON-like value that is reached through ``self`` every time, so that a request can be answered without being
    carried out. New ids come from ``self.ids``. ``changes`` maps the names of the changes of its world that it
    knows to methods that take their parameters.

    Every request is judged in this order: credential (401; a public route asks for none), route (404),
    permission (403), rate limit (429), JSON (400), fields (422), idempotency key (409, 422 or the saved
    answer), then the route's method.
    """

    name: str
    routes: ClassVar[tuple[Route, ...]] = ()
    changes: ClassVar[Mapping[str, Callable[[Any, Mapping[str, JSON]], None]]] = {}
    commands: ClassVar[tuple[str, ...]] = ()
    _table: ClassVar[RouteTable]

    def __init__(self, setting: Setting, state: dict[str, Any]) -> None:
        self.state = state
        self.ids = setting.ids
        self.ledger = Ledger(setting.clock)
        self.credentials = Credentials(setting.token)
        self._keys: IdempotencyStore[Result] = IdempotencyStore(
            setting.clock,
            setting.idempotency,
            in_flight_s=setting.in_flight_s,
            key_lifetime_s=setting.key_lifetime_s,
        )
        self._denied: dict[tuple[str, str], tuple[int, str]] = {}
        self._limited: dict[str, float] = {}
        self._answering: dict[str, Result] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._table = RouteTable((Route("sign_in", "GET", "/v1/session", Service._sign_in), *cls.routes))

    @property
    def host(self) -> str:
        """The name under which a wire reaches the service."""
        return f"{self.name}.test"

    @property
    def operations(self) -> Mapping[str, Route]:
        """The route of every operation, signing in among them."""
        return self._table.routes

    def operation_of(self, method: str, path: str) -> str | None:
        """Return the operation that a request means, None where no route matches."""
        route, _ = self._table.find(method, path)
        return route.operation if route else None

    def accepts(self, token: str) -> bool:
        """Whether ``token`` is a credential that is accepted now."""
        try:
            self.credentials.check(f"Bearer {token}")
        except RefusedError:
            return False
        return True

    def permits(self, token: str, operation: str) -> bool:
        """Whether the identity behind an accepted ``token`` may do ``operation``."""
        return (self.credentials.check(f"Bearer {token}"), operation) not in self._denied

    @abstractmethod
    def summary(self) -> dict[str, JSON]:
        """Return the remote state as a case's ``world`` claim compares it: counts, mostly."""

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        """Answer ``request`` and write the ledger.

        With ``commit=False`` the answer has the same bytes as if the request had been carried out, but
        state, ids and idempotency keys keep no trace and nothing counts as committed. That the request
        was received and answered stays in the ledger, and an armed disturbance is spent.
        """
        route, path = self._table.find(request.method, request.place)
        received = self.ledger.receive(request, route.operation if route else None)
        if commit:
            result = self._result(request, route, path)
        else:
            with self._without_trace():
                result = self._result(request, route, path)._replace(committed=False)
        if result.committed:
            self.ledger.commit(received)
        self.ledger.respond(received, result.status)
        meant = None if route is None else route.meant(path)
        return _response(result, received.correlation_id, meant, request)

    def disturb(self, action: Action, operation: str) -> None:
        """Arm a service-side fault; raises ValueError where service or action do not know it.

        ``rate_limit`` refuses the operation's next request. ``expire_credential`` and ``revoke_credential``
        end every credential accepted so far, ``never_valid`` forgets them. ``deny`` takes the permission for
        the operation away for good, from every identity known so far; hidden, the answer is that of an
        object which is not there. ``failure`` makes the operation's next execution fail with that status,
        without an effect; ``index_behind`` makes the next lookup find nothing, and say that it has not looked
        everything through. What ``changes`` names happens at once.
        """
        if operation not in self._table.routes and operation not in self.commands:
            hint = nearest(operation, (*self._table.routes, *self.commands))
            raise ValueError(f"service {self.name!r} has no operation {operation!r}; {hint}")
        given = action.parameters
        match action.name:
            case "rate_limit":
                self._limited[operation] = given["retry_after_s"]
            case "expire_credential":
                self.credentials.expire()
            case "revoke_credential":
                self.credentials.revoke()
            case "never_valid":
                self.credentials.forget()
            case "deny":
                denial = (404, "not_found") if given.get("hidden") else (403, "insufficient_scope")
                self._denied.update(((identity, operation), denial) for identity in self.credentials.identities)
            case "failure":
                self._answering[operation] = _failure(given)
            case "index_behind":
                self._answering[operation] = Result(200, {"items": [], "complete": False})
            case change if change in self.changes:
                self.changes[change](self, given)
            case _:
                raise ValueError(f"action {action.name!r} is the wire's business, not a service's")

    def hear(self, decision: str) -> None:  # noqa: B027 - to do nothing is what most services want
        """Take note of what a person has decided; most services have nothing to do with it."""

    @contextmanager
    def _without_trace(self) -> Iterator[None]:
        state, ids, keys = self.state, self.ids.mark(), self._keys.mark()
        self.state = copy.deepcopy(state)
        try:
            yield
        finally:
            self.state = state
            self.ids.restore(ids)
            self._keys.restore(keys)

    def _result(self, request: Request, route: Route | None, path: Mapping[str, str]) -> Result:
        try:
            is_public = route is not None and route.public
            identity = AGENT if is_public else self.credentials.check(request.headers.get("authorization"))
            route = self._admit(route, identity)
            headers, fields = request.headers, route.read(request, path)
            request_id = fields.get("request_id") or headers.get("x-request-id")
            call = Call(path, fields, identity, headers.get("x-correlation-id"), request_id)
            key = headers.get("idempotency-key")
            if key is None or not route.keyed or not self._keys.honours(route.operation):
                return self._execute(route, call)
            return self._execute_once(route, call, key)
        except RefusedError as refused:
            return refused.result

    def _admit(self, route: Route | None, identity: str) -> Route:
        if route is None:
            raise RefusedError(404, "no_such_route")
        denial = self._denied.get((identity, route.operation))
        if denial is not None:
            raise RefusedError(*denial)
        retry_after_s = self._limited.pop(route.operation, None)
        if retry_after_s is not None:
            raise RefusedError(429, "rate_limited", headers=(("retry-after", str(math.ceil(retry_after_s))),))
        return route

    def _execute_once(self, route: Route, call: Call, key: str) -> Result:
        asked = {name: value for name, value in call.fields.items() if name != "request_id"}
        payload = dumps([asked, dict(call.path)])
        recalled = self._keys.recall(route.operation, key, payload)
        if recalled is Recall.MISMATCH:
            raise RefusedError(422, "idempotency_mismatch")
        if recalled is Recall.IN_FLIGHT:
            raise RefusedError(409, "idempotency_in_flight")
        if isinstance(recalled, Result):
            return _replay(recalled)
        result = self._execute(route, call)
        self._keys.save(route.operation, key, payload, result, succeeded=result.status < 400)
        return result

    def _execute(self, route: Route, call: Call) -> Result:
        decided = self._answering.pop(route.operation, None)
        if decided is not None:
            return decided
        try:
            result = route.action(self, call)
        except RefusedError as refused:
            return refused.result
        if route.keyed and result.status < 400:
            return result._replace(body={**result.body, "replayed": False})
        return result

    def _sign_in(self, call: Call) -> Result:
        return Result(200, {"identity": call.identity})


def repeats(items: Iterable[Mapping[str, JSON]], *effects: tuple[str, ...]) -> int:
    """Count the items that do again what an earlier one did.

    Each of ``effects`` is a tuple of keys whose values together say what was done; values with a null
    among them say nothing. ``repeats(records, ("title",), ("request_id",))`` counts a record whose
    title or request id stood in an earlier one.
    """
    seen: set[tuple[tuple[str, ...], tuple[JSON, ...]]] = set()
    count = 0
    for item in items:
        done = {(keys, tuple(item[key] for key in keys)) for keys in effects}
        done = {(keys, values) for keys, values in done if None not in values}
        count += not seen.isdisjoint(done)
        seen |= done
    return count


def _failure(given: Mapping[str, JSON]) -> Result:
    headers = tuple((name.lower(), str(value)) for name, value in given["headers"].items())
    return Result(given["status"], given["body"], headers)


def _replay(saved: Result) -> Result:
    body = {**saved.body, "replayed": True} if saved.status < 400 else saved.body
    return saved._replace(body=body, committed=False)


def _response(result: Result, correlation_id: str | None, meant: Meant | None, request: Request) -> Response:
    status, body = result.status, result.body
    if status < 400:
        body = {**body, "correlation_id": correlation_id}
    if meant is not None:
        status, body = reply(meant, _message_id(request), status, body)
    headers = (("content-type", "application/json"), *result.headers)
    if correlation_id is not None:
        headers = (*headers, ("x-correlation-id", correlation_id))
    # A lone surrogate, which JSON can escape and UTF-8 cannot hold, goes out as the escape it came in as.
    encoded = dumps(body).encode("utf-8", "backslashreplace")
    return Response(status, encoded, headers, result.committed)


def _message_id(request: Request) -> JSON:
    """The id of a JSON-RPC message; null where it cannot be read."""
    try:
        message = loads(request.body)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) else None
