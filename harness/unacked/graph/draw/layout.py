"""Where boxes and labels go: layers from left to right, labels in columns of their own, nothing on top of anything.

Layers are distances from the start (networkx), so an arrow leads at most one layer on. Between two layers of states
stands a column of labels; arrows that lead far back pass through the columns between in lanes of their own. Within
a column boxes are ordered by the mean of their neighbours, and then put as near to them as the order allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import networkx as nx

__all__ = ["Layout", "Link", "Point", "Rect", "Size", "arrange"]

_SWEEPS = 16
_LANE = 14.0
_GAP = 14.0
_NARROWEST, _PER_LINE = 36.0, 2.5
"""Distance of two columns: more where many arrows go."""
_MARGIN = 24.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Rect:
    """A box with its top left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower side."""
        return self.y + self.height

    def overlaps(self, other: Rect) -> bool:
        """Return whether two boxes share any area."""
        apart = self.right <= other.x or other.right <= self.x or self.bottom <= other.y or other.bottom <= self.y
        return not apart


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow between two nodes, with the size of its label."""

    source: str
    target: str
    label: Size


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes of nodes by name; of labels and the ways of arrows in the order of the links."""

    nodes: Mapping[str, Rect]
    labels: Sequence[Rect]
    routes: Sequence[Sequence[Point]]
    width: float
    height: float


@dataclass(slots=True, eq=False)
class _Item:
    """Whatever takes a place in a column: a node, a label, or a lane that an arrow passes through."""

    column: int
    size: Size
    key: int
    around: list[_Item] = field(default_factory=list)
    y: float = 0.0
    """Of its middle."""

    @property
    def padding(self) -> float:
        return _GAP if self.size.width else 0.0


def arrange(nodes: Mapping[str, Size], links: Sequence[Link], start: str) -> Layout:
    """Return where to put nodes and labels; ``start`` stands leftmost."""
    placer = _Placer(nodes, links, start)
    placer.order()
    placer.settle()
    return placer.layout()


class _Placer:
    def __init__(self, nodes: Mapping[str, Size], links: Sequence[Link], start: str) -> None:
        self._links = links
        layers = _layers(nodes, links, start)
        self._items = {name: _Item(2 * layers[name], size, index) for index, (name, size) in enumerate(nodes.items())}
        self._chains = [self._chain(link, len(nodes) + number) for number, link in enumerate(links)]
        every = [*self._items.values(), *(item for chain in self._chains for item in chain[1:-1])]
        self._columns: list[list[_Item]] = [[] for _ in range(max(item.column for item in every) + 1)]
        for item in every:
            self._columns[item.column].append(item)

    def _chain(self, link: Link, key: int) -> list[_Item]:
        """The items along an arrow: its source, the label beside it, lanes through further columns, its target."""
        source, target = self._items[link.source], self._items[link.target]
        forward = target.column >= source.column
        label = _Item(source.column + (1 if forward else -1), link.label, key)
        columns = range(label.column - 1, target.column, -1) if not forward else ()
        chain = [source, label, *(_Item(column, Size(0, _LANE), key) for column in columns), target]
        for one, two in pairwise(chain):
            one.around.append(two)
            two.around.append(one)
        return chain

    def order(self) -> None:
        """Order the items of every column so that few arrows cross."""
        for column in self._columns:
            column.sort(key=lambda item: item.key)
        best, fewest = [list(column) for column in self._columns], self._crossings()
        for sweep in range(_SWEEPS):
            columns = self._columns if sweep % 2 == 0 else list(reversed(self._columns))
            for column in columns:
                ranks = {item: index for other in self._columns for index, item in enumerate(other)}
                scale = {item: len(self._columns[item.column]) for item in ranks}
                means = {
                    item: sum((ranks[near] + 0.5) / scale[near] for near in item.around) / len(item.around)
                    if item.around
                    else ranks[item] / scale[item]
                    for item in column
                }
                column.sort(key=means.__getitem__)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(column) for column in self._columns], crossings
        self._columns = best

    def _crossings(self) -> int:
        count = 0
        for left, right in pairwise(self._columns):
            ranks = {item: index for index, item in enumerate(right)}
            lines = [(index, ranks[near]) for index, item in enumerate(left) for near in item.around if near in ranks]
            count += sum(
                (one[0] - two[0]) * (one[1] - two[1]) < 0 for number, one in enumerate(lines) for two in lines[:number]
            )
        return count

    def settle(self) -> None:
        """Give every item a height near the mean of its neighbours, in the order of its column."""
        for column in self._columns:
            y = 0.0
            for item in column:
                y += item.padding + item.size.height / 2
                item.y = y
                y += item.size.height / 2
        for sweep in range(2 * _SWEEPS):
            for column in self._columns if sweep % 2 == 0 else reversed(self._columns):
                wanted = [
                    sum(near.y for near in item.around) / len(item.around) if item.around else item.y for item in column
                ]
                for item, y in zip(column, _apart(wanted, column), strict=True):
                    item.y = y

    def _lines(self) -> list[int]:
        """Count the lines that leave each column to its right."""
        counts = [0] * len(self._columns)
        for chain in self._chains:
            for one, two in pairwise(chain):
                counts[min(one.column, two.column)] += 1
        return counts

    def layout(self) -> Layout:
        """Return everything in its place."""
        every = [item for column in self._columns for item in column]
        top = min(item.y - item.size.height / 2 for item in every) - _MARGIN
        for item in every:
            item.y -= top
        gaps = [_NARROWEST + _PER_LINE * lines for lines in self._lines()]
        lefts, widths, x = [], [], _MARGIN
        for column, gap in zip(self._columns, gaps, strict=True):
            lefts.append(x)
            widths.append(max((item.size.width for item in column), default=0.0))
            x += widths[-1] + gap
        nodes = set(self._items.values())
        rects = {}
        for item in every:
            # Nodes are as wide as their column: what leads to one of them never crosses another.
            width = widths[item.column] if item in nodes else item.size.width
            left = lefts[item.column] + (widths[item.column] - width) / 2
            rects[item] = Rect(left, item.y - item.size.height / 2, width, item.size.height)
        ports = _ports(self._chains, rects)
        routes = [_route(chain, rects, ports, lefts, widths, number) for number, chain in enumerate(self._chains)]
        return Layout(
            {name: rects[item] for name, item in self._items.items()},
            [rects[chain[1]] for chain in self._chains],
            routes,
            x - gaps[-1] + _MARGIN,
            max(rect.bottom for rect in rects.values()) + _MARGIN,
        )


def _layers(nodes: Iterable[str], links: Iterable[Link], start: str) -> dict[str, int]:
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(nodes)
    network.add_edges_from((link.source, link.target) for link in links)
    layers: dict[str, int] = dict(nx.single_source_shortest_path_length(network, start))
    deepest = max(layers.values())
    return {name: layers.get(name, deepest + 1) for name in network}


def _apart(wanted: Sequence[float], column: Sequence[_Item]) -> list[float]:
    """The nearest heights to those wanted that keep the order and the distances: pool adjacent violators."""
    offsets, offset = [], 0.0
    for index, item in enumerate(column):
        if index:
            before = column[index - 1]
            offset += (before.size.height + item.size.height) / 2 + max(before.padding, item.padding)
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []
    for value, shift in zip(wanted, offsets, strict=True):
        blocks.append((value - shift, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, many), (two, more) = blocks[-2:]
            blocks[-2:] = [((one * many + two * more) / (many + more), many + more)]
    levels = [level for level, many in blocks for _ in range(many)]
    return [level + shift for level, shift in zip(levels, offsets, strict=True)]


_Ports = Mapping[tuple[int, int], float]
"""By (number of the chain, 0 at its source or 1 at its target): the height at which it touches the node."""


def _ports(chains: Sequence[Sequence[_Item]], rects: Mapping[_Item, Rect]) -> _Ports:
    """Spread the ends of arrows over the side of the node that they touch, in the order of where they come from."""
    sides: dict[tuple[_Item, bool], list[tuple[float, tuple[int, int]]]] = {}
    for number, chain in enumerate(chains):
        for end, (node, near) in enumerate(((chain[0], chain[1]), (chain[-1], chain[-2]))):
            sides.setdefault((node, near.column > node.column), []).append((near.y, (number, end)))
    ports = {}
    for (node, _), ends in sides.items():
        rect = rects[node]
        for index, (_, key) in enumerate(sorted(ends)):
            ports[key] = rect.y + rect.height * (index + 1) / (len(ends) + 1)
    return ports


def _route(
    chain: Sequence[_Item],
    rects: Mapping[_Item, Rect],
    ports: _Ports,
    lefts: Sequence[float],
    widths: Sequence[float],
    number: int,
) -> list[Point]:
    """The corners of an arrow: it is level, or upright, within columns and curved between them."""
    points: list[Point] = []
    for position, item in enumerate(chain):
        rect = rects[item]
        if position in (0, len(chain) - 1):
            near = chain[1] if position == 0 else chain[-2]
            x = rect.right if near.column > item.column else rect.x
            points.append((x, ports[number, min(position, 1)]))
            continue
        left, right = lefts[item.column], lefts[item.column] + widths[item.column]
        come = left if chain[position - 1].column < item.column else right
        go = left if chain[position + 1].column < item.column else right
        if come == go:
            # The arrow turns round behind its label: it comes in on the side that its source is on.
            apart = item.size.height / 5 * (1 if chain[0].y > chain[-1].y else -1)
            turn = rect.x + 4 if come == left else rect.right - 4
            points += [(come, item.y + apart), (turn, item.y + apart), (turn, item.y - apart), (go, item.y - apart)]
        else:
            points += [(come, item.y), (go, item.y)]
    return points
