"""The next-call probe: go to where it counts, ask a model for its next call only, many times, and judge each."""

from unacked.probe.ask import Probed, ask
from unacked.probe.next_call import NextCall, judge_next
from unacked.probe.odds import Odds
from unacked.probe.prefix import Prefix, of_case, of_trace, of_trial

__all__ = ["NextCall", "Odds", "Prefix", "Probed", "ask", "judge_next", "of_case", "of_trace", "of_trial"]
