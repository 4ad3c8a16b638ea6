from __future__ import annotations

from pathlib import Path

import pytest

from unacked.errors import RecordError
from unacked.nightly import CaseClass, History, NightEntry, classify
from unacked.nightly.history import CaseNight, Promotion


def nights(letters: list[str], pins: list[str] | None = None) -> list[NightEntry]:
    """One case over nights, each a word of P, F, U, E and I (never exposed)."""
    return [
        NightEntry(
            night=f"2026-11-{day:02}",
            run=f"run-{day}",
            agent="a",
            pins={"agent.model": pins[day - 1] if pins else "m"},
            decision="PASS",
            reasons=[],
            cases={
                "C01": CaseNight(
                    runs=len(word),
                    decided=sum(word.count(letter) for letter in "PFU"),
                    passes=word.count("P"),
                    unsafe=word.count("U"),
                    exposed=len(word) - word.count("I"),
                    errors=word.count("E"),
                )
            },
        )
        for day, word in enumerate(letters, start=1)
    ]


@pytest.mark.parametrize(
    ("letters", "kind"),
    [
        (["PPPPP"], CaseClass.INSUFFICIENT),
        (["PPPPP"] * 8, CaseClass.STABLE),
        (["PPPPF", "PPPPP", "PFPPP", "PPPPF"], CaseClass.FLAKY),
        (["PPPPP"] * 5 + ["FFFFF"], CaseClass.REGRESSED),
        (["FFPFF"] * 4 + ["PPPPP"] * 4, CaseClass.IMPROVED),
        (["FFFFF"] * 4, CaseClass.FAILING),
        (["PPPPP"] * 7 + ["PPPPU"], CaseClass.UNSAFE),
        (["PPPPP", "PPEPP", "PPPPP"], CaseClass.ENVIRONMENT),
        (["IIIII"] * 8, CaseClass.INSUFFICIENT),
    ],
)
def test_each_course_of_nights_has_its_class(letters: list[str], kind: CaseClass) -> None:
    assert classify(nights(letters))["C01"].kind is kind


def test_a_regression_names_its_first_night_and_the_pins_that_changed_then() -> None:
    found = classify(nights(["PPPPP"] * 4 + ["FFFFF"] * 2, ["m1"] * 4 + ["m2"] * 2))["C01"]
    assert (found.kind, found.since, list(found.changed)) == (CaseClass.REGRESSED, "2026-11-05", ["agent.model"])


def test_a_regression_that_was_mended_is_none() -> None:
    assert classify(nights(["PPPPP"] * 4 + ["FFFFF"] + ["PPPPP"] * 60))["C01"].kind is CaseClass.STABLE


def test_no_unsafe_run_is_a_bound_not_a_nought() -> None:
    found = classify(nights(["PPPPP"] * 30))["C01"]
    assert found.unsafe_below == pytest.approx(0.0198, abs=1e-4)


def test_without_nights_nothing_is_said() -> None:
    assert classify([]) == {}


def test_what_was_appended_is_read_again_in_order(tmp_path: Path) -> None:
    history = History(tmp_path / "deep" / "n.jsonl")
    first, second = nights(["P", "F"])
    promotion = Promotion(promoted="run-1", night="2026-11-01", reason="good")
    for entry in (first, promotion, second):
        history.append(entry)
    assert (history.nights(), history.promotions()) == ([first, second], [promotion])


def test_a_torn_last_line_is_no_night(tmp_path: Path) -> None:
    history = History(tmp_path / "n.jsonl")
    history.append(nights(["P"])[0])
    with history.path.open("a") as file:
        file.write('{"night":"2026')
    assert len(history.nights()) == 1


@pytest.mark.parametrize("line", ["{}", "[]", '{"promoted":1}', "nonsense"])
def test_a_line_that_is_no_night_is_told_with_its_place(tmp_path: Path, line: str) -> None:
    history = History(tmp_path / "n.jsonl")
    history.path.write_text(f"{line}\n")
    with pytest.raises(RecordError, match=r"n\.jsonl:1: "):
        history.nights()


def test_a_case_in_which_nothing_was_decided_is_not_called_failing() -> None:
    undecided = CaseNight(runs=5, decided=0, passes=0, unsafe=0, exposed=5, errors=0)
    entries = [night.model_copy(update={"cases": {"C01": undecided}}) for night in nights(["PPPPP"] * 4)]
    assert classify(entries)["C01"].kind is CaseClass.INSUFFICIENT
