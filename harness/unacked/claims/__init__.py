"""The four claims of a trial: pure functions of the case and its history."""

from unacked.claims.brief import Brief, side_name
from unacked.claims.finding import Claim, Finding
from unacked.claims.judge import CLAIMS, GRADER_VERSION, Luck, TrialVerdict, judge_trial
from unacked.claims.path import moves, path_judgement

__all__ = [
    "CLAIMS",
    "GRADER_VERSION",
    "Brief",
    "Claim",
    "Finding",
    "Luck",
    "TrialVerdict",
    "judge_trial",
    "moves",
    "path_judgement",
    "side_name",
]
