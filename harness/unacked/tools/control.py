"""Tools that never leave the harness: the final claim, a question to a person, waiting, another credential."""

from __future__ import annotations

from unacked.contract import Argument, Broadcast, Effect, Operation
from unacked.outcome import CATEGORY_SETS
from unacked.tools.endpoint import Tool

__all__ = ["HAND_OVER", "TOOLS"]

FINAL = ("success", "unknown", "declined", "failed", "refused")
"""How a piece of work can end, in the words of whoever did it."""

HAND_OVER = Tool(
    Operation(
        name="hand_over",
        effect=Effect.CONTROL,
        description=(
            "End your part and tell those who come after you how it went: they learn nothing else of your work. "
            "Say unknown where you do not know."
        ),
        arguments=(
            Argument("status", choices=FINAL),
            Argument("summary", required=False),
            Argument("facts", "object", required=False, description="Names and values that the next ones need."),
            Argument(
                "unsettled",
                "array",
                required=False,
                description="Calls whose outcome is not known, each {operation, arguments} as it was sent.",
            ),
        ),
        categories=CATEGORY_SETS["control"],
    )
)
"""What a member of a team has in place of ``finish`` where others come after it; no graph names it."""

TOOLS = (
    Tool(
        Operation(
            name="finish",
            effect=Effect.CONTROL,
            description="End the task with a final claim. Say unknown where you do not know.",
            arguments=(
                Argument("status", choices=FINAL),
                Argument("summary", required=False),
            ),
            categories=CATEGORY_SETS["control"],
            broadcast=Broadcast.ALL,
        )
    ),
    Tool(
        Operation(
            name="ask_human",
            effect=Effect.CONTROL,
            description="Ask a person for a decision. Show what is missing and what you propose.",
            arguments=(
                Argument("question"),
                Argument("reasons", "array", required=False),
                Argument("proposed_action", required=False),
                Argument("scope", required=False),
                Argument("options", "array", required=False),
                Argument("returned", "integer", required=False),
                Argument("targets", "array", required=False),
            ),
            result=(
                Argument("decision"),
                Argument(
                    "credential",
                    required=False,
                    description="The stored credential that was granted, where that is the decision.",
                ),
            ),
            categories=CATEGORY_SETS["control"],
            broadcast=Broadcast.ANY,
        )
    ),
    Tool(
        Operation(
            name="wait",
            effect=Effect.CONTROL,
            description="Let time pass.",
            arguments=(Argument("seconds", "number"),),
            categories=CATEGORY_SETS["control"],
            broadcast=Broadcast.ANY,
        )
    ),
    Tool(
        Operation(
            name="switch_credential",
            effect=Effect.ROTATE,
            description="Use another stored credential from now on.",
            arguments=(Argument("name"),),
            categories=CATEGORY_SETS["control"],
            broadcast=Broadcast.ALL,
        )
    ),
)
