"""The faults of services to which nobody announces a call: a call begins when its request arrives.

On the simulated wire a tool says which call it makes. On real sockets clients are strangers, so a call is
recognised by its method and path, and ``nth`` counts the requests of an operation at the service, re-sends
among them. A connection that a fault took before any request counts as the call that it was meant for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from unacked.fault import Fault, Point

__all__ = ["FRESH", "Arrival", "Arrivals"]

FRESH = (Point.BEFORE_CONNECT, Point.TLS, Point.AFTER_ACCEPT)
"""Points that only a fresh connection passes."""


class Arrivals:
    """Hands out the faults of all services together, and keeps count; belongs to one thread."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._faults: tuple[Fault, ...] = tuple(faults)
        self._calls: Counter[str] = Counter()
        self._fired: set[int] = set()
        self._in_hand: set[int] = set()
        self._watchers: list[Callable[[], None]] = []

    def watch(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` whenever another fault may have become the next one."""
        self._watchers.append(changed)

    def arm(self, faults: Iterable[Fault]) -> Sequence[Fault]:
        """Add faults whose ``nth`` counts from now on; returns them with ``nth`` counted from the start."""
        added = tuple(replace(fault, nth=fault.nth + self._calls[fault.operation]) for fault in faults)
        self._faults += added
        self._changed()
        return added

    def restart(self, faults: Iterable[Fault] = ()) -> None:
        """Forget all faults and all calls, and begin anew with ``faults``."""
        self._faults = tuple(faults)
        for memory in (self._calls, self._fired, self._in_hand):
            memory.clear()
        self._changed()

    def disarm(self) -> None:
        """Forget every fault that could still act."""
        self._faults = tuple(fault for fault in self._faults if id(fault) in self._fired and not fault.persistent)
        self._fired = {id(fault) for fault in self._faults}  # of the others, ids may be given to new faults
        self._in_hand.clear()
        self._changed()

    @property
    def calls(self) -> Mapping[str, int]:
        """How many calls of each operation there were."""
        return dict(self._calls)

    @property
    def waiting(self) -> Sequence[Fault]:
        """The faults that may still act: those that have not, and persistent ones."""
        return tuple(fault for fault in self._faults if fault.persistent or id(fault) not in self._fired)

    @property
    def unfired(self) -> Sequence[Fault]:
        """The declared faults that have not fired so far."""
        return tuple(fault for fault in self._faults if id(fault) not in self._fired)

    def coming(self, operations: Collection[str], *points: Point) -> Arrival | None:
        """Return the next call of one of ``operations`` that a fault at ``points`` waits for, if there is one.

        Nothing is counted before ``fire``. Who connects next is not known to be that call: where clients ask
        for several operations at a time, the fault takes whichever connection comes first.
        """
        for fault in self._faults:
            nth = self._calls[fault.operation] + 1
            if fault.point in points and fault.operation in operations and self._due(fault, nth):
                return Arrival(self, fault.operation, nth, (fault,))
        return None

    def reserve(self, fault: Fault) -> None:
        """Keep a transient fault for one connection until it has fired or was given back."""
        if not fault.persistent:
            self._in_hand.add(id(fault))

    def give_back(self, fault: Fault) -> None:
        """Let a reserved fault wait again: it could not act on that connection."""
        self._in_hand.discard(id(fault))
        self._changed()

    def arrived(self, operation: str) -> tuple[int, Sequence[Fault]]:
        """Count a request of ``operation``; returns which one it is, and the faults that may act in it."""
        self._calls[operation] += 1
        nth = self._calls[operation]
        due = tuple(fault for fault in self._faults if fault.operation == operation and self._due(fault, nth))
        self._changed()
        return nth, due

    def note(self, fault: Fault, call: Arrival) -> None:
        """Note that ``fault`` has acted in ``call``, which counts from now on if it did not before."""
        if any(known is fault for known in self._faults):
            self._fired.add(id(fault))
        self._in_hand.discard(id(fault))
        self._calls[call.operation] = max(self._calls[call.operation], call.nth)
        self._changed()

    def _due(self, fault: Fault, nth: int) -> bool:
        if fault.persistent:
            return nth >= fault.nth
        return nth == fault.nth and id(fault) not in self._fired and id(fault) not in self._in_hand

    def _changed(self) -> None:
        for changed in self._watchers:
            changed()


class Arrival:
    """The call that a connection carries at present, and the faults that may still act in it."""

    __slots__ = ("_plan", "armed", "call_id", "nth", "operation")

    def __init__(self, plan: Arrivals, operation: str = "", nth: int = 0, armed: Sequence[Fault] = ()) -> None:
        self._plan = plan
        self.operation, self.nth, self.armed = operation, nth, armed
        self.call_id: str | None = None

    def begin(self, operation: str | None, call_id: str | None) -> None:
        """Note that the connection's next request has arrived; without an operation no fault can reach it."""
        self.operation, self.call_id = operation or "", call_id
        self.nth, self.armed = self._plan.arrived(operation) if operation else (0, ())

    def begin_page(self) -> None:
        """Count nothing: here every request is a call of its own."""

    def at(self, *points: Point) -> Fault | None:
        """Return the armed fault at one of ``points``, if there is one; it stays armed until ``fire``."""
        for fault in self.armed:
            if fault.point in points:
                return fault
        return None

    def fire(self, fault: Fault) -> None:
        """Note that ``fault`` has acted."""
        if not fault.persistent:
            self.armed = tuple(armed for armed in self.armed if armed is not fault)
        self._plan.note(fault, self)
