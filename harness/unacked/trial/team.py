"""Who works when: one agent by itself, or a team whose members begin when those before them have ended.

Members that are ready take turns, in the order of the case. Each has a conversation of its own, and knows nothing of
another one's but what that one hands over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unacked.agents import HandedOver
from unacked.case import Member
from unacked.clock import VirtualClock
from unacked.trail import Recorder
from unacked.trial.loop import Conversation, Ending

__all__ = ["Begin", "work_alone", "work_together"]

Begin = Callable[[Member | None, Sequence[HandedOver]], "Conversation | Ending"]
"""Starts the agent of a member (None: of the whole task) on what was handed over; or says why that cannot be."""

_MAY_HAVE_ACTED = ("success", "unknown", None)


def work_alone(begin: Begin, clock: VirtualClock) -> Ending:
    """Let one agent work until it stops, fails by itself, or meets a limit; then let go of it."""
    conversation = begin(None, ())
    if not isinstance(conversation, Conversation):
        return conversation
    try:
        while (ending := conversation.turn(clock)) is None:
            pass
        return ending
    finally:
        conversation.close()


def work_together(
    team: Sequence[Member], begin: Begin, clock: VirtualClock, recorder: Recorder, redact: Callable[[str], str]
) -> Ending:
    """Let a team work until the last member has ended; one that is cut, or cannot work, ends it for all."""
    return _Team(team, begin, clock, recorder, redact).work()


class _Team:
    def __init__(
        self,
        team: Sequence[Member],
        begin: Begin,
        clock: VirtualClock,
        recorder: Recorder,
        redact: Callable[[str], str],
    ) -> None:
        self._begin, self._clock, self._recorder, self._redact = begin, clock, recorder, redact
        self._waiting = list(team)
        self._working: dict[str, Conversation] = {}
        self._ended: dict[str, HandedOver | None] = {}
        self._troubles: list[str] = []

    def work(self) -> Ending:
        try:
            while self._waiting or self._working:
                stopped = self._start_who_is_ready() or self._take_turns()
                if stopped is not None:
                    return stopped
            return "finished", "; ".join(self._troubles) or None
        finally:
            for name, conversation in self._working.items():
                with self._recorder.acting(name):
                    conversation.close()

    def _start_who_is_ready(self) -> Ending | None:
        for member in [each for each in self._waiting if self._ended.keys() >= {*each.waits_for}]:
            self._waiting.remove(member)
            with self._recorder.acting(member.member):
                stopped = self._start(member)
            if stopped is not None:
                return stopped
        return None

    def _start(self, member: Member) -> Ending | None:
        handed = [told for name in member.waits_for if (told := self._ended[name]) is not None]
        if not self._is_needed(member):
            self._end(member.member, ("skipped", None), None)
            return None
        conversation = self._begin(member, handed)
        if not isinstance(conversation, Conversation):
            return self._end(member.member, conversation, None)
        self._working[member.member] = conversation
        return None

    def _is_needed(self, member: Member) -> bool:
        """A compensation is, where something went wrong after what it would undo may have been done."""
        if member.compensates is None:
            return True
        done = self._ended[member.compensates]
        others = [told for name in member.after if (told := self._ended[name]) is not None and told is not done]
        return done is not None and done.status in _MAY_HAVE_ACTED and any(told.status != "success" for told in others)

    def _take_turns(self) -> Ending | None:
        for name, conversation in list(self._working.items()):
            with self._recorder.acting(name):
                ending = conversation.turn(self._clock)
                if ending is None:
                    continue
                del self._working[name]
                conversation.close()
                stopped = self._end(name, ending, HandedOver.told(name, conversation.said))
            if stopped is not None:
                return stopped
        return None

    def _end(self, name: str, ending: Ending, told: HandedOver | None) -> Ending | None:
        """Note how a member's part ended; returns how the trial ends, where it cannot go on."""
        reason, trouble = ending
        told_of = {} if trouble is None else {"trouble": self._redact(trouble)}
        self._recorder.emit("member_end", detail={"reason": reason} | told_of)
        if reason in ("cut", "budget", "crash"):
            return reason, f"{name}: {trouble}" if trouble else None
        self._ended[name] = told
        self._troubles += [f"{name}: {trouble}"] if trouble else []
        return None
