from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from unacked.contract import Registry
from unacked.document import parse_yaml
from unacked.errors import SpecificationError
from unacked.graph import BoundGraph, Call, End, EndReason, Event, Graph, Result, load_graph
from unacked.graph.draft import Draft, draft_text
from unacked.tools import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "transitions" / "create-outcome-unknown.yaml").read_text()
ASKED = "        when: [args.request_id == $rid]\n        then:\n          ok: {to: created,"
UNGUARDED = SOURCE.replace(ASKED, ASKED.split("\n", 1)[1], 1)


def bound(graph: Graph, registry: Registry) -> BoundGraph:
    return graph.bind({}, registry, dict.fromkeys(registry, True))


def walk(number: int, *, request: str | None = None) -> list[Event]:
    """Create with a lost answer, look up, note, finish; perhaps a lookup of another request."""
    key, wanted = f"K{number}", f"R{number}"
    steps = [
        ("create_record", {"title": f"T{number}", "idempotency_key": key, "request_id": wanted}, "outcome_unknown", {}),
        ("lookup_by_request_id", {"request_id": request or wanted}, "ok", {"record_id": f"rec-{number}"}),
        ("attach_note", {"record_id": f"rec-{number}", "text": "x"}, "ok", {}),
        ("finish", {"status": "success"}, "ok", {}),
    ]
    events: list[Event] = []
    for turn, (operation, args, category, fields) in enumerate(steps):
        events.append(Call(id=f"c{turn}", operation=operation, args=args, turn=turn))
        events.append(Result(call=f"c{turn}", category=category, fields=fields))
    return [*events, End(reason=EndReason.FINISHED)]


def drafted(graph: Graph, registry: Registry, *walks: list[Event]) -> Draft:
    draft = Draft(bound(graph, registry))
    for number, events in enumerate(walks):
        draft.add(f"run/trial-{number}", events, {}, None)
    return draft


def test_a_guard_that_was_taken_out_is_proposed_with_its_support(
    load: Callable[[str], Graph], registry: Registry
) -> None:
    draft = drafted(load(UNGUARDED), registry, *(walk(number) for number in range(4)))

    assert '          - "args.request_id == $rid" # proposed: held in 4 of 4 calls' in draft_text(
        draft, ["a"], support=3
    )


def test_a_guard_that_failed_once_is_not_proposed(load: Callable[[str], Graph], registry: Registry) -> None:
    walks = [*(walk(number) for number in range(4)), walk(9, request="R1")]

    assert "args.request_id == $rid" not in draft_text(drafted(load(UNGUARDED), registry, *walks), ["a"], support=3)


def test_too_few_calls_propose_nothing(load: Callable[[str], Graph], registry: Registry) -> None:
    assert "# proposed" not in draft_text(drafted(load(UNGUARDED), registry, walk(1), walk(2)), ["a"], support=3)


def test_a_guard_that_the_graph_has_is_not_proposed_again(graphs: dict[str, Graph], registry: Registry) -> None:
    text = draft_text(drafted(graphs["create-outcome-unknown"], registry, walk(1), walk(2), walk(3)), ["a"], support=3)

    assert text.count("args.request_id == $rid") == 1


def test_a_choice_that_was_always_the_same_is_proposed() -> None:
    graph = load_graph(parse_yaml(SOURCE, "create.yaml"), REGISTRY)

    text = draft_text(drafted(graph, REGISTRY, walk(1), walk(2), walk(3)), ["a"], support=3)

    assert "\"args.status == 'success'\" # proposed: held in 3 of 3 calls" in text


def test_a_call_that_the_graph_refuses_is_drafted_as_a_missing_edge(
    graphs: dict[str, Graph], registry: Registry
) -> None:
    rotated: list[Event] = [
        Call(id="c0", operation="rotate_credential", args={"name": "db"}),
        Result(call="c0", category="ok", fields={"version": 2}),
        Call(id="c1", operation="rotate_credential", args={"name": "db"}),
        Result(call="c1", category="ok", fields={"version": 3}),
        End(reason=EndReason.FINISHED),
    ]

    text = draft_text(drafted(graphs["rotate-unknown"], registry, rotated), ["a"], support=3)

    assert "      - id: draft-rotate_credential # missing: refused as surplus-rotate 1 time in 1 trial" in text
    assert '          "ok": rotated # 1' in text


def test_a_draft_is_yaml_that_no_loader_takes_for_a_graph(graphs: dict[str, Graph], registry: Registry) -> None:
    text = draft_text(drafted(graphs["create-outcome-unknown"], registry, walk(1)), ["a"], support=1)

    assert list(yaml.safe_load(text)) == ["draft", "version", "runs", "states"]
    with pytest.raises(SpecificationError, match="draft"):
        load_graph(parse_yaml(text, "draft.yaml"), registry)
