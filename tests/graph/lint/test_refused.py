"""What the loader refuses has the id of a lint too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from unacked.graph.lint import LINTS, Level

STOP = "      - {id: stop, call: finish, then: {ok: done}}\n"
DONE = "  done: {end: final}\n"

BROKEN = {
    "G01": (
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: c, call: create_record, then: {'@any': nowhere}}\n" + STOP + DONE,
        5,
    ),
    "G02": ("graph: g\nstates:\n  s:\n    allow:\n" + STOP + "  island: {end: ok}\n" + DONE, 6),
    "G03": (
        "graph: g\nstates:\n  s:\n    allow:\n      - {id: c, call: creat_record, then: {'@any': s}}\n" + STOP + DONE,
        5,
    ),
    "G04": (
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: c, call: create_record, when: [args.colour == 'red'], then: {'@any': s}}\n" + STOP + DONE,
        5,
    ),
    "G05": (
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: c, call: create_record, when: [args.title == $title], then: {'@any': s}}\n" + STOP + DONE,
        5,
    ),
    "G06": (
        "graph: g\nstates:\n  s:\n    allow:\n      - {id: c, call: create_record, then: {ok: s}}\n" + STOP + DONE,
        5,
    ),
    "G07": (
        "graph: g\nstates:\n  s:\n    allow:\n"
        "      - {id: c, call: get_record, then: {ok: [{to: s, when: [result.notes > 1]}], '@any': s}}\n" + STOP + DONE,
        5,
    ),
}


@pytest.mark.parametrize("lint", BROKEN)
def test_a_file_that_is_refused_is_refused_under_an_id(
    lint: str, refused: Callable[[str], list[tuple[str, int]]]
) -> None:
    text, line = BROKEN[lint]

    assert refused(text) == [(lint, line)]


def test_every_refusal_of_the_table_has_an_example() -> None:
    assert set(BROKEN) == {row.id for row in LINTS.values() if row.level is Level.REFUSED}
