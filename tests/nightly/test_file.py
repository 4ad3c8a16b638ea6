from __future__ import annotations

from pathlib import Path

import pytest

from unacked.compare import GateRule
from unacked.errors import SpecificationError
from unacked.nightly import read_nightly

WHOLE = "nightly: n\ncandidate: new\nbaseline: b\nreference: old\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "night.yaml"
    path.write_text(text)
    return path


def test_a_file_has_defaults_for_all_numbers(tmp_path: Path) -> None:
    file = read_nightly(written(tmp_path, WHOLE))
    assert (file.repeat, file.rule.gate_rule(), file.budget.minutes) == (5, GateRule(), None)


def test_all_problems_are_told_with_their_places(tmp_path: Path) -> None:
    path = written(tmp_path, f"{WHOLE}repeat: 0\nrule: {{alpha: 2, beta: 1}}\nbugdet: {{minutes: 1}}\n")
    with pytest.raises(SpecificationError) as caught:
        read_nightly(path)
    places = [(problem.place.line, problem.place.column) for problem in caught.value.problems]
    assert places == [(5, 9), (6, 15), (6, 18), (7, 1)]
    assert "budget" in caught.value.problems[3].hint


def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match=r"night\.yaml:3:11"):
        read_nightly(written(tmp_path, WHOLE.replace("baseline: b", "baseline: ../b")))
