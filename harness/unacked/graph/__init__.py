"""Allowed transitions: graph files, the monitor that walks them, verdicts and explanations."""

from unacked.graph.explain import Explanation, render
from unacked.graph.judgement import GraphJudgement, Judgement, ThreadJudgement, judge_events
from unacked.graph.loader import load_graph
from unacked.graph.model import BoundGraph, Edge, Finality, Graph, State, Target
from unacked.graph.monitor import Violation, Walked
from unacked.graph.moves import Call, End, Event, Result
from unacked.graph.team import HAND_OVER, Member, Team, before, team_of, tells
from unacked.graph.trace import Begin, MemberPart, Trace, TraceJudge, bind_trace, judge, lines_of
from unacked.graph.trace_reader import read_traces, stream_traces
from unacked.graph.verdict import VERDICTS, EndReason, Standing, Stop, Verdict

__all__ = [
    "HAND_OVER",
    "VERDICTS",
    "Begin",
    "BoundGraph",
    "Call",
    "Edge",
    "End",
    "EndReason",
    "Event",
    "Explanation",
    "Finality",
    "Graph",
    "GraphJudgement",
    "Judgement",
    "Member",
    "MemberPart",
    "Result",
    "Standing",
    "State",
    "Stop",
    "Target",
    "Team",
    "ThreadJudgement",
    "Trace",
    "TraceJudge",
    "Verdict",
    "Violation",
    "Walked",
    "before",
    "bind_trace",
    "judge",
    "judge_events",
    "lines_of",
    "load_graph",
    "read_traces",
    "render",
    "stream_traces",
    "team_of",
    "tells",
]
