"""Every lint: a graph in which it finds what it should, where, and by which way; and a benign twin without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from unacked.graph.lint import LINTS, Finding, Level

Found = Callable[..., list[Finding]]


@dataclass(frozen=True)
class Example:
    """A graph, and the same graph mended by replacing one text; ``line`` is that of the finding."""

    text: str
    wrong: str
    right: str
    line: int
    way: tuple[str, ...] | None = None
    count: int = 1


TAIL = """
      - {id: stop, call: finish, when: ["args.status != 'success'"], then: {ok: done}}
  done: {end: final}
"""
LIMITED = "when: [count.n < 3], count: {n: 1}"

EXAMPLES = {
    "G10": Example(
        f"graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: create_record, {LIMITED}, then: {{ok: stuck, '@any': s}}}}{TAIL}"
        "  stuck: {end: open}\n",
        "stuck: {end: open}",
        "stuck: {end: final}",
        8,
    ),
    "G11": Example(
        f"graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: create_record, {LIMITED}, then: {{ok: round, '@any': s}}}}{TAIL}"
        "  round:\n    allow:\n      - {id: r, call: get_record, then: {'@any': round}}\n",
        "then: {'@any': round}",
        "then: {'@any': s}",
        8,
    ),
    "G12": Example(
        f"graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: create_record, {LIMITED}, then: {{ok: mute, '@any': s}}}}{TAIL}"
        "  mute:\n    allow:\n      - {id: r, call: get_record, then: {'@any': s}}\n",
        "  mute:\n    allow:\n",
        "  mute:\n    allow:\n      - {id: quit, call: finish, then: {ok: done}}\n",
        8,
    ),
    "G13": Example(
        f"graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: r, call: get_record, then: {{locked: s, '@any': s}}}}{TAIL}",
        "locked: s, ",
        "",
        5,
    ),
    "G14": Example(
        f"graph: g\nthread: {{name: t, key: {{create_record: args.idempotency_key}}}}\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: create_record, {LIMITED}, then: {{'@any': s}}}}{TAIL}",
        "args.idempotency_key",
        "args.title",
        1,
    ),
    "G15": Example(
        "graph: g\nthread: {name: t, key: {update_record: target}}\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: update_record, {LIMITED}, then: {{'@any': t}}}}\n"
        "      - {id: quit, call: finish, then: {ok: done}}\n"
        "    forbid:\n      - {id: no-switch, call: switch_credential}\n"
        f"  t:\n    allow:{TAIL}",
        "then: {'@any': t}",
        "then: {'@local': s, '@any': t}",
        9,
    ),
    "G16": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: r, call: get_record, then: {ok: [{to: s, when: [result.colour == 'red']}, {to: t}], '@any': s}}"
        f"{TAIL}  t: {{end: ok}}\n",
        "result.colour",
        "result.title",
        5,
    ),
    "G20": Example(
        f"graph: g\nstates:\n  s:\n    allow:\n      - {{id: c, call: create_record, {LIMITED},"
        " then: {ok: {to: t, bind: {o: result.identity}}, accepted: t, '@any': s}}"
        f"{TAIL}  t:\n    allow:\n      - {{id: n, call: attach_note, when: [target == $o], then: {{'@any': done}}}}\n"
        "      - {id: quit, call: finish, then: {ok: done}}\n",
        "accepted: t, ",
        "",
        10,
        ("create_record/accepted", "attach_note"),
    ),
    "G21": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: one, call: get_record, when: [args.record_id != 'r1'], then: {'@any': s}}\n"
        "      - {id: two, call: get_record, when: [args.record_id != 'r2'], then: {'@any': done}}"
        f"{TAIL}",
        "!= 'r2'",
        "== 'r1'",
        6,
        ("get_record",),
    ),
    "G22": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: any, call: get_record, then: {'@any': s}}\n"
        "      - {id: one, call: get_record, when: [args.record_id == 'r1'], then: {'@any': done}}"
        f"{TAIL}",
        "{id: any, call: get_record,",
        "{id: any, call: get_record, when: [args.record_id != 'r1'],",
        6,
        ("get_record",),
    ),
    "G23": Example(
        f"graph: g\nstates:\n  s:\n    allow:\n      - {{id: r, call: get_record, then: {{'@any': s}}}}{TAIL}".replace(
            "  done", "    forbid:\n      - {id: never, call: create_record, when: [count.n > 2]}\n  done"
        ),
        "{id: r, call: get_record,",
        "{id: r, call: get_record, count: {n: 1},",
        8,
        (),
    ),
    "G24": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: r, call: get_record, then:"
        " {ok: [{to: s, when: [result.notes > 1]}, {to: t, when: [result.notes > 2]}, {to: s}], '@any': s}}"
        f"{TAIL}  t: {{end: ok}}\n",
        "result.notes > 2",
        "result.notes < 1",
        5,
    ),
    "G25": Example(
        "graph: g\nalways:\n  forbid: [{id: never, call: get_record}]\nstates:\n  s:\n    allow:\n"
        "      - {id: r, call: get_record, then: {'@any': s}}"
        f"{TAIL}",
        "{id: never, call: get_record}",
        "{id: never, call: get_record, when: [args.record_id == 'r1']}",
        7,
        ("get_record",),
    ),
    "G26": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: c, call: create_record, when: [args.title == 'a', args.title != 'b', count.n < 3],"
        f" count: {{n: 1}}, then: {{'@any': s}}}}{TAIL}",
        "args.title != 'b', ",
        "",
        5,
    ),
    "G27": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: create_record, {LIMITED}, then: {{ok: t, '@any': s}}}}{TAIL}"
        "  t:\n    allow:\n      - {id: quit, call: finish, when: [count.n > 3], then: {ok: done}}\n",
        "count.n > 3",
        "count.n > 0",
        8,
        ("create_record/ok",),
    ),
    "G30": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: create_record, {LIMITED}, bind: {{k: args.idempotency_key}},"
        f" then: {{'@uncertain': t, '@any': done}}}}{TAIL}"
        "  t:\n    allow:\n"
        "      - {id: again, call: create_record, when: [args.request_id == 'r', count.n < 3],"
        " count: {n: 1}, then: {'@any': t}}\n      - {id: quit, call: finish, then: {ok: done}}\n",
        "args.request_id == 'r', count",
        "args.idempotency_key == $k, is_set(args.idempotency_key), count",
        10,
        ("create_record/accepted", "create_record"),
    ),
    "G31": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: c, call: create_record, {LIMITED}, then: {{authorization_denied: t, '@any': done}}}}{TAIL}"
        "  t:\n    allow:\n      - {id: round, call: update_record, when: [count.n < 3], count: {n: 1},"
        " then: {'@any': done}}\n      - {id: quit, call: finish, then: {ok: done}}\n",
        "authorization_denied: t",
        "ok: t",
        10,
        ("create_record/authorization_denied", "update_record"),
    ),
    "G32": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        f"      - {{id: u, call: update_record, then: {{rate_limited: s, '@any': done}}}}{TAIL}",
        "call: update_record,",
        f"call: update_record, {LIMITED},",
        5,
        ("update_record/rate_limited", "update_record"),
    ),
    "G40": Example(
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: any, call: get_record, then: {'@any': s}}"
        f"{TAIL}".replace("  done", "    forbid:\n      - {id: never, call: get_record}\n  done"),
        "{id: any, call: get_record,",
        "{id: any, call: get_record, when: [args.record_id == 'r1'],",
        8,
    ),
    "G50": Example(
        f"graph: g\nstates:\n  s:\n    allow:{TAIL}lint:\n  allow:\n    - {{id: G12, state: s, why: none}}\n",
        "lint:\n  allow:\n    - {id: G12, state: s, why: none}\n",
        "",
        9,
    ),
}


@pytest.mark.parametrize("lint", EXAMPLES)
def test_a_lint_finds_what_it_should_where_it_is(lint: str, found: Found) -> None:
    example = EXAMPLES[lint]

    findings = found(example.text, lint)

    assert [item.place.line for item in findings] == [example.line]
    assert findings[0].place.file == "g.yaml"
    assert findings[0].way == example.way


@pytest.mark.parametrize("lint", EXAMPLES)
def test_the_benign_twin_of_a_finding_is_clean(lint: str, found: Found) -> None:
    example = EXAMPLES[lint]
    assert example.text.count(example.wrong) == 1

    assert found(example.text.replace(example.wrong, example.right), lint) == []


def test_every_lint_has_an_example() -> None:
    assert set(EXAMPLES) == {row.id for row in LINTS.values() if row.level is not Level.REFUSED}


def test_ids_are_in_order_and_names_are_unique() -> None:
    assert list(LINTS) == sorted(LINTS)
    assert len({row.name for row in LINTS.values()}) == len(LINTS)
