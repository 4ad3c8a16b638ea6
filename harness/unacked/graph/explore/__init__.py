"""All that a graph can do, looked at exhaustively: the ground on which lints, coverage and generated suites stand."""

from unacked.graph.explore.compare import Comparison, Difference, compare, differences, refusal
from unacked.graph.explore.ends import ways_to_end
from unacked.graph.explore.expect import Expected, constructed
from unacked.graph.explore.letters import Alphabet, Answer, Letter
from unacked.graph.explore.reaction import Kind, Local, Machine, Reaction
from unacked.graph.explore.script import Script, told
from unacked.graph.explore.space import Arrival, Situation, Space, Step, allowed
from unacked.graph.explore.survey import Example, Survey
from unacked.graph.explore.variant import Variant, variants

__all__ = [
    "Alphabet",
    "Answer",
    "Arrival",
    "Comparison",
    "Difference",
    "Example",
    "Expected",
    "Kind",
    "Letter",
    "Local",
    "Machine",
    "Reaction",
    "Script",
    "Situation",
    "Space",
    "Step",
    "Survey",
    "Variant",
    "allowed",
    "compare",
    "constructed",
    "differences",
    "refusal",
    "told",
    "variants",
    "ways_to_end",
]
