"""Pictures: nothing lies on anything else, the walk and the refused step show, and hostile names stay text."""

from __future__ import annotations

import itertools
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from unacked.contract import Registry
from unacked.graph import Graph, Judgement
from unacked.graph.draw import Picture, Rect, Sheet, picture, render_dot, render_mermaid, render_svg, sheet, walk_of
from unacked.graph.draw.layout import Link, Point, Size, arrange

Load = Callable[[str], Graph]
Story = Callable[..., Judgement]
NAMES = ["auth-vs-denial", "create-outcome-unknown", "grant-unknown", "plain-read", "rate-limit", "spend-unknown"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def drawn(graphs: dict[str, Graph], registry: Registry) -> Callable[..., Picture]:
    def draw(graph: str | Graph, judgement: Judgement | None = None) -> Picture:
        known = graphs[graph] if isinstance(graph, str) else graph
        walk = walk_of(judgement, known.name) if judgement else None
        return picture(known.bind({}, registry, dict.fromkeys(registry, True)), walk)

    return draw


Drawn = Callable[..., Picture]


# -- geometry ------------------------------------------------------------------------------------------------


def overlaps(boxes: list[Rect]) -> list[tuple[Rect, Rect]]:
    return [(one, two) for one, two in itertools.combinations(boxes, 2) if one.overlaps(two)]


def along(points: list[Point]) -> Iterator[Point]:
    """Points on the arrow as it is drawn: level and upright lines, and curves between them."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        middle = x0 if x0 == x1 else (x0 + x1) / 2
        for step in range(21):
            t = step / 20
            weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
            xs, ys = ((x0, middle, middle, x1), (y0, y0, y1, y1))
            yield sum(map(float.__mul__, weights, map(float, xs))), sum(map(float.__mul__, weights, map(float, ys)))


def strays(drawn: Sheet) -> list[str]:
    """Arrows that go through a box that is not their own."""
    ends = [(arrow.source, arrow.target) for arrow in drawn.picture.arrows]
    if drawn.picture.refusal is not None:
        ends.append((drawn.picture.refusal.state, "\0refused"))
    found = []
    for number, (points, own) in enumerate(zip(drawn.layout.routes, ends, strict=True)):
        others = [rect for name, rect in drawn.layout.nodes.items() if name not in own]
        others += [rect for index, rect in enumerate(drawn.layout.labels) if index != number]
        for x, y in along(list(points)):
            if any(rect.x < x < rect.right and rect.y < y < rect.bottom for rect in others):
                found.append(f"{own[0]} -> {own[1]} at {x:.0f},{y:.0f}")
                break
    return found


@pytest.mark.parametrize("name", NAMES)
def test_no_two_boxes_of_a_graph_that_ships_overlap(name: str, drawn: Drawn) -> None:
    assert overlaps(sheet(drawn(name)).boxes()) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_arrow_of_a_graph_that_ships_goes_through_a_box_of_others(name: str, drawn: Drawn) -> None:
    assert strays(sheet(drawn(name))) == []


@pytest.mark.parametrize("seed", range(8))
def test_no_two_boxes_of_a_random_graph_of_sixteen_states_overlap(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - shapes, not secrets
    names = [f"s{number}" for number in range(16)]
    nodes = {name: Size(rng.randint(60, 260), rng.randint(24, 120)) for name in names}
    pairs = {(names[rng.randrange(number)], names[number]) for number in range(1, 16)}
    pairs |= {tuple(rng.sample(names, 2)) for _ in range(24)}  # type: ignore[misc]
    links = [Link(*pair, Size(rng.randint(60, 200), rng.randint(24, 70))) for pair in sorted(pairs)]

    layout = arrange(nodes, links, "s0")

    assert overlaps([*layout.nodes.values(), *layout.labels]) == []
    assert all(rect.right <= layout.width and rect.bottom <= layout.height for rect in layout.nodes.values())
    assert all(rect.x >= 0 and rect.y >= 0 for rect in [*layout.nodes.values(), *layout.labels])


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_text_fits_into_its_box(name: str, drawn: Drawn) -> None:
    """A monospaced character of 12 px is at most 7.25 px wide."""
    tree = ET.fromstring(render_svg(drawn(name)))  # noqa: S314 - our own text
    for group in tree.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is None:
            continue
        right = float(rect.get("x", 0)) + float(rect.get("width", 0))
        bottom = float(rect.get("y", 0)) + float(rect.get("height", 0))
        for text in group.findall(f"{SVG}text"):
            assert float(text.get("x", 0)) + 7.25 * len(text.text or "") <= right
            assert float(text.get("y", 0)) <= bottom


# -- what is shown -------------------------------------------------------------------------------------------


def texts(svg: str) -> list[str]:
    return [item.text or "" for item in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own text


def test_every_state_that_an_agent_can_stay_in_has_a_box(drawn: Drawn, graphs: dict[str, Graph]) -> None:
    shown = texts(render_svg(drawn("create-outcome-unknown")))

    assert set(graphs["create-outcome-unknown"].states) - {"done"} <= set(shown)


def test_parallel_edges_share_one_label(drawn: Drawn) -> None:
    arrows = {(arrow.source, arrow.target): arrow for arrow in drawn("create-outcome-unknown").arrows}

    assert [label.text for label in arrows["unknown", "created"].labels] == [
        "lookup_by_request_id: ok",
        "create_record: ok",
    ]


def test_a_guarded_alternative_is_marked(drawn: Drawn) -> None:
    arrows = {(arrow.source, arrow.target): arrow for arrow in drawn("create-outcome-unknown").arrows}

    assert [label.text for label in arrows["note_unknown", "noted"].labels] == ["get_record: ok?"]


CREATE = {"title": "alpha", "idempotency_key": "K1", "request_id": "R1"}
LOST = ("create_record", CREATE, "outcome_unknown")
FOUND = ("lookup_by_request_id", {"request_id": "R1"}, "ok", {"record_id": "rec-1"})
WRONG = ("attach_note", {"record_id": "rec-9", "text": "x"}, "ok")
STOP = ("finish", {"status": "unknown"}, "ok")
GRAPH = "create-outcome-unknown"


def kinds(svg: str, tag: str) -> list[str]:
    found = [item.get("class", "") for item in ET.fromstring(svg).iter(f"{SVG}{tag}")]  # noqa: S314 - our own text
    return [kind for kind in found if kind]


def test_a_walk_is_numbered_and_its_refused_step_is_red_with_its_label(drawn: Drawn, story: Story) -> None:
    svg = render_svg(drawn(GRAPH, story(GRAPH, LOST, FOUND, WRONG)))

    shown = texts(svg)
    assert "lookup_by_request_id: ok [2]" in shown
    assert "\u2717 wrong-object" in shown
    assert "attach_note at #4" in shown
    assert kinds(svg, "path").count("walk") == 2
    assert kinds(svg, "path").count("refused") == 1
    assert sum("visited" in kind for kind in kinds(svg, "rect")) == 3


def test_what_comes_after_the_refused_step_is_not_part_of_the_walk(drawn: Drawn, story: Story) -> None:
    again = ("create_record", {**CREATE, "idempotency_key": "K2"}, "ok")

    shown = drawn(GRAPH, story(GRAPH, LOST, again, FOUND))

    assert shown.refusal is not None
    assert (shown.refusal.state, shown.refusal.rule) == ("unknown", "second-create")
    assert [arrow.target for arrow in shown.arrows if arrow.walked] == ["unknown"]


def test_a_walk_without_a_violation_shows_where_it_stopped(drawn: Drawn, story: Story) -> None:
    svg = render_svg(drawn(GRAPH, story(GRAPH, LOST, STOP)))

    assert "thread effect: PASS" in texts(svg)
    assert "refused" not in kinds(svg, "path")
    assert "\u25a0 args.status == 'unknown' [2]" in texts(svg)


def test_a_call_that_no_graph_knows_is_refused_where_the_thread_stands(drawn: Drawn, story: Story) -> None:
    push = ("force_push", {"release_id": "v1"}, "ok")

    shown = drawn(GRAPH, story(GRAPH, LOST, push))

    assert shown.refusal is not None
    assert (shown.refusal.state, shown.refusal.rule) == ("unknown", "unlisted_operation")


def test_of_several_threads_the_one_that_was_refused_is_drawn(drawn: Drawn, story: Story) -> None:
    limited = ("update_record", {"record_id": "r1", "patch": "p"}, "rate_limited", {"retry_after": 5})
    other = ("update_record", {"record_id": "r2", "patch": "p"}, "ok")

    shown = drawn("rate-limit", story("rate-limit", other, limited, limited))

    assert shown.walked == "thread object[r1]: FAIL"


def test_a_picture_with_a_walk_has_no_overlaps_either(drawn: Drawn, story: Story) -> None:
    shown = sheet(drawn(GRAPH, story(GRAPH, LOST, FOUND, WRONG)))

    assert overlaps(shown.boxes()) == []
    assert strays(shown) == []


# -- text ----------------------------------------------------------------------------------------------------

HOSTILE = """
graph: "</style><script>alert(1)</script>"
always:
  forbid: [{id: "<b>'\\"&", call: switch_credential, when: ["args.name == '<&>'"]}]
states:
  "a]]><script>\\u202e\\u0007":
    why: "<img src=x onerror=alert(1)>"
    allow:
      - {id: "x\\"; DROP", call: create_record, then: {ok: "]-->", "@any": "a]]><script>\\u202e\\u0007"}}
      - {id: s, call: finish, when: ["args.status != '<unknown>'"], then: {ok: end}}
  "]-->": {end: ok}
  end: {end: final}
"""


def parsed(svg: str) -> Any:
    return ET.fromstring(svg)  # noqa: S314 - our own text


def test_hostile_names_stay_text_in_svg(load: Load, drawn: Drawn) -> None:
    svg = render_svg(drawn(load(HOSTILE)))

    tags = {item.tag.removeprefix(SVG) for item in parsed(svg).iter()}
    assert tags == {"svg", "style", "rect", "text", "g", "path", "title", "circle"}
    assert "a]]><script>\ufffd\ufffd" in texts(svg)
    assert all(text.isprintable() for text in texts(svg))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", svg)


def test_hostile_names_stay_text_in_mermaid(load: Load, drawn: Drawn) -> None:
    text = render_mermaid(drawn(load(HOSTILE)))

    assert "<" not in text
    assert text.count("-->") == 4
    assert "#60;script#62;" in text
    assert all(line.count('"') in (0, 2) for line in text.splitlines())


def test_hostile_names_stay_text_in_dot(load: Load, drawn: Drawn) -> None:
    text = render_dot(drawn(load(HOSTILE)))

    assert all(len(re.findall(r'(?<!\\)"', line)) % 2 == 0 for line in text.splitlines())
    assert "\u202e" not in text
    assert '[label="a]]><script>' in text


def test_mermaid_shows_states_edges_and_the_refused_step(drawn: Drawn, story: Story) -> None:
    text = render_mermaid(drawn("rate-limit", story("rate-limit", ("update_record", {"patch": "p"}, "ok"))))

    assert text.startswith('---\ntitle: "rate-limit (version 1)"\n---\nstateDiagram-v2\n')
    assert '    state "limited" as s1\n' in text
    assert "    [*] --> s0\n" in text


def test_dot_names_the_edges_that_were_walked(drawn: Drawn, story: Story) -> None:
    text = render_dot(drawn(GRAPH, story(GRAPH, LOST, FOUND, WRONG)))

    assert 'label="lookup_by_request_id: ok [2]", color="#0969da", penwidth=2];' in text
    assert '  refused [label="wrong-object", color="#cf222e", fontcolor="#a40e26"];\n' in text


def test_a_very_long_name_is_cut(load: Load, drawn: Drawn) -> None:
    name = "x" * 500
    shown = sheet(drawn(load(f"graph: g\nstates:\n  {name}: {{end: ok}}\n")))

    assert shown.layout.width < 400
