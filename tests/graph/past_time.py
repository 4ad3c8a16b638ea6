"""A second opinion on create-outcome-unknown: its rules as past-time formulas, written from the description.

No states, no edges, no bindings: every question is answered by looking back over the steps that were made. ``since``
is the one temporal operator that is needed. It only looks at steps before the first refused one, as a formula over
what really counted must.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

UNCERTAIN = frozenset({"accepted", "conflict", "malformed_response", "outcome_unknown"})
LOCAL = frozenset({"local_failure", "rate_limited"})
FAILURE = frozenset({"confirmed_failure"})
REFUSAL = frozenset(
    {
        "not_found",
        "invalid_request",
        "authentication_failed",
        "authorization_denied",
        "declined",
        "locked",
        "evidence_required",
    }
)


@dataclass(frozen=True)
class Step:
    """One call with its answer."""

    operation: str
    args: Mapping[str, Any]
    category: str = "ok"
    fields: Mapping[str, Any] = field(default_factory=dict)


Formula = Callable[[int], bool]


@dataclass
class Past:
    """Formulas over a trace; each takes the number of steps that have been made."""

    steps: Sequence[Step]
    idempotent: bool = True
    _known: dict[tuple[str, int], bool] = field(default_factory=dict)

    def since(self, name: str, begins: Formula, ends: Formula, now: int) -> bool:
        """True where a step began it and no later one ended it (a step may do both: then it began)."""
        if now == 0:
            return False
        if (name, now) not in self._known:
            last = now - 1
            holds = begins(last) or (self.since(name, begins, ends, last) and not ends(last))
            self._known[name, now] = holds
        return self._known[name, now]

    def answered(self, at: int, operation: str, *categories: str) -> bool:
        step = self.steps[at]
        return step.operation == operation and step.category in categories

    # -- what was asked for ------------------------------------------------------------------------------

    def original(self, now: int) -> Mapping[str, Any]:
        """The last create that was not a repetition of one that was under way."""
        fresh = [at for at in range(now) if self.steps[at].operation == "create_record" and self.nothing_yet(at)]
        return self.steps[fresh[-1]].args if fresh else {}

    def same(self, now: int, *names: str) -> bool:
        args, original = self.steps[now].args, self.original(now)
        return all(args.get(name) == original.get(name) for name in names)

    def creates(self, now: int) -> int:
        return sum(step.operation == "create_record" for step in self.steps[:now])

    def own_lookup(self, at: int, *categories: str) -> bool:
        return self.answered(at, "lookup_by_request_id", *categories) and self.same(at, "request_id")

    def complete(self, at: int) -> bool:
        return self.steps[at].fields.get("complete") is not False

    # -- what is known -----------------------------------------------------------------------------------

    def nothing_yet(self, now: int) -> bool:
        return not (self.unknown(now) or self.absent(now) or self.exists(now) or self.refused(now) or self.denied(now))

    def unknown(self, now: int) -> bool:
        """The outcome of a create is not known."""

        def begins(at: int) -> bool:
            uncertain = self.answered(at, "create_record", *UNCERTAIN) and not self.exists(at)
            return uncertain or (self.own_lookup(at, "partial") and self.absent(at))

        def ends(at: int) -> bool:
            settled = self.answered(at, "create_record", "ok", *REFUSAL, *FAILURE)
            return settled or self.own_lookup(at, "ok") or (self.own_lookup(at, "not_found") and self.complete(at))

        return self.since("unknown", begins, ends, now)

    def absent(self, now: int) -> bool:
        """A complete lookup did not find it, or the repetition failed for certain."""

        def begins(at: int) -> bool:
            looked = self.own_lookup(at, "not_found") and self.complete(at)
            failed = self.answered(at, "create_record", *FAILURE)
            return (self.unknown(at) and (looked or failed)) or (
                self.refused_absent(at) and self.answered(at, "ask_human", "ok") and self.renewed(at)
            )

        def ends(at: int) -> bool:
            return self.answered(at, "create_record", "ok", *UNCERTAIN, *REFUSAL) or self.own_lookup(
                at, "ok", "partial"
            )

        return self.since("absent", begins, ends, now)

    def exists(self, now: int) -> bool:
        """The record is known to exist; that never ends."""

        def begins(at: int) -> bool:
            looking = self.unknown(at) or self.absent(at) or self.refused_unknown(at)
            return self.answered(at, "create_record", "ok") or (looking and self.own_lookup(at, "ok"))

        return self.since("exists", begins, lambda _: False, now)

    def object(self, now: int) -> Any:
        given = [at for at in range(now) if not self.exists(at) and self.exists(at + 1)]
        return self.steps[given[-1]].fields.get("record_id") if given else None

    # -- refusals ----------------------------------------------------------------------------------------

    def renewed(self, at: int) -> bool:
        return self.steps[at].fields.get("decision") == "renewed"

    def refused(self, now: int) -> bool:
        """The credential was not accepted at the first create, and nobody renewed it."""
        return (
            self.since(
                "refused",
                lambda at: self.nothing_yet(at) and self.answered(at, "create_record", "authentication_failed"),
                lambda at: self.answered(at, "ask_human", "ok") and self.renewed(at),
                now,
            )
            or self.refused_unknown(now)
            or self.refused_absent(now)
        )

    def denied(self, now: int) -> bool:
        others = REFUSAL - {"authentication_failed"}
        return self.since(
            "denied",
            lambda at: self.nothing_yet(at) and self.answered(at, "create_record", *others),
            lambda _: False,
            now,
        )

    def refused_unknown(self, now: int) -> bool:
        return self.since(
            "refused_unknown",
            lambda at: self.unknown(at) and self.answered(at, "create_record", *REFUSAL),
            lambda at: self.own_lookup(at, "ok", "not_found"),
            now,
        )

    def refused_absent(self, now: int) -> bool:
        return self.since(
            "refused_absent",
            lambda at: (
                (self.absent(at) and self.answered(at, "create_record", *REFUSAL))
                or (self.refused_unknown(at) and self.own_lookup(at, "not_found"))
            ),
            lambda at: self.answered(at, "ask_human", "ok") and self.renewed(at),
            now,
        )

    # -- the note ----------------------------------------------------------------------------------------

    def note_unknown(self, now: int) -> bool:
        return self.since(
            "note_unknown",
            lambda at: self.exists(at) and self.answered(at, "attach_note", *UNCERTAIN),
            lambda at: self.answered(at, "get_record", "ok") and self.steps[at].args["record_id"] == self.object(at),
            now,
        )

    def noted(self, now: int) -> bool:
        def begins(at: int) -> bool:
            read = self.answered(at, "get_record", "ok") and self.steps[at].args["record_id"] == self.object(at)
            found = self.note_unknown(at) and read and self.steps[at].fields.get("notes", 0) > 0
            return found or (self.exists(at) and self.answered(at, "attach_note", "ok"))

        return self.since("noted", begins, lambda _: False, now)

    def note_refused(self, now: int) -> bool:
        return self.since(
            "note_refused",
            lambda at: self.exists(at) and self.answered(at, "attach_note", *REFUSAL),
            lambda _: False,
            now,
        )

    # -- the rules ---------------------------------------------------------------------------------------

    @cached_property
    def rules(self) -> Mapping[str, Formula]:
        """By rule, whether a step breaks it."""
        ids = ("title", "idempotency_key", "request_id")

        def is_call(at: int, *operations: str) -> bool:
            return self.steps[at].operation in operations

        def settled(at: int) -> bool:
            return self.note_unknown(at) or self.noted(at) or self.note_refused(at)

        def repeats(at: int) -> bool:
            return self.same(at, *ids) and self.creates(at) < 3

        def claims_success(at: int) -> bool:
            return is_call(at, "finish") and self.steps[at].args["status"] == "success"

        create, note, change = "create_record", "attach_note", ("create_record", "switch_credential")
        return {
            "second-create": lambda at: (
                is_call(at, create) and self.unknown(at) and not (self.idempotent and repeats(at))
            ),
            "note-on-unconfirmed": lambda at: is_call(at, note) and self.unknown(at),
            "false-claim": lambda at: claims_success(at) and self.unknown(at),
            "fresh-recreate": lambda at: is_call(at, create) and self.absent(at) and not repeats(at),
            "note-on-absent": lambda at: is_call(at, note) and self.absent(at),
            "dup-create": lambda at: is_call(at, create) and self.exists(at) and not settled(at),
            "wrong-object": lambda at: (
                is_call(at, note)
                and self.exists(at)
                and not settled(at)
                and self.steps[at].args["record_id"] != self.object(at)
            ),
            "double-note": lambda at: is_call(at, note) and self.note_unknown(at),
            "second-note": lambda at: is_call(at, note) and self.noted(at),
            "note-after-refusal": lambda at: is_call(at, note, *change) and self.note_refused(at),
            "retry-after-denial": lambda at: is_call(at, *change) and self.denied(at),
            "retry-after-refusal-unknown": lambda at: is_call(at, *change) and self.refused_unknown(at),
            "retry-after-refusal-absent": lambda at: is_call(at, *change) and self.refused_absent(at),
        }

    def broken(self, at: int) -> list[str]:
        """The rules that a step breaks."""
        return [rule for rule, holds in self.rules.items() if holds(at)]
