"""Nights: a candidate is run, compared with the baseline, decided on, and remembered."""

from unacked.nightly.file import NightlyFile, read_nightly
from unacked.nightly.history import CaseClass, CaseHistory, History, NightEntry, classify
from unacked.nightly.night import NightResult, promote, run_night

__all__ = [
    "CaseClass",
    "CaseHistory",
    "History",
    "NightEntry",
    "NightResult",
    "NightlyFile",
    "classify",
    "promote",
    "read_nightly",
    "run_night",
]
