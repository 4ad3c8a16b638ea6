"""The recorder of a trial: order, time, ids, durability, and a history that is what the file says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.canonical import dumps
from unacked.clock import VirtualClock
from unacked.contract import Effect, Operation, Registry
from unacked.errors import HarnessError, RecordError
from unacked.event import Event
from unacked.secret import Scanner, mint
from unacked.suite import Suite, load_suite
from unacked.trail import ChainWriter, Diagnostics, Recorder, TrialName, head_of, read_history
from unacked.trail.recorder import Spelling
from unacked.trial import Bench, TrialPlan

NAME = TrialName("run-1", "C05.careful.1", "C05")
REGISTRY = Registry(
    [
        Operation(
            name=name, effect=Effect.CREATE, description="x", categories=frozenset({"ok"}), target_class=target_class
        )
        for name, target_class in (("create_jar", "jar"), ("finish", None))
    ]
)


class Trial:
    """A recorder with its clock and its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = VirtualClock()
        self.recorder = Recorder(path, NAME, self.clock, REGISTRY)
        self.emit = self.recorder.emit

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    trial = Trial(tmp_path / "t.jsonl")
    yield trial
    trial.recorder.close()


def test_an_event_is_stamped_with_time_trial_and_place_in_the_order(trial: Trial) -> None:
    trial.emit("trial_begin")
    trial.clock.advance(2.5)
    trial.emit("result", id="c1", operation="create_jar", category="ok", diagnostics_ref="d1", detail={"a": 1})
    trial.recorder.close()
    lines = trial.lines()
    hashes = [line.pop("hash") for line in lines]
    stamp = {"run": "run-1", "trial": "C05.careful.1", "case": "C05"}
    assert lines == [
        {"time": 0.0, "event": "trial_begin", "seq": 0, **stamp},
        {
            "time": 2.5,
            "event": "result",
            "id": "c1",
            "operation": "create_jar",
            "target_class": "jar",
            "category": "ok",
            "diagnostics_ref": "d1",
            "detail": {"a": 1},
            "seq": 1,
            **stamp,
        },
    ]
    assert [len(str(value)) for value in hashes] == [64, 64]


def test_the_history_holds_the_events_in_their_order(trial: Trial) -> None:
    trial.emit("trial_begin", detail={"seed": "7"})
    trial.clock.advance(1)
    trial.emit("trial_end")
    assert list(trial.recorder.history()) == [
        Event(0.0, "trial_begin", detail={"seed": "7"}),
        Event(1.0, "trial_end"),
    ]


def test_an_id_keeps_the_operation_that_it_began_with(trial: Trial) -> None:
    trial.emit("agent_next_call", id="c1", operation="create_jar")
    trial.emit("remote_received", id="c1")
    trial.emit("fault_fired", id="c1", operation="finish")
    trial.emit("remote_received", id="nobody")
    trial.emit("trial_end")
    recorded = [(event.operation, event.target_class) for event in trial.recorder.history()]
    assert recorded == [("create_jar", "jar")] * 3 + [(None, None), (None, None)]


def test_an_operation_that_no_tool_declares_has_no_target_class(trial: Trial) -> None:
    trial.emit("agent_next_call", id="c1", operation="drop_everything")
    (event,) = trial.recorder.history()
    assert (event.operation, event.target_class) == ("drop_everything", None)


@pytest.mark.parametrize("moment", ["trial_begin", "agent_next_call", "trial_end"])
def test_everything_so_far_is_in_the_file_when_the_agent_moves_and_at_both_ends(trial: Trial, moment: str) -> None:
    trial.emit("result", id="c0", operation="create_jar")
    trial.emit(moment)
    assert [line["event"] for line in trial.lines()] == ["result", moment]


def test_the_text_of_the_record_is_what_is_in_the_file(trial: Trial) -> None:
    trial.emit("trial_begin", detail={"task": "é"})
    trial.emit("trial_end")
    assert trial.recorder.written() == trial.path.read_text()


def test_closing_writes_the_rest_and_returns_the_head(trial: Trial) -> None:
    trial.emit("result", id="c0", operation="create_jar")
    assert trial.recorder.close() == head_of(trial.path, NAME.origin)


def test_a_record_that_cannot_be_begun_is_an_error_of_the_harness(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"cannot be written: Is a directory$"):
        Trial(tmp_path)


def test_a_full_disk_stops_the_trial_at_its_first_durable_event() -> None:
    trial = Trial(Path("/dev/full"))
    with pytest.raises(HarnessError, match=r"^/dev/full: cannot be written: No space left on device$"):
        trial.emit("trial_begin")


# Reading it back


def test_a_history_is_read_back_as_it_was(trial: Trial) -> None:
    trial.emit("trial_begin", detail={"task": "é", "numbers": [1, 2.5, None, True]})
    trial.emit("trial_end")
    trial.recorder.close()
    assert list(read_history(trial.path, NAME)) == list(trial.recorder.history())


@pytest.mark.parametrize(
    "stamp",
    [
        {"run": "run-2", "trial": "C05.careful.1", "seq": 0},
        {"run": "run-1", "trial": "C05.careful.2", "seq": 0},
        {"run": "run-1", "trial": "C05.careful.1", "seq": 1},
        {},
    ],
)
def test_a_line_of_another_record_is_refused_even_where_the_chain_holds(
    tmp_path: Path, stamp: dict[str, object]
) -> None:
    path = tmp_path / "t.jsonl"
    with ChainWriter(path, NAME.origin) as writer:
        writer.write({"event": "trial_begin", "time": 0.0, **stamp})
    with pytest.raises(RecordError) as caught:
        read_history(path, NAME)
    assert str(caught.value) == f"{path}:1: the line belongs to another record"


def test_a_line_that_is_no_event_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with ChainWriter(path, NAME.origin) as writer:
        writer.write({"event": "begin", "time": 0.0, "run": "run-1", "trial": "C05.careful.1", "seq": 0})
    with pytest.raises(RecordError) as caught:
        read_history(path, NAME)
    assert str(caught.value) == f"{path}:1: unknown event 'begin'; this record was written by another version"


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(Path(__file__).parents[2])


@pytest.mark.long
def test_what_is_read_back_from_every_trial_of_the_suite_is_what_happened(suite: Suite, tmp_path: Path) -> None:
    bench = Bench(suite)
    different: list[str] = []
    for case in suite.select([]):
        for agent in suite.controls():
            for twin in [False, True][: len(case.sides)]:
                if not agent.takes(case):
                    continue
                plan = TrialPlan(0, case.name, twin, agent.name, 1, "7", "run-1")
                path = tmp_path / f"{plan.name}.jsonl"
                record = bench.run(plan, path)
                written = list(read_history(path, plan.record_name))
                if written != list(record.history) or head_of(path, plan.record_name.origin) != record.head:
                    different.append(plan.name)
    assert different == []


# Diagnostics


def test_a_raw_error_is_kept_under_a_reference() -> None:
    diagnostics = Diagnostics(lambda text: text)
    assert [diagnostics.keep({"error": "a"}), diagnostics.keep({"error": "b"})] == ["d1", "d2"]
    assert diagnostics.entries == [{"ref": "d1", "error": "a"}, {"ref": "d2", "error": "b"}]


def test_a_raw_error_is_kept_without_its_secrets() -> None:
    secret = mint("a")
    escaped = "".join(f"\\u{ord(character):04x}" for character in secret)
    diagnostics = Diagnostics(Scanner([secret]).redact)
    diagnostics.keep({"headers": {"x": f"Bearer {secret}"}, "body": f'{{"key":"{escaped}"}}', "status": 401})
    assert diagnostics.entries == [
        {"ref": "d1", "headers": {"x": "Bearer [redacted]"}, "body": '{"key":"[redacted]"}', "status": 401}
    ]


_WORDS = st.none() | st.text(max_size=12)


@given(
    st.builds(
        Event,
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
        _WORDS,
        _WORDS,
        _WORDS,
        _WORDS,
        _WORDS,
        st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8), max_size=3),
    ),
    st.integers(min_value=0),
    st.builds(TrialName, st.text(), st.text(), st.text()),
)
def test_a_line_is_the_canonical_text_of_the_event_its_number_and_its_trial(
    event: Event, seq: int, name: TrialName
) -> None:
    whole = {**event.as_json(), "seq": seq, "run": name.run, "trial": name.trial, "case": name.case}
    assert Spelling(name).of(event, seq) == dumps(whole)
