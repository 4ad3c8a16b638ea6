from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.conftest import SMALL
from tests.suites import SuiteFolder, finished_run

from unacked.engine import RunFolder, find_run, open_run, rejudge, verify
from unacked.engine.plan import RunRequest, make_plan
from unacked.errors import RecordError, SpecificationError
from unacked.suite import load_suite

EVENTS = "events/000/E01.reckless.1.jsonl"


@pytest.fixture
def copy(small: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of the small run that a test may change."""
    return RunFolder(shutil.copytree(small.path, tmp_path / "run"))


def flip(path: Path, position: int) -> None:
    """Change one byte of a file."""
    data = bytearray(path.read_bytes())
    data[position] ^= 0x01
    path.write_bytes(data)


def complaint(folder: RunFolder) -> str:
    """What is wrong with a run, its own path left out."""
    with pytest.raises(RecordError) as raised:
        verify(folder)
    return str(raised.value).replace(f"{folder.path}/", "")


def test_an_untouched_run_holds(copy: RunFolder) -> None:
    assert verify(copy) == 8


@pytest.mark.parametrize(
    "name",
    [
        "summary.json",
        "timings.jsonl",
        "diagnostics.jsonl",
        "suite/agents/prompts/careful.md",
        "suite/agents/careful/policy.py",
        "suite/fake_services/records.py",
        "suite/transitions/create-outcome-unknown.yaml",
        "suite/transitions/matrix/E01-create-read-annotate.case.yaml",
    ],
)
def test_one_changed_byte_in_a_file_is_noticed_and_the_file_is_named(copy: RunFolder, name: str) -> None:
    flip(copy.path / name, 10)
    assert complaint(copy) == f"{name}: the file was changed; the run was sealed with other files"


@pytest.mark.parametrize("line", [1, 4, 8])
def test_one_changed_byte_in_a_verdict_is_noticed_and_its_line_is_named(copy: RunFolder, line: int) -> None:
    starts = [0, *(match.end() for match in re.finditer(rb"\n", copy.verdicts.read_bytes()))]
    flip(copy.verdicts, starts[line - 1] + 30)
    assert complaint(copy).startswith(f"verdicts.jsonl:{line}: ")


@pytest.mark.parametrize("line", [1, 7, 15])
def test_one_changed_byte_in_an_event_is_noticed_and_its_line_is_named(copy: RunFolder, line: int) -> None:
    path = copy.path / EVENTS
    starts = [0, *(match.end() for match in re.finditer(rb"\n", path.read_bytes()))]
    flip(path, starts[line - 1] + 30)
    assert complaint(copy).startswith(f"{EVENTS}:{line}: ")


def test_any_changed_byte_of_an_event_file_is_noticed(copy: RunFolder) -> None:
    path = copy.path / EVENTS
    whole = path.read_bytes()
    for position in range(0, len(whole), 97):
        flip(path, position)
        line = whole[:position].count(b"\n") + 1
        assert complaint(copy).startswith(f"{EVENTS}:{line}: "), position
        path.write_bytes(whole)


def test_any_changed_byte_of_the_manifest_is_noticed(copy: RunFolder) -> None:
    path = copy.path / "manifest.json"
    whole = path.read_bytes()
    for position in range(0, len(whole), 41):
        flip(path, position)
        assert complaint(copy) != "", position
        path.write_bytes(whole)


@pytest.mark.long
def test_any_changed_byte_of_the_seal_is_noticed(copy: RunFolder) -> None:
    path = copy.path / "manifest.json"
    whole = path.read_bytes()
    begin = whole.index(b'"seal":')
    for position in range(begin, whole.index(b'"version"', begin), 7):
        flip(path, position)
        assert complaint(copy) != "", position
        path.write_bytes(whole)


@pytest.mark.parametrize("seal", [[], "sealed", {}, {"files": [], "manifest": "", "verdicts": ""}])
def test_a_seal_that_is_none_is_noticed(copy: RunFolder, seal: object) -> None:
    path = copy.path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "seal": seal}))
    assert complaint(copy) == "manifest.json:1: the seal is damaged"


def test_a_missing_record_is_noticed(copy: RunFolder) -> None:
    (copy.path / EVENTS).unlink()
    assert complaint(copy) == f"{EVENTS}: cannot be read: No such file or directory"


def test_a_surplus_record_is_noticed(copy: RunFolder) -> None:
    shutil.copy(copy.path / EVENTS, copy.path / "events/000/E01.reckless.2.jsonl")
    assert complaint(copy) == (
        "events/000/E01.reckless.2.jsonl: the file is surplus; it belongs to no trial of this run"
    )


def test_a_surplus_file_in_the_suite_is_noticed(copy: RunFolder) -> None:
    (copy.suite / "agents/extra.md").write_text("-")
    assert complaint(copy) == "suite/agents/extra.md: the file is surplus; the run was sealed with other files"


def test_a_missing_file_of_the_suite_is_noticed(copy: RunFolder) -> None:
    (copy.suite / "agents/prompts/careful.md").unlink()
    assert complaint(copy) == (
        "suite/agents/prompts/careful.md: the file is missing; the run was sealed with other files"
    )


@pytest.mark.parametrize("name", ["summary.json", "timings.jsonl", "diagnostics.jsonl"])
def test_a_missing_part_is_noticed(copy: RunFolder, name: str) -> None:
    (copy.path / name).unlink()
    assert complaint(copy) == f"{name}: the file is missing; the run was sealed with other files"


def test_missing_verdicts_are_noticed(copy: RunFolder) -> None:
    (copy.verdicts).unlink()
    assert complaint(copy) == "verdicts.jsonl: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    "name", ["extra.txt", "verdicts2.jsonl", "suite/agents/careful/__pycache__/policy.pyc", "events/000/note.txt"]
)
def test_a_surplus_file_is_noticed_wherever_it_stands(copy: RunFolder, name: str) -> None:
    (copy.path / name).parent.mkdir(exist_ok=True)
    (copy.path / name).write_text("-")
    assert complaint(copy) == f"{name}: the file is surplus; the run was sealed with other files"


def test_a_link_in_the_place_of_a_file_is_noticed(copy: RunFolder) -> None:
    copy.summary.rename(copy.path.parent / "elsewhere.json")
    copy.summary.symlink_to(copy.path.parent / "elsewhere.json")
    assert complaint(copy) == "summary.json: is no plain file; nothing in a run is"


def test_a_manifest_that_was_only_laid_out_anew_is_noticed(copy: RunFolder) -> None:
    manifest = copy.path / "manifest.json"
    manifest.write_text(manifest.read_text() + "\n")
    assert complaint(copy) == "manifest.json:1: the manifest was changed after it was sealed"


def test_two_records_that_were_exchanged_are_noticed(copy: RunFolder) -> None:
    one, other = (copy.path / f"events/000/E01.{agent}.1.jsonl" for agent in ("careful", "reckless"))
    one.rename(copy.path / "aside")
    other.rename(one)
    (copy.path / "aside").rename(other)
    assert complaint(copy).startswith("events/000/E01.careful.1.jsonl:1: ")


def test_a_record_without_its_last_line_is_noticed(copy: RunFolder) -> None:
    path = copy.path / EVENTS
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert complaint(copy).endswith("the record ends before the line that was sealed")


def test_verdicts_without_the_last_one_are_noticed(copy: RunFolder) -> None:
    copy.verdicts.write_bytes(b"".join(copy.verdicts.read_bytes().splitlines(keepends=True)[:-1]))
    assert complaint(copy) == "verdicts.jsonl:7: 7 trials, but the plan has 8"


def test_a_line_that_was_dropped_from_the_middle_is_noticed(copy: RunFolder) -> None:
    lines = copy.verdicts.read_bytes().splitlines(keepends=True)
    copy.verdicts.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    assert complaint(copy).startswith("verdicts.jsonl:4: the hash does not match")


def test_a_run_that_was_not_sealed_does_not_pass_for_one(little: Path, tmp_path: Path) -> None:
    loaded = load_suite(little)
    folder = open_run(loaded, make_plan(loaded, RunRequest(**SMALL)), tmp_path, "run")
    with pytest.raises(RecordError, match="the run is not sealed"):
        verify(folder)


def test_a_record_of_an_interrupted_trial_is_sealed_with_the_run(little: Path, tmp_path: Path) -> None:
    loaded = load_suite(little)
    folder = open_run(loaded, make_plan(loaded, RunRequest(**SMALL)), tmp_path, "run")
    (folder.path / "events/000/C05.careful.1.jsonl").write_text("half")
    finished_run(little, tmp_path, **SMALL)
    assert verify(folder) == 8
    flip(folder.path / "events/000/C05.careful.1.aborted-1", 2)
    assert complaint(folder).startswith("events/000/C05.careful.1.aborted-1: the file was changed")


def test_a_run_of_another_format_is_refused_with_the_reason(copy: RunFolder) -> None:
    path = copy.path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99, "version": "9.9"}))
    assert complaint(copy) == (
        "manifest.json: format 99 is not readable by this version (it reads 1); it was written by unacked 9.9"
    )


def test_the_same_judges_give_the_same_verdicts(small: RunFolder) -> None:
    pairs = list(rejudge(small, load_suite(small.suite, run_code=False)))
    assert [difference for _, difference in pairs if difference] == []
    assert len(pairs) == 8


def changed(suite: SuiteFolder, name: str, old: str, new: str) -> Path:
    suite.edit(name, old, new)
    return suite.path


GRAPH = "transitions/create-outcome-unknown.yaml"
E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"


def test_another_graph_gives_other_verdicts(small: RunFolder, suite: SuiteFolder) -> None:
    today = load_suite(changed(suite, GRAPH, "- id: second-create\n", "- id: twice\n"))
    differences = [difference for _, difference in rejudge(small, today) if difference]
    assert [(item.trial, item.stored.split()[1], item.today.split()[1]) for item in differences] == [
        ("C05.reckless.1", "second-create", "twice"),
        ("C05.twin.reckless.1", "second-create", "twice"),
        ("E01.reckless.1", "second-create", "twice"),
        ("E01.twin.reckless.1", "second-create", "twice"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("case: E01", "case: E02", r"no longer holds E01$"),
        ("twins: true", "twins: false", r"no longer holds E01\.twin$"),
        ("trap: true", "pending: later", r"no longer holds E01$"),
    ],
)
def test_a_case_that_is_gone_is_told(small: RunFolder, suite: SuiteFolder, old: str, new: str, told: str) -> None:
    today = load_suite(changed(suite, E01, old, new))
    with pytest.raises(RecordError, match=told):
        list(rejudge(small, today))


def test_a_changed_record_is_not_judged_again(copy: RunFolder) -> None:
    flip(copy.path / EVENTS, 200)
    with pytest.raises(RecordError, match=r"E01\.reckless\.1\.jsonl:1: "):
        list(rejudge(copy, load_suite(copy.suite, run_code=False)))


@pytest.mark.parametrize("name", [str, lambda path: path.name], ids=["path", "name"])
def test_a_run_is_found_by_its_path_and_by_its_name(copy: RunFolder, name: Callable[[Path], str]) -> None:
    assert find_run(name(copy.path), copy.path.parent).path == copy.path


def test_a_run_that_is_not_there_is_told_with_the_nearest_name(copy: RunFolder) -> None:
    with pytest.raises(SpecificationError, match=r"there is no run 'runn' in .*\n    hint: did you mean 'run'\?"):
        find_run("runn", copy.path.parent)
