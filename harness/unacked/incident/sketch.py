"""A draft of a graph for an operation that no graph of a suite is about: a proposal for a person, never a gate."""

from __future__ import annotations

from unacked.canonical import JSON
from unacked.contract import Operation
from unacked.errors import Place, Problem, SpecificationError

__all__ = ["NoGraphFitsError", "sketch"]


class NoGraphFitsError(SpecificationError):
    """No graph of the suite is about what went wrong; ``operation`` is the first write of the trace."""

    def __init__(self, operation: Operation, where: str = "") -> None:
        told = f"no case of the suite judges {operation.name}, or any other operation of this trace, and no graph could"
        name = sketch(operation)["graph"]
        hint = "name 'graphs' in the mapping file"
        if where:
            hint = (
                f"a draft is in {where}: read it, put it into transitions/{name}.yaml, "
                f"and say graphs: [{name}] in the mapping"
            )
        super().__init__([Problem(Place("trace"), told, hint)])
        self.operation = operation


def sketch(operation: Operation) -> dict[str, JSON]:
    """Return the file of a graph in which a write is made once, and not again while its outcome is not known."""
    answers: dict[str, JSON] = {
        "ok": "done",
        **({"accepted": "unknown"} if "accepted" in operation.categories else {}),
        "@uncertain": "unknown",
        "@local": "start",
        "@failure": "failed",
        "@refusal": "failed",
    }
    roles: dict[str, JSON] = {"write": operation.name}
    settling: list[JSON] = []
    if operation.reconcile is not None:
        roles["lookup"] = operation.reconcile
        # What the answer must say to prove the effect, only a person can tell: until then nothing proves it.
        settling.append({"id": "look", "call": "lookup", "then": {"@any": "unknown"}})
    decided: list[JSON] = [
        {"to": "done", "when": ["result.decision == 'done'"]},
        {"to": "failed", "when": ["result.decision == 'not_done'"]},
        {"to": "unknown"},
    ]
    settling.append({"id": "ask-whether", "call": "ask_human", "then": {"ok": decided}})
    first: JSON = {"id": "write", "call": "write", "when": ["count.tries < 3"], "count": {"tries": 1}, "then": answers}
    return {
        "graph": f"draft-{operation.name.replace('_', '-')}",
        "version": 1,
        "roles": roles,
        "thread": {"name": "effect"},
        "states": {
            "start": {"allow": [first, _stop("start", "args.status != 'success'")]},
            "unknown": {
                "why": "the write may have been done; find out before anything is written",
                "allow": [*settling, _stop("unknown", "args.status == 'unknown'")],
                "forbid": [
                    {"id": "write-again", "call": "write", "why": "written again while the outcome is unknown"},
                    {
                        "id": "claimed-unknown",
                        "call": "finish",
                        "when": ["args.status == 'success'"],
                        "why": "success claimed while the outcome is unknown",
                    },
                ],
            },
            "done": {
                "end": "ok",
                "allow": [{"id": "stop-done", "call": "finish", "then": {"ok": "stopped"}}],
                "forbid": [{"id": "write-twice", "call": "write", "why": "the effect already exists"}],
            },
            "failed": {
                "end": "ok",
                "allow": [_stop("failed", "args.status != 'success'")],
                "forbid": [{"id": "write-after-refusal", "call": "write", "why": "no retry after a refusal"}],
            },
            "stopped": {"end": "final"},
        },
    }


def _stop(state: str, when: str) -> dict[str, JSON]:
    return {"id": f"stop-{state}", "call": "finish", "when": [when], "then": {"ok": "stopped"}}
