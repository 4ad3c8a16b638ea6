"""Lints of graphs: each with an id, a place, a remedy, and where it can be had the shortest example."""

from unacked.graph.lint.check import lint_case, lint_graph
from unacked.graph.lint.finding import Finding
from unacked.graph.lint.table import LINTS, Level, Lint

__all__ = ["LINTS", "Finding", "Level", "Lint", "lint_case", "lint_graph"]
