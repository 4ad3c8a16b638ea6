"""Pictures of graphs: SVG laid out and written here, Mermaid and DOT as text for other tools."""

from unacked.graph.draw.layout import Layout, Rect
from unacked.graph.draw.picture import Picture, Refusal, Walk, picture, walk_of
from unacked.graph.draw.svg import SVG_STYLE, Sheet, render_svg, sheet
from unacked.graph.draw.text import render_dot, render_mermaid

__all__ = [
    "SVG_STYLE",
    "Layout",
    "Picture",
    "Rect",
    "Refusal",
    "Sheet",
    "Walk",
    "picture",
    "render_dot",
    "render_mermaid",
    "render_svg",
    "sheet",
    "walk_of",
]
