"""agentevals: trajectory match."""

from __future__ import annotations

from agentevals.trajectory.match import create_trajectory_match_evaluator
from trajectory_match import compare_all

compare_all(create_trajectory_match_evaluator)
