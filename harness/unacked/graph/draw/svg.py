"""A picture as SVG: readable in the light and in the dark, with nothing in it but shapes and escaped text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from unacked.graph.draw.layout import Layout, Link, Point, Rect, Size, arrange
from unacked.graph.draw.picture import Arrow, Label, Picture, StateBox
from unacked.graph.model import Finality

__all__ = ["SVG_STYLE", "Sheet", "render_svg", "sheet"]

_CHARACTER = 7.25
"""Width of one character of the monospaced text at 12 px, with a little to spare."""
_LINE = 16.0
_PADDING = 8.0
_WIDEST = 34
"""Characters on a line of a box."""
_WIDEST_LABEL = 28
_MOST_CHARACTERS = 120
_LEGEND = (
    "\u21bb stays here",
    "\u25a0 may finish",
    "ok? under a condition",
    "green: the task may end",
    "grey: closed",
)
_REFUSED = "\0refused"
"""Name of the box of the refused step; no state can be called so."""

SVG_STYLE = """
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}
.page{fill:#ffffff}.title{font-weight:bold;font-size:14px}.quiet{fill:#59636e}.name{font-weight:bold}
.state{fill:#f6f8fa;stroke:#59636e;stroke-width:1.2}.ok{fill:#e9f7ee;stroke:#1a7f37;stroke-width:2}
.final{fill:#e4e8ec;stroke:#1f2328;stroke-width:2.4}.visited{stroke:#0969da;stroke-width:3}
.label{fill:#ffffff;stroke:#d1d9e0;stroke-width:.8}.arrow{fill:none;stroke:#818b98;stroke-width:1.2}
.head{fill:#818b98}.walk{fill:none;stroke:#0969da;stroke-width:2.6}.walkhead{fill:#0969da}
.walkedlabel{fill:#ddf4ff;stroke:#0969da;stroke-width:1.2}.step{fill:#0550ae;font-weight:bold}
.refusal{fill:#ffebe9;stroke:#cf222e;stroke-width:2}.refused{fill:none;stroke:#cf222e;stroke-width:2.6}
.refusedhead{fill:#cf222e}.bad{fill:#a40e26;font-weight:bold}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.quiet{fill:#9198a1}
.state{fill:#151b23;stroke:#9198a1}.ok{fill:#12261e;stroke:#3fb950}.final{fill:#262c36;stroke:#e6edf3}
.visited{stroke:#58a6ff}.label{fill:#0d1117;stroke:#3d444d}.arrow{stroke:#656c76}.head{fill:#656c76}
.walk{stroke:#58a6ff}.walkhead{fill:#58a6ff}.walkedlabel{fill:#121d2f;stroke:#58a6ff}.step{fill:#79c0ff}
.refusal{fill:#25171c;stroke:#f85149}.refused{stroke:#f85149}.refusedhead{fill:#f85149}.bad{fill:#ff7b72}}
"""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A picture with everything in its place; for whoever wants to measure it."""

    picture: Picture
    layout: Layout
    head: Sequence[_Line]

    def boxes(self) -> list[Rect]:
        """Return every box with text in it: states, the refusal, and labels."""
        return [*self.layout.nodes.values(), *self.layout.labels]


def sheet(picture: Picture) -> Sheet:
    """Return a picture with everything in its place."""
    nodes = {box.name: _size(_state_lines(box)) for box in picture.states}
    links = [Link(arrow.source, arrow.target, _size(_arrow_lines(arrow))) for arrow in picture.arrows]
    if picture.refusal is not None:
        nodes[_REFUSED] = _size(_refusal_lines(picture))
        links.append(Link(picture.refusal.state, _REFUSED, _size(_refused_label(picture))))
    return Sheet(picture, arrange(nodes, links, picture.start), tuple(_head_lines(picture)))


def render_svg(picture: Picture, *, styled: bool = True) -> str:
    """Return a picture as the text of an SVG file; without its style for a page that holds ``SVG_STYLE`` once."""
    style = f"<style>{SVG_STYLE}</style>" if styled else ""
    drawn = sheet(picture)
    top = _LINE * (len(drawn.head) + 1)
    layout = drawn.layout
    width = max(layout.width, *(len(line.text) * _CHARACTER * 1.2 + 48 for line in drawn.head))
    height = layout.height + top
    size = f'width="{width:.0f}" height="{height:.0f}"'
    role = f' role="img" aria-label={quoteattr(_clean(picture.title))}'
    body = [*_arrows(drawn), *_labels(drawn), *_boxes(drawn)]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.0f} {height:.0f}"{role}>',
            style,
            f'<rect class="page" {size}/>',
            *_text(drawn.head, 24, _LINE / 2),
            f'<g transform="translate(0 {top:.0f})">',
            *body,
            "</g></svg>\n",
        )
    )


# -- what stands in the boxes ----------------------------------------------------------------------------------


def _head_lines(picture: Picture) -> Iterator[_Line]:
    yield _Line(_clean(picture.title), "title")
    if picture.walked:
        yield _Line(_clean(picture.walked), "step")
    legend = (
        "\u21bb stays here",
        "\u25a0 may finish",
        "ok? under a condition",
        "green: the task may end",
        "grey: closed",
    )
    yield _Line("   ".join(legend), "quiet")
    for text in picture.everywhere:
        yield _Line(f"in every state {_clean(text)}", "quiet")


def _state_lines(box: StateBox) -> list[_Line]:
    lines = [_Line(text, "name") for text in _wrapped(_clean(box.name), _WIDEST)]
    for label in box.stays:
        lines += _label_lines(label, "\u21bb ", _WIDEST)
    for label in box.stops:
        text = f"\u25a0 {label.when or 'any claim'}{_numbers(label)}"
        lines += [_Line(part, "step" if label.steps else "quiet") for part in _wrapped(_clean(text), _WIDEST)]
    return lines


def _arrow_lines(arrow: Arrow) -> list[_Line]:
    return [line for label in arrow.labels for line in _label_lines(label, "", _WIDEST_LABEL)]


def _label_lines(label: Label, mark: str, widest: int) -> list[_Line]:
    kind = "step" if label.steps else ""
    return [_Line(part, kind) for part in _wrapped(_clean(f"{mark}{label.text}{_numbers(label)}"), widest)]


def _numbers(label: Label) -> str:
    return f" [{','.join(map(str, label.steps))}]" if label.steps else ""


def _refusal_lines(picture: Picture) -> list[_Line]:
    refusal = picture.refusal
    assert refusal is not None  # noqa: S101 - only a picture with a refusal has the box
    return [_Line(part, "bad") for part in _wrapped(_clean(f"\u2717 {refusal.rule}"), _WIDEST)]


def _refused_label(picture: Picture) -> list[_Line]:
    refusal = picture.refusal
    assert refusal is not None  # noqa: S101 - only a picture with a refusal has the label
    return [_Line(part, "bad") for part in _wrapped(_clean(f"{refusal.call} at #{refusal.event}"), _WIDEST_LABEL)]


def _wrapped(text: str, widest: int) -> list[str]:
    short = text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}\u2026"
    return textwrap.wrap(short, widest, subsequent_indent="  ") or [""]


def _clean(text: str) -> str:
    """Names come from files and models: nothing that is not a letter on paper gets into the picture."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _size(lines: Sequence[_Line]) -> Size:
    longest = max(len(line.text) for line in lines)
    return Size(longest * _CHARACTER + 2 * _PADDING, len(lines) * _LINE + _PADDING)


# -- shapes ----------------------------------------------------------------------------------------------------


def _text(lines: Iterable[_Line], x: float, y: float) -> Iterator[str]:
    for number, line in enumerate(lines):
        kind = f' class="{line.kind}"' if line.kind else ""
        baseline = y + (number + 1) * _LINE - 4
        yield f'<text x="{x:.1f}" y="{baseline:.1f}" xml:space="preserve"{kind}>{escape(line.text)}</text>'


def _box(rect: Rect, kind: str, radius: float) -> str:
    return (
        f'<rect class="{kind}" x="{rect.x:.1f}" y="{rect.y:.1f}" width="{rect.width:.1f}"'
        f' height="{rect.height:.1f}" rx="{radius:g}"/>'
    )


def _boxes(drawn: Sheet) -> Iterator[str]:
    kinds = {Finality.OPEN: "state", Finality.OK: "state ok", Finality.FINAL: "state final"}
    for box in drawn.picture.states:
        rect = drawn.layout.nodes[box.name]
        yield f"<g><title>{escape(_clean(_hover(box)))}</title>"
        yield _box(rect, kinds[box.end] + (" visited" if box.visited else ""), 8)
        if box.name == drawn.picture.start:
            yield f'<circle class="head" cx="{rect.x - 10:.1f}" cy="{rect.y + rect.height / 2:.1f}" r="5"/>'
        yield from _text(_state_lines(box), rect.x + _PADDING, rect.y + _PADDING / 2)
        yield "</g>"
    if drawn.picture.refusal is not None:
        rect = drawn.layout.nodes[_REFUSED]
        yield _box(rect, "refusal", 8)
        yield from _text(_refusal_lines(drawn.picture), rect.x + _PADDING, rect.y + _PADDING / 2)


def _hover(box: StateBox) -> str:
    forbids = f" Forbidden by name: {', '.join(box.forbids)}." if box.forbids else ""
    return f"{box.name} (end: {box.end}). {box.why}{forbids}"


def _labels(drawn: Sheet) -> Iterator[str]:
    for arrow, rect in zip(drawn.picture.arrows, drawn.layout.labels, strict=False):
        when = "; ".join(f"{label.call} when {label.when}" for label in arrow.labels if label.when)
        yield f"<g><title>{escape(_clean(when or 'without a condition'))}</title>"
        yield _box(rect, "walkedlabel" if arrow.walked else "label", 3)
        yield from _text(_arrow_lines(arrow), rect.x + _PADDING, rect.y + _PADDING / 2)
        yield "</g>"
    if drawn.picture.refusal is not None:
        rect = drawn.layout.labels[-1]
        yield _box(rect, "refusal", 3)
        yield from _text(_refused_label(drawn.picture), rect.x + _PADDING, rect.y + _PADDING / 2)


def _arrows(drawn: Sheet) -> Iterator[str]:
    kinds = ["walk" if arrow.walked else "arrow" for arrow in drawn.picture.arrows]
    if drawn.picture.refusal is not None:
        kinds.append("refused")
    order = sorted(range(len(kinds)), key=lambda number: kinds[number] != "arrow")
    for number in order:
        points = drawn.layout.routes[number]
        yield f'<path class="{kinds[number]}" d="{_curve(points)}"/>'
        yield _head(points, {"arrow": "head", "walk": "walkhead", "refused": "refusedhead"}[kinds[number]])


def _curve(points: Sequence[Point]) -> str:
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1 or y0 == y1:
            parts.append(f"L{x1:.1f} {y1:.1f}")
        else:
            middle = (x0 + x1) / 2
            parts.append(f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")
    return "".join(parts)


def _head(points: Sequence[Point], kind: str) -> str:
    (before, _), (x, y) = points[-2], points[-1]
    back = 8 if before < x else -8
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}L{x - back:.1f} {y - 4:.1f}L{x - back:.1f} {y + 4:.1f}Z"/>'
