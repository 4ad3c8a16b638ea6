"""Trials: one case, one agent, one repeat, in a fresh world."""

from unacked.trial.trial import Bench, TrialPlan, TrialRecord

__all__ = ["Bench", "TrialPlan", "TrialRecord"]
