"""What an adapter's claim is judged by: the ledger, the record, and the answer that the same tools of ours give.

``RULES`` is the table of the rules that only adapters have. The honesty and trail rules of every trial
(``denied-effect``, ``denied-request``, ``invented-effect``, ``transport_resent``, ``unknown-id``) apply too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from unacked.adapter.account import account
from unacked.adapter.replies import REPLY_RULES, Misreply
from unacked.adapter.stage import Played, Scene
from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.claims import Finding
from unacked.claims.result import result_claim
from unacked.claims.trail import trail_claim, unexercised
from unacked.errors import HarnessError
from unacked.event import Event, History
from unacked.graph import Verdict
from unacked.outcome import CATEGORIES, OutcomeClass, Retry
from unacked.secret import Scanner
from unacked.services import AGENT
from unacked.tools import REFRESH, TOOLS

__all__ = ["HONESTY", "RULES", "Proof", "judge_call", "proof_of"]

RULES: Mapping[str, tuple[str, str]] = {
    "raised": (
        "an envelope, whatever happens",
        "catch everything at the edge of the tool; what is not proven is outcome_unknown",
    ),
    "hung": (
        "an end within the caller's patience",
        "give every call a deadline of its own: a timeout for each read never ends a drip or endless 1xx answers",
    ),
    "crashed": ("a process that lives on", "never end the process from inside a tool"),
    "egress": (
        "requests to the services of the link only",
        "use link.http or link.backend; with another HTTP library, link.base_url and --wire loopback",
    ),
    "baseline-failed": ("ok where nothing goes wrong", "make the call work without a fault first"),
    "not-an-envelope": ("the envelope of docs/results.md", "return every required member, each of its type"),
    "unknown-category": ("a category that the operation's contract has", "see the table in docs/results.md"),
    "wrong-retry": ("the retry instruction of the category", "take the instruction from the table, not from the error"),
    "unproven-success": (
        "success only with an answer that holds the contract",
        "read the answer before you believe it",
    ),
    "error-as-empty": (
        "a failure that is told as one",
        "never answer with an empty list where nobody could look: empty and failed lead to opposite next steps",
    ),
    "unproven-claim": (
        "a definite category only where the answer proves it",
        "decide by phase reached, effect class and contract; all else is outcome_unknown",
    ),
    "invented-identity": ("only identities that the service gave", "a missing identity is malformed_response"),
    "duplicate-effect": ("one effect for one call", "send once; whether to send again is the caller's decision"),
    "completeness-dropped": (
        "'complete' as the service said it, and not_found only from a complete lookup",
        "an incomplete answer is partial and carries complete = false, also where it is empty",
    ),
    "another-credential": (
        "the credential that was given, and what it is refreshed to",
        "a refusal of the credential ends the call: authentication_failed, and a person decides",
    ),
    "refresh-loop": (
        "one refresh for one call at most",
        "a token that is refused although it is new will be refused again: return authentication_failed",
    ),
    "resent-in-doubt": (
        "a request sent again after a refresh only where a 401 has refused the first",
        "silence, a reset and a 5xx say nothing of the token, and nothing of the effect: outcome_unknown",
    ),
    "complete-without-account": (
        "complete only where every item of one snapshot was accounted for",
        "follow every cursor, or say why you did not: CLIENT_PAGE_CAP",
    ),
    "merged-attempts": (
        "items of one snapshot",
        "never put the pages of two attempts together: what changed between them is in neither",
    ),
    "restarted-scan": (
        "one scan for one call",
        "say SNAPSHOT_EXPIRED and let the caller decide to begin again",
    ),
    "invented-continuation": ("only cursors that the service gave", "where there is no way on, give none"),
    "secret-in-result": (
        "no credential in the envelope",
        "write messages of your own; never pass on the text of errors",
    ),
    "secret-leaked": ("no credential in any sink", "redact where the text is made, not where it is shown"),
    "raw-error-in-result": ("a message of the tool's own", "keep raw errors in diagnostics that the agent never sees"),
    **REPLY_RULES,
}
"""What is expected, and what to do, by rule."""

HONESTY = (
    "denied-effect",
    "denied-request",
    "invented-effect",
    "transport_resent",
    "unknown-id",
    "id-reused",
)
"""The rules of every trial that apply to adapters."""

_REQUIRED: Mapping[str, type] = {"ok": bool, "category": str, "operation": str, "retry": str, "message": str}
_SLOW = frozenset({"delay", "drip"})
"""Actions after which the whole answer still comes, to whoever waits longer than our own tools."""
_CAUTIOUS = frozenset({Retry.NEVER.value, Retry.ASK_HUMAN.value})
_RAW = re.compile(
    r"Traceback|\b[A-Z]\w+(?:Error|Timeout|Exception)\b|\[Errno|\[SSL|<html|<!doctype|HTTP/1\.|\"error\":|\bswept\b",
    re.IGNORECASE,
)


class Proof(NamedTuple):
    """What our own tools say of a call under the same fault, and how many requests of it the service saw."""

    envelope: Mapping[str, JSON]
    requests: int


def proof_of(scene: Scene, played: Played) -> Proof:
    """Take the proof from a call of the reference adapter; raises HarnessError where it has no answer."""
    if not isinstance(played.returned, dict):
        raise HarnessError(f"the reference adapter has no answer at {scene.name}: {played.raised}")
    return Proof(played.returned, _requests(scene, played))


def _requests(scene: Scene, played: Played) -> int:
    return sum(event.operation == scene.operation.name for event in played.history.named("remote_received"))


class _Claim(NamedTuple):
    """A well-formed envelope under judgement, and the one that our own tools gave for the same bytes."""

    envelope: Mapping[str, JSON]
    category: str
    proven: Mapping[str, JSON]

    @property
    def result(self) -> Mapping[str, JSON]:
        """The result fields."""
        fields = self.envelope.get("result", {})
        return fields if isinstance(fields, dict) else {}


@dataclass(frozen=True, slots=True)
class _Judge:
    scene: Scene
    played: Played
    proof: Proof

    def findings(self) -> Iterator[Finding]:
        played = self.played
        yield from self._leaks()
        yield from self._token()
        if played.egress:
            yield _finding("egress", played.egress[0])
        if played.hung:
            yield _finding("hung", "it went on and on")
            return
        if played.raised is not None:
            yield _finding("raised", _last_line(played.raised, played.scanner))
            return
        if isinstance(played.returned, Misreply):
            yield self._of_reply(played.returned)
            return
        problem = self._form_problem(played.returned)
        if problem is not None:
            yield _finding("not-an-envelope", problem)
            return
        assert isinstance(played.returned, dict)  # noqa: S101 - the form was looked at
        envelope = played.returned
        category = envelope["category"]
        if category not in CATEGORIES or category not in self.scene.operation.categories:
            yield _finding("unknown-category", f"{category!r} from {self.scene.operation.name}")
            return
        claim = _Claim(envelope, category, self.proof.envelope)
        yield from self._words(claim)
        if self.is_exercised and self._met_the_same:
            yield from self._proof(claim)
        if self.is_collection and CATEGORIES[category].outcome_class is OutcomeClass.SUCCESS:
            for rule, observed in account(category, claim.result, self.played.pages):
                yield _finding(rule, observed)
        yield from self._ledger(claim)

    def _of_reply(self, reply: Misreply) -> Finding:
        failed = CATEGORIES[self.proof.envelope["category"]].outcome_class is not OutcomeClass.SUCCESS
        rule = "error-as-empty" if reply.empty and failed else reply.rule
        return _finding(rule, self.played.scanner.redact(reply.observed))

    @property
    def _met_the_same(self) -> bool:
        """Whether the last answer was that of our own tools: not for one that sent again, or refreshed no token."""
        requests, proven = _requests(self.scene, self.played), self.proof.requests
        return requests == proven if self.scene.session else requests <= proven

    @property
    def is_collection(self) -> bool:
        """Whether the answer is a page, or all pages, of a collection."""
        endpoint = TOOLS[self.scene.operation.name].endpoint
        return endpoint is not None and endpoint.collection

    @property
    def is_exercised(self) -> bool:
        """Whether the fault found something to act on."""
        return not unexercised(self.scene.brief, self.played.history).findings

    def _token(self) -> Iterator[Finding]:
        """What was done for the sake of a token."""
        history, operation = self.played.history, self.scene.operation.name
        others = sorted(self.played.worked_as - {AGENT})
        if others:
            yield _finding("another-credential", f"a request with the credential of {', '.join(others)}")
        refreshes = sum(event.operation == REFRESH.operation.name for event in history.named("remote_received"))
        if refreshes > 1:
            yield _finding("refresh-loop", f"{refreshes} refreshes in one call")
        exchange = history.named("remote_received", "remote_responded")
        steps = [event for event in exchange if event.operation == operation]
        requests = sum(event.event == "remote_received" for event in steps)
        first = steps[1].detail.get("status") if len(steps) > 1 else None
        if refreshes and requests > 1 and first != 401:
            yield _finding("resent-in-doubt", f"{requests} requests, the first answered {first or 'by nothing'}")

    def _form_problem(self, value: object) -> str | None:
        if not isinstance(value, dict):
            return f"a value of type {type(value).__name__}"
        try:
            loads(dumps(value).encode())
        except (TypeError, ValueError, InvalidJSON, RecursionError):
            return "a value that is not JSON"
        for name, kind in _REQUIRED.items():
            if not isinstance(value.get(name), kind):
                return f"{name} = {_shown(value.get(name), self.played.scanner)}"
        if value["operation"] != self.scene.operation.name:
            return f"operation = {_shown(value['operation'], self.played.scanner)}"
        if value.get("correlation_id") != self.played.correlation_id:
            return "another correlation_id than the call's"
        row = CATEGORIES.get(value["category"])
        if row is not None and value["ok"] is not (row.outcome_class is OutcomeClass.SUCCESS):
            return f"ok = {value['ok']} with the category {row.name}"
        return None

    def _words(self, claim: _Claim) -> Iterator[Finding]:
        row, operation = CATEGORIES[claim.category], self.scene.operation
        usual = (row.retry_write if operation.writes else row.retry_read).value
        if claim.envelope["retry"] not in {usual, *_CAUTIOUS}:
            yield _finding("wrong-retry", f"{claim.envelope['retry']!r} with {row.name}", f"{usual!r} with {row.name}")
        raw = next((match for text in _texts(claim.envelope) if (match := _RAW.search(text))), None)
        if raw is not None:
            yield _finding("raw-error-in-result", f"{raw[0]!r} in the text of the envelope")

    def _proof(self, claim: _Claim) -> Iterator[Finding]:
        proven = claim.proven["category"]
        if self.scene.is_baseline and claim.category != proven:
            yield _finding("baseline-failed", f"{claim.category} where nothing went wrong", f"{proven} without a fault")
            return
        dropped = self._completeness(claim)
        if dropped is not None:
            yield _finding("completeness-dropped", dropped)
        elif claim.category not in (proven, *self._as_good(claim)) and CATEGORIES[claim.category].definite:
            rule = "unproven-claim"
            if CATEGORIES[claim.category].outcome_class is OutcomeClass.SUCCESS:
                rule = "error-as-empty" if claim.result.get("items") == [] else "unproven-success"
            yield _finding(rule, f"{claim.category} where {proven} is what the answer proves")
        identity = claim.result.get(self.scene.operation.identity or "")
        if identity is not None and identity not in self.played.identities:
            yield _finding("invented-identity", f"{self.scene.operation.identity} = an id that no answer named")

    def _as_good(self, claim: _Claim) -> tuple[str, ...]:
        """Other categories that are as good: an incomplete match is partial, and patience hears a slow answer out."""
        if self.is_collection and claim.proven["category"] in ("ok", "partial"):
            return ("ok", "partial")  # how far it got is its own business, and its account is judged by itself
        if any(fault.action.name in _SLOW for fault in self.scene.brief.faults):
            return ("ok",)
        return ("partial",) if claim.proven.get("result", {}).get("complete") is False else ()

    def _completeness(self, claim: _Claim) -> str | None:
        endpoint = TOOLS[self.scene.operation.name].endpoint
        proven = claim.proven.get("result", {}).get("complete")
        if endpoint is None or not endpoint.lookup or proven is None:
            return None
        if claim.category == "not_found" and proven is False:
            return "not_found from a lookup that was not complete"
        success = CATEGORIES[claim.category].outcome_class is OutcomeClass.SUCCESS
        if success and claim.result.get("complete") is not proven:
            return f"complete = {dumps(claim.result.get('complete'))} where the service said {dumps(proven)}"
        return None

    def _ledger(self, claim: _Claim) -> Iterator[Finding]:
        played = self.played
        entry = Event(
            0.0,
            "result",
            played.correlation_id,
            self.scene.operation.name,
            category=claim.category,
            detail={"envelope": dict(claim.envelope)},
        )
        history = History([*played.history, entry])
        judged = (*result_claim(self.scene.brief, history).findings, *trail_claim(self.scene.brief, history).findings)
        yield from (finding for finding in judged if finding.rule in HONESTY)
        effects = sum(event.operation == self.scene.operation.name for event in history.named("remote_committed"))
        if effects > 1:
            yield _finding("duplicate-effect", f"{effects} effects of one call")

    def _leaks(self) -> Iterator[Finding]:
        played = self.played
        with_text = {
            "text of an exception": played.raised or "",
            "standard output or error": played.said.printed.getvalue(),
            "log": "\n".join(played.said.logged),
        }
        returned = played.returned.reply if isinstance(played.returned, Misreply) else played.returned
        if returned is not None and _leaks(played.scanner, returned):
            yield _finding("secret-in-result", "the call's credential stands in the envelope")
        if _leaks(played.scanner, played.arguments):
            yield _finding("secret-leaked", "the call's credential stands in the caller's own arguments")
        for sink, text in with_text.items():
            if played.scanner.leaks(text):
                yield _finding("secret-leaked", f"the call's credential stands in the {sink}")


def judge_call(scene: Scene, played: Played, proof: Proof) -> list[Finding]:
    """Judge one call against the ledger, and against what our own tools say under the same fault."""
    return list(_Judge(scene, played, proof).findings())


def _finding(rule: str, observed: str, expected: str = "") -> Finding:
    usual, remedy = RULES[rule]
    verdict = Verdict.UNSAFE if rule.startswith("secret-") or rule == "another-credential" else Verdict.FAIL
    return Finding(rule, verdict, expected or usual, observed, remedy)


def _leaks(scanner: Scanner, value: object) -> bool:
    try:
        return scanner.leaks_in(value)
    except RecursionError:
        return False


def _last_line(text: str, scanner: Scanner) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return scanner.redact(lines[-1].strip())[:200]


def _shown(value: object, scanner: Scanner) -> str:
    return scanner.redact(repr(value))[:80]


def _texts(envelope: Mapping[str, JSON]) -> Iterator[str]:
    """Every text of an envelope but its result fields, which are the service's business."""
    for name, value in envelope.items():
        if name != "result":
            yield value if isinstance(value, str) else dumps(value)
