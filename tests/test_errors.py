"""Problems name their place and a way out, and errors carry their exit code."""

from __future__ import annotations

import pickle

import pytest

from unacked.errors import (
    ExitCode,
    HarnessError,
    Place,
    Problem,
    RecordError,
    SpecificationError,
    UnackedError,
    nearest,
)


@pytest.mark.parametrize(
    ("place", "shown"),
    [(Place("a.yaml", 3, 7), "a.yaml:3:7"), (Place("a.yaml", 3), "a.yaml:3:0"), (Place("a.yaml"), "a.yaml")],
)
def test_a_place_is_shown_as_file_line_and_column(place: Place, shown: str) -> None:
    assert str(place) == shown


def test_a_hint_stands_on_a_line_of_its_own() -> None:
    problem = Problem(Place("a.yaml", 1, 2), "unknown key 'wy'", "did you mean 'why'?")
    assert str(problem) == "a.yaml:1:2: unknown key 'wy'\n    hint: did you mean 'why'?"


def test_all_problems_are_told_at_once_in_the_order_of_their_places_each_once() -> None:
    late, early = Problem(Place("b", 9, 1), "late"), Problem(Place("b", 10, 1), "later")
    first = Problem(Place("a"), "first")
    assert str(SpecificationError([early, late, first, late])) == "a: first\nb:9:1: late\nb:10:1: later"


def test_a_specification_error_keeps_its_problems_between_processes() -> None:
    error = SpecificationError([Problem(Place("a", 1, 1), "wrong", "mend it")])
    restored = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert restored.problems == error.problems


@pytest.mark.parametrize(
    ("error", "code"),
    [(SpecificationError([]), 2), (RecordError("x"), 4), (HarnessError("x"), 4), (UnackedError("x"), 4)],
)
def test_an_error_ends_the_process_with_its_code(error: UnackedError, code: int) -> None:
    assert error.exit_code == code


def test_the_exit_codes_are_those_of_the_documentation() -> None:
    assert [(code.name, code.value) for code in ExitCode] == [
        ("PASS", 0),
        ("FAIL", 1),
        ("USAGE", 2),
        ("INCONCLUSIVE", 3),
        ("ERROR", 4),
        ("INTERRUPTED", 130),
    ]


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("silense", ["silence", "fin"], "did you mean 'silence'?"),
        ("xyz", ["silence", "fin"], "known: fin, silence"),
        ("xyz", [], "nothing is known here"),
    ],
)
def test_the_nearest_known_word_is_offered_or_all_of_them(name: str, known: list[str], hint: str) -> None:
    assert nearest(name, known) == hint
