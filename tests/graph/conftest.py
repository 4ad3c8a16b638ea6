from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from unacked.contract import Argument, Broadcast, Effect, Operation, Registry
from unacked.document import parse_yaml, read_yaml
from unacked.graph import Call, End, EndReason, Event, Graph, Judgement, Result, judge_events, load_graph
from unacked.tools import REGISTRY

TESTS = Path(__file__).parents[1]
GRAPHS = (*sorted((TESTS.parent / "transitions").glob("*.yaml")), *sorted((TESTS / "data" / "graphs").glob("*.yaml")))


def _operation(name: str, spec: Mapping[str, Any], sets: Mapping[str, list[str]]) -> Operation:
    categories = spec["categories"]
    return Operation(
        name=name,
        effect=Effect(spec["effect"]),
        description=name,
        arguments=tuple(Argument(word) for word in spec.get("args", ())),
        result=tuple(Argument(word) for word in spec.get("result", ())),
        categories=frozenset(sets[categories] if isinstance(categories, str) else categories),
        tags=frozenset(spec.get("tags", ())),
        broadcast=Broadcast(spec["broadcast"]) if "broadcast" in spec else None,
        target=spec.get("target"),
        identity=spec.get("identity"),
        request=spec.get("request"),
        idempotency=spec.get("idempotency"),
    )


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The operations of the labelled traces, and what the tools have besides."""
    spec = read_yaml(TESTS / "data" / "registry.yaml").value
    written = [_operation(name, item, spec["sets"]) for name, item in spec["operations"].items()]
    return Registry([*written, *(REGISTRY[name] for name in REGISTRY if name not in spec["operations"])])


@pytest.fixture(scope="session")
def graphs(registry: Registry) -> dict[str, Graph]:
    loaded = [load_graph(read_yaml(path, name=path.name), registry) for path in GRAPHS]
    return {graph.name: graph for graph in loaded}


@pytest.fixture(scope="session")
def load(registry: Registry) -> Callable[[str], Graph]:
    """Load a graph from text; messages call the file g.yaml."""
    return lambda text: load_graph(parse_yaml(text, "g.yaml"), registry)


def events_of(moves: list[tuple[Any, ...]], end: str) -> list[Event]:
    """One turn a move: (operation, args, category, fields, at), the last three optional; None is no answer."""
    events: list[Event] = []
    for turn, (name, args, *rest) in enumerate(moves):
        category, fields, at = (*rest, None, None, None)[:3]
        events.append(Call(id=f"c{turn}", operation=name, args=args, turn=turn, at=float(turn) if at is None else at))
        if rest:
            events.append(Result(call=f"c{turn}", category=category, fields=fields or {}, at=events[-1].at))
    return [*events, End(reason=EndReason(end))]


@pytest.fixture(scope="session")
def story(graphs: dict[str, Graph], registry: Registry) -> Callable[..., Judgement]:
    """Judge moves (see events_of) against a graph given by name or as a value."""

    def judged(graph: str | Graph, *moves: tuple[Any, ...], end: str = "finished", **options: Any) -> Judgement:
        known = graphs[graph] if isinstance(graph, str) else graph
        roles = options.pop("roles", {})
        promise = dict.fromkeys(registry, options.pop("idempotent", True))
        return judge_events(events_of(list(moves), end), [known.bind(roles, registry, promise)], **options)

    return judged
