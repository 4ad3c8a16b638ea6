"""A picture as text for other people's tools: Mermaid and DOT."""

from __future__ import annotations

from collections.abc import Iterator

from unacked.graph.draw.picture import Label, Picture
from unacked.graph.model import Finality

__all__ = ["render_dot", "render_mermaid"]

_PLAIN = frozenset(" _.,/()@-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?!=[]")


def render_mermaid(picture: Picture) -> str:
    """Return a picture as a Mermaid state diagram; the walk and the refused step have classes of their own."""
    return "".join(f"{line}\n" for line in _mermaid(picture))


def _mermaid(picture: Picture) -> Iterator[str]:
    names = {box.name: f"s{number}" for number, box in enumerate(picture.states)}
    yield "---"
    yield f'title: "{_entities(picture.title)}"'
    yield "---"
    yield "stateDiagram-v2"
    for box in picture.states:
        yield f'    state "{_entities(box.name)}" as {names[box.name]}'
    yield f"    [*] --> {names[picture.start]}"
    for source, target, label in _edges(picture):
        yield f"    {names[source]} --> {names[target] if target else '[*]'}: {_entities(_numbered(label))}"
    if picture.refusal is not None:
        yield f'    state "{_entities(picture.refusal.rule)}" as refused'
        call = f"{picture.refusal.call} at #{picture.refusal.event}"
        yield f"    {names[picture.refusal.state]} --> refused: {_entities(call)}"
        yield "    classDef bad fill:#ffebe9,stroke:#cf222e,color:#a40e26"
        yield "    class refused bad"
    yield from _classes(picture, names)


def _classes(picture: Picture, names: dict[str, str]) -> Iterator[str]:
    resting = [names[box.name] for box in picture.states if box.end is not Finality.OPEN]
    visited = [names[box.name] for box in picture.states if box.visited]
    if resting:
        yield "    classDef rest stroke:#1a7f37,stroke-width:2px"
        yield f"    class {','.join(resting)} rest"
    if visited:
        yield "    classDef visited stroke:#0969da,stroke-width:3px"
        yield f"    class {','.join(visited)} visited"


def _entities(text: str) -> str:
    """Whatever Mermaid might take for its own is written as a character code."""
    return "".join(char if char in _PLAIN else f"#{ord(char)};" for char in text)


def render_dot(picture: Picture) -> str:
    """Return a picture in the DOT language of Graphviz."""
    return "".join(f"{line}\n" for line in _dot(picture))


def _dot(picture: Picture) -> Iterator[str]:
    yield f"digraph {_quoted(picture.title)} {{"
    yield "  rankdir=LR; node [shape=box, style=rounded, fontname=monospace]; edge [fontname=monospace];"
    names = {box.name: f"s{number}" for number, box in enumerate(picture.states)}
    for box in picture.states:
        rim = {Finality.OPEN: 1, Finality.OK: 2, Finality.FINAL: 3}[box.end]
        colour = ', color="#0969da", penwidth=2' if box.visited else ""
        yield f"  {names[box.name]} [label={_quoted(box.name)}, peripheries={rim}, tooltip={_quoted(box.why)}{colour}];"
    if any(box.stops for box in picture.states):
        yield '  end [shape=circle, label=""];'
    for source, target, label in _edges(picture):
        colour = ', color="#0969da", penwidth=2' if label.steps else ""
        there = names[target] if target else "end"
        yield f"  {names[source]} -> {there} [label={_quoted(_numbered(label))}{colour}];"
    if picture.refusal is not None:
        rule, call = picture.refusal.rule, f"{picture.refusal.call} at #{picture.refusal.event}"
        yield f'  refused [label={_quoted(rule)}, color="#cf222e", fontcolor="#a40e26"];'
        yield f'  {names[picture.refusal.state]} -> refused [label={_quoted(call)}, color="#cf222e"];'
    yield "}"


def _quoted(text: str) -> str:
    plain = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _edges(picture: Picture) -> Iterator[tuple[str, str | None, Label]]:
    """Every edge with its ends; None is the end of the trial."""
    for arrow in picture.arrows:
        for label in arrow.labels:
            yield arrow.source, arrow.target, label
    for box in picture.states:
        for label in box.stays:
            yield box.name, box.name, label
        for label in box.stops:
            yield box.name, None, label


def _numbered(label: Label) -> str:
    return f"{label.text} [{','.join(map(str, label.steps))}]" if label.steps else label.text
