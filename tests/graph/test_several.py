"""Generated traces of several threads, several agents and several calls at once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.suites import ROOT

from unacked.graph import Call, Result, Verdict, judge_events
from unacked.graph.generate import GeneratedTrace, Purpose, generate
from unacked.suite import load_suite
from unacked.tools import REGISTRY

Traces = Mapping[str, GeneratedTrace]
CREATE = "create-outcome-unknown"


@pytest.fixture(scope="module")
def traces() -> Traces:
    graphs = load_suite(ROOT, run_code=False).graphs
    names = (CREATE, "auth-vs-denial", "rotate-unknown")
    made = [generate(graphs[name], REGISTRY, purposes=[Purpose.WALK, Purpose.WITNESS]) for name in names]
    return {trace.name: trace for suite in made for trace in suite.traces}


def operations(trace: GeneratedTrace) -> list[str]:
    return [event.operation for event in trace.events if isinstance(event, Call)]


@pytest.mark.parametrize(
    ("name", "violation", "event"),
    [
        ("unrequested/create_record", "unrequested_effect", 0),
        ("cross/create_record", "cross_thread", 2),
        ("in-flight/create_record", "second-create", 6),
        ("orphan/attach_note", "orphan", 0),
        ("unknown-tool", "unknown_tool", 0),
        ("at-once/attach_note", "concurrent_mutation", 3),
        ("unseen/note-on-unconfirmed", "note-on-unconfirmed", 3),
        ("handed-over/second-create", "second-create", 2),
        ("handed-over/claim", "unseen_result", 4),
    ],
)
def test_a_mistake_of_several_is_refused_by_its_rule(traces: Traces, name: str, violation: str, event: int) -> None:
    trace = traces[f"{CREATE}/witness/{name}"]
    assert (trace.violation, trace.event) == (violation, event)


def test_two_records_in_flight_are_found_out_one_after_the_other(traces: Traces) -> None:
    trace = traces[f"{CREATE}/walk/in-flight/create_record"]
    assert operations(trace) == ["create_record", "create_record", *["lookup_by_request_id"] * 2, "finish"]
    assert trace.effects == {"create_record": [{"title": "title-1"}, {"title": "title-2"}]}
    assert trace.verdict is Verdict.PASS


def test_the_other_effect_under_the_first_ones_request_id_is_mixed_up(traces: Traces) -> None:
    trace = traces[f"{CREATE}/witness/cross/create_record"]
    first, second = (event.args for event in trace.events if isinstance(event, Call))
    assert (first["title"], second["title"]) == ("title-1", "title-2")
    assert first["request_id"] == second["request_id"]


def test_calls_at_once_share_a_turn_and_are_answered_behind_it(traces: Traces) -> None:
    trace = traces[f"{CREATE}/witness/unseen/note-on-unconfirmed"]
    lookup, note = trace.events[2:4]
    assert isinstance(lookup, Call)
    assert isinstance(note, Call)
    assert lookup.turn == note.turn


def test_the_same_calls_one_after_the_other_are_the_twin(traces: Traces) -> None:
    trace = traces[f"{CREATE}/witness/unseen/note-on-unconfirmed"]
    twin = [event.operation for event in trace.twin if isinstance(event, Call)]
    assert twin[:3] == ["create_record", "lookup_by_request_id", "attach_note"]


def test_who_never_saw_the_result_is_not_to_blame(traces: Traces) -> None:
    lost, informed = (traces[f"{CREATE}/witness/{name}/second-create"] for name in ("handed-over", "informed"))
    assert (lost.blame, informed.blame) == ("hand-off", "agent")
    shown = [
        [event.visible_to for event in trace.events[:-2] if isinstance(event, Result)] for trace in (lost, informed)
    ]
    assert shown == [[("first",)], [("first", "second")]]


def test_every_planted_mistake_has_a_twin_that_passes(traces: Traces) -> None:
    graphs = load_suite(ROOT, run_code=False).graphs
    witnesses = [trace for trace in traces.values() if trace.purpose is Purpose.WITNESS]
    alone = [trace for trace in witnesses if trace.blame is None and "/orphan/" not in trace.name]
    assert [trace.name for trace in alone if not trace.twin] == []
    for trace in witnesses:
        bound = trace.variant.bind(graphs[trace.name.split("/")[0]], REGISTRY)
        twin = judge_events(trace.twin, [bound], trace.effects).verdict if trace.twin else Verdict.PASS
        assert (trace.name, twin) == (trace.name, Verdict.PASS)


def test_a_credential_is_no_thing_that_a_request_id_could_mix_up(traces: Traces) -> None:
    """A rotation is found by its name only, so there is no trace in which two of them are mixed up."""
    assert "rotate-unknown/witness/unrequested/rotate_credential" in traces
    assert "rotate-unknown/witness/cross/rotate_credential" not in traces
