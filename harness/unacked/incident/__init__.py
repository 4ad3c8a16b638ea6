"""Incidents: from somebody's trace to a small red case that stays in the suite.

read -> Recording -> bring_in (infer, redact, map) -> propose -> a case file -> minimize -> verify -> add
"""

from unacked.incident.check import Check
from unacked.incident.export import export_spans
from unacked.incident.mapping import check_mapping, read_mapping
from unacked.incident.minimize import Minimized, minimize
from unacked.incident.neutral import neutral_lines, neutral_trace, trial_trace
from unacked.incident.propose import Draft, Imported, bring_in, case_name, propose
from unacked.incident.read import FORMATS, read_recording
from unacked.incident.recording import Recording
from unacked.incident.redact import Redactor
from unacked.incident.rehearse import repeating_agent
from unacked.incident.sketch import NoGraphFitsError, sketch
from unacked.incident.store import Held, add, held, retire
from unacked.incident.verify import Verification, verify
from unacked.incident.written import written

__all__ = [
    "FORMATS",
    "Check",
    "Draft",
    "Held",
    "Imported",
    "Minimized",
    "NoGraphFitsError",
    "Recording",
    "Redactor",
    "Verification",
    "add",
    "bring_in",
    "case_name",
    "check_mapping",
    "export_spans",
    "held",
    "minimize",
    "neutral_lines",
    "neutral_trace",
    "propose",
    "read_mapping",
    "read_recording",
    "repeating_agent",
    "retire",
    "sketch",
    "trial_trace",
    "verify",
    "written",
]
