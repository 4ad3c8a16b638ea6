"""The trail: what happened, in files in which no byte can be changed unseen."""

from unacked.trail.chain import ChainReader, ChainWriter, head_of, read_chain
from unacked.trail.recorder import Diagnostics, Recorder, TrialName, read_history, read_record

__all__ = [
    "ChainReader",
    "ChainWriter",
    "Diagnostics",
    "Recorder",
    "TrialName",
    "head_of",
    "read_chain",
    "read_history",
    "read_record",
]
