from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from tests.engine.conftest import SMALL, texts
from tests.suites import SuiteFolder, finished_run

from unacked.engine import Outcome, RunFolder, RunRequest, execute, make_plan, open_run, read_verdicts, verify
from unacked.errors import HarnessError, RecordError, SpecificationError
from unacked.suite import load_suite


class Interrupt:
    """Interrupts a run once ``number`` trials are finished."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self, _outcome: Outcome) -> None:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt


def interrupted(little: Path, out: Path, number: int, **more: Any) -> RunFolder:
    """A run that was interrupted once ``number`` trials were finished."""
    with pytest.raises(KeyboardInterrupt):
        finished_run(little, out, told=Interrupt(number), **{**SMALL, **more})
    return RunFolder(out / "run")


def names(folder: RunFolder) -> list[str]:
    return [line["trial"] for line in read_verdicts(folder, folder.manifest()["run"])]


@pytest.mark.long
@pytest.mark.parametrize("number", range(1, 9))
def test_an_interrupted_run_is_resumed_to_the_very_same_record(
    little: Path, small: RunFolder, out: Path, number: int
) -> None:
    folder = interrupted(little, out, number)
    assert len(names(folder)) == number
    told: list[str] = []
    finished_run(little, out, told=lambda outcome: told.append(outcome.line["trial"]), **SMALL)
    assert told == names(small)[number:]
    assert texts(folder) == texts(small)
    assert folder.verdicts.read_bytes() == small.verdicts.read_bytes()
    assert folder.diagnostics.read_bytes() == small.diagnostics.read_bytes()
    assert verify(folder) == 8


def test_a_run_whose_copy_of_the_suite_was_changed_meanwhile_is_not_resumed(little: Path, out: Path) -> None:
    folder = interrupted(little, out, 3)
    prompt = folder.suite / "agents/prompts/careful.md"
    prompt.write_text("Do as you like.")
    with pytest.raises(RecordError, match="the run's own copy of the suite was changed"):
        finished_run(little, out, **SMALL)
    assert len(names(folder)) == 3


def test_a_run_that_never_began_a_trial_is_begun(little: Path, small: RunFolder, out: Path) -> None:
    loaded = load_suite(little)
    open_run(loaded, make_plan(loaded, RunRequest(**SMALL)), out, "run")
    folder, _ = finished_run(little, out, **SMALL)
    assert folder.verdicts.read_bytes() == small.verdicts.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_verdict_is_given_again(little: Path, small: RunFolder, out: Path, cut: int) -> None:
    folder = interrupted(little, out, 3)
    folder.verdicts.write_bytes(folder.verdicts.read_bytes()[:-cut])
    finished_run(little, out, **SMALL)
    assert folder.verdicts.read_bytes() == small.verdicts.read_bytes()
    assert folder.diagnostics.read_bytes() == small.diagnostics.read_bytes()
    assert verify(folder) == 8


def test_the_record_of_a_trial_whose_verdict_was_lost_is_kept_beside_as_aborted(little: Path, out: Path) -> None:
    folder = interrupted(little, out, 3)
    folder.verdicts.write_bytes(folder.verdicts.read_bytes()[:-1])
    before = (folder.path / "events/000/C05.twin.careful.1.jsonl").read_bytes()
    finished_run(little, out, **SMALL)
    assert (folder.path / "events/000/C05.twin.careful.1.aborted-1").read_bytes() == before


def test_every_aborted_record_is_kept(little: Path, out: Path) -> None:
    folder = interrupted(little, out, 1)
    events = folder.path / "events/000"
    (events / "C05.reckless.1.aborted-1").write_text("the first half")
    (events / "C05.reckless.1.jsonl").write_text("the second half")
    finished_run(little, out, **SMALL)
    kept = {path.name: path.read_text() for path in events.glob("*.aborted-*")}
    assert kept == {
        "C05.reckless.1.aborted-1": "the first half",
        "C05.reckless.1.aborted-2": "the second half",
    }


def test_a_verdict_that_was_changed_is_not_built_upon(little: Path, out: Path) -> None:
    folder = interrupted(little, out, 3)
    text = folder.verdicts.read_text()
    folder.verdicts.write_text(text.replace('"verdict":"PASS"', '"verdict":"FAIL"', 1))
    with pytest.raises(RecordError, match=r"verdicts\.jsonl:1: the hash does not match"):
        finished_run(little, out, **SMALL)


def test_a_finished_run_runs_nothing_again_and_gives_its_summary(little: Path, out: Path) -> None:
    folder, plan = finished_run(little, out, **SMALL)
    before = texts(folder, pattern="**/*.json*")

    def never(_outcome: Outcome) -> None:
        raise AssertionError("a trial was run")

    summary = execute(open_run(load_suite(little), plan, out, "run"), plan, jobs=1, told=never)
    assert summary["trials"] == 8
    assert texts(folder, pattern="**/*.json*") == before


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "changed"),
    [
        ({"seed": "1"}, "seed"),
        ({"repeat": 2}, "repeat"),
        ({"agents": ("careful",)}, "agents, pins.agents.reckless"),
        ({"agents": ("reckless", "careful")}, "agents"),
        ({"select": ("C05",)}, "pins.cases.E01, pins.services.records"),
    ],
)
def test_a_run_of_another_plan_is_refused_by_what_changed(
    little: Path, out: Path, more: dict[str, Any], changed: str
) -> None:
    interrupted(little, out, 1)
    with pytest.raises(SpecificationError) as raised:
        finished_run(little, out, **{**SMALL, **more})
    (problem,) = raised.value.problems
    assert problem.message == f"this run has another plan, so it cannot be resumed (changed: {changed})"


def test_a_run_after_a_change_of_the_prompt_is_refused_by_what_changed(suite: SuiteFolder, out: Path) -> None:
    finished_run(suite.path, out, ("C01",), agents=("careful",))
    (suite.path / "agents/prompts/careful.md").write_text("Be quick.\n")
    with pytest.raises(SpecificationError, match=r"\(changed: pins\.agents\.careful\.prompt\)"):
        finished_run(suite.path, out, ("C01",), agents=("careful",))


def test_a_run_is_judged_by_the_suite_that_it_began_with(suite: SuiteFolder, out: Path) -> None:
    def change(_outcome: Outcome) -> None:
        (suite.path / "transitions/plain-read.yaml").write_text("nonsense")

    folder, _ = finished_run(suite.path, out, ("C01", "C04"), agents=("careful",), told=change)
    assert [line["verdict"] for line in read_verdicts(folder, folder.manifest()["run"])] == ["PASS", "PASS"]


def test_two_processes_cannot_be_at_work_on_one_run(little: Path, out: Path) -> None:
    folder = interrupted(little, out, 1)
    with folder.locked(), pytest.raises(HarnessError, match="another process is at work on this run"):
        finished_run(little, out, **SMALL)


def test_a_run_is_not_gone_on_with_before_the_workers_of_its_last_part_are_gone(
    little: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = interrupted(little, out, 3)
    monkeypatch.setattr("unacked.engine.folder.time.sleep", lambda _: None)
    with folder.worked_in(), pytest.raises(HarnessError, match="a worker of an earlier part of this run is still at"):
        finished_run(little, out, **SMALL)
    assert len(names(folder)) == 3
    finished_run(little, out, **SMALL)
    assert verify(folder) == 8


def test_runs_without_a_name_never_share_a_folder(little: Path, out: Path) -> None:
    loaded = load_suite(little)
    plan = make_plan(loaded, RunRequest(("C01",), ("careful",)))
    folders = [open_run(loaded, plan, out, None) for _ in range(3)]
    assert [folder.name.removeprefix(folders[0].name) for folder in folders] == ["", "-2", "-3"]


def test_a_beginning_that_was_interrupted_is_begun_again(little: Path, small: RunFolder, out: Path) -> None:
    (out / "run/.suite/agents/half").mkdir(parents=True)
    (out / "run/.manifest.json").write_text("{")
    (out / "run/.lock").touch()
    folder, _ = finished_run(little, out, **SMALL)
    assert folder.verdicts.read_bytes() == small.verdicts.read_bytes()
    assert sorted(path.name for path in folder.path.iterdir() if path.name.startswith(".")) == [".lock", ".workers"]


def test_a_copy_of_the_suite_that_was_interrupted_is_made_again(little: Path, small: RunFolder, out: Path) -> None:
    loaded = load_suite(little)
    folder = open_run(loaded, make_plan(loaded, RunRequest(**SMALL)), out, "run")
    folder.suite.rename(folder.path / ".suite")
    (folder.path / ".suite/transitions/plain-read.yaml").unlink()
    finished_run(little, out, **SMALL)
    assert folder.verdicts.read_bytes() == small.verdicts.read_bytes()


def test_a_run_that_was_killed_while_it_was_sealed_is_sealed_again(little: Path, out: Path) -> None:
    folder = interrupted(little, out, 3)
    (folder.path / ".manifest.json").write_text('{"format":')
    finished_run(little, out, **SMALL)
    assert verify(folder) == 8


def test_a_run_is_resumed_by_the_suite_as_it_was_read_where_its_copy_is_the_same(
    little: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_suite(little)
    plan = make_plan(loaded, RunRequest(**SMALL))
    interrupted(little, out, 3)
    monkeypatch.delattr("unacked.engine.trials.load_suite")
    folder = open_run(loaded, plan, out, "run")
    execute(folder, plan, jobs=1, told=lambda _: None)
    assert verify(folder) == 8
    assert str(loaded.moved_to(folder.suite).agents["careful"].folder) == str(folder.suite / "agents/careful")


def test_a_folder_of_something_else_is_left_alone(little: Path, out: Path) -> None:
    (out / "run").mkdir(parents=True)
    (out / "run/thesis.txt").write_text("years of work")
    with pytest.raises(SpecificationError, match=r"this folder is no run: it holds 'thesis\.txt'"):
        finished_run(little, out, **SMALL)
    assert [path.name for path in (out / "run").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("name", ["", ".", "..", "../elsewhere", "a/b", "/absolute", "-x", "a b", "x" * 101, "a\nb"])
def test_a_name_that_would_lead_elsewhere_is_no_name_for_a_run(little: Path, out: Path, name: str) -> None:
    with pytest.raises(SpecificationError, match="is no name for a run"):
        finished_run(little, out, ("C01",), agents=("careful",), run_id=name)
    assert not out.exists()


def test_a_file_in_the_place_of_the_folder_for_runs_is_told(little: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(HarnessError, match=r"runs/run: cannot be made: Not a directory"):
        finished_run(little, tmp_path / "runs", **SMALL)


def test_an_interrupted_trial_leaves_no_verdict_and_runs_again(suite: SuiteFolder, out: Path) -> None:
    flag = out.parent / "interrupted"
    suite.agent(
        "broken-off",
        f"""
yield Call("wait", {{"seconds": 1}})
if not os.path.exists({str(flag)!r}):
    open({str(flag)!r}, "w").close()
    raise KeyboardInterrupt
yield Call("finish", {{"status": "failed", "summary": "-"}})
""",
    )
    with pytest.raises(KeyboardInterrupt):
        finished_run(suite.path, out, ("C01",), agents=("broken-off",))
    folder = RunFolder(out / "run")
    assert names(folder) == []
    finished_run(suite.path, out, ("C01",), agents=("broken-off",))
    assert names(folder) == ["C01.broken-off.1"]
    assert sorted(path.name for path in (folder.path / "events/000").iterdir()) == [
        "C01.broken-off.1.aborted-1",
        "C01.broken-off.1.jsonl",
    ]
    assert verify(folder) == 1


def test_the_manifest_pins_everything_that_decides_a_verdict(small: RunFolder) -> None:
    manifest = small.manifest()
    assert sorted(manifest["pins"]) == ["agents", "cases", "grader", "graphs", "services", "timeouts_s", "tools"]
    assert sorted(manifest["pins"]["agents"]["careful"]) == [
        "agent",
        "driver",
        "model",
        "parameters",
        "policy",
        "prompt",
    ]
    assert (manifest["seed"], manifest["plan"]["trials"]) == ("0", 8)


def test_a_thousand_trials_share_a_folder(out: Path) -> None:
    folder = RunFolder(out / "run")
    folder.prepare(2001)
    assert sorted(path.name for path in (folder.path / "events").iterdir()) == ["000", "001", "002"]
    paths = [folder.events(index, "E01.careful.1").parent.name for index in (0, 999, 1000, 2000)]
    assert paths == ["000", "000", "001", "002"]


def test_seeds_that_differ_give_other_ids_and_the_same_verdicts(little: Path, small: RunFolder, out: Path) -> None:
    other, _ = finished_run(little, out, **SMALL, seed="another")
    runs = [list(read_verdicts(folder, folder.manifest()["run"])) for folder in (small, other)]
    assert all(a["verdict"] == b["verdict"] and a["events"] != b["events"] for a, b in zip(*runs, strict=True))


def test_repeats_differ_in_their_ids_only(little: Path, out: Path) -> None:
    folder, _ = finished_run(little, out, ("E01",), agents=("careful",), repeat=3)
    lines = list(read_verdicts(folder, folder.manifest()["run"]))
    assert len(lines) == 6
    assert all(a["events"] != b["events"] for a, b in itertools.pairwise(lines))
    assert {line["verdict"] for line in lines} == {"PASS"}
