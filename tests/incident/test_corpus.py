from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.claims import Brief
from unacked.graph import Judgement, TraceJudge, read_traces
from unacked.incident import (
    Recording,
    Redactor,
    bring_in,
    export_spans,
    held,
    neutral_lines,
    neutral_trace,
    read_recording,
    verify,
)
from unacked.incident.rehearse import Showing, rehearse
from unacked.suite import Suite, load_suite
from unacked.tools import REGISTRY


@pytest.fixture(scope="module")
def whole() -> Suite:
    return load_suite(ROOT)


def test_every_incident_of_the_suite_is_verified(whole: Suite) -> None:
    incidents = [case for case in whole.cases.values() if case.file.incident is not None]

    failing = {
        case.name: [check.what for check in done.checks if not check.holds]
        for case in incidents
        if not (done := verify(whole, case.document)).holds
    }

    assert failing == {}
    assert len(incidents) == 55


def test_every_incident_names_its_source(whole: Suite) -> None:
    assert [each.case for each in held(whole) if "(AF" not in each.source and "AF002" not in each.source] == []


class KeepsAll(Redactor):
    """Replaces nothing: a run of ours holds only what its case made up."""

    def recording(self, recording: Recording) -> Recording:
        return recording


def again(whole: Suite, folder: Path, side: Brief, shown: Showing) -> Judgement:
    """Judge what is left of a trial when it was exported as spans and read again."""
    spans, neutral = folder / "a.json", folder / "a.jsonl"
    spans.write_text(json.dumps(export_spans(side, shown.history, shown.side)))
    found = bring_in(read_recording(spans), KeepsAll(""))
    neutral.write_text(neutral_lines(neutral_trace(found.recording, found.moves())))
    (trace,) = read_traces(neutral.read_text().splitlines())
    return TraceJudge(whole.graphs, REGISTRY).judge(trace)


@pytest.mark.long
def test_every_incident_is_judged_alike_when_it_was_exported_and_imported_again(whole: Suite, tmp_path: Path) -> None:
    incidents = [case for case in whole.cases.values() if case.file.incident is not None]
    other, count = [], 0

    for case in incidents:
        shown = rehearse(whole, case.document)
        for showings in filter(None, (shown.repeated, shown.careful)):
            for side, showing in zip(case.sides, showings, strict=True):
                count += 1
                path, judged = showing.verdict.claims["path"], again(whole, tmp_path, side, showing)
                seen = (judged.verdict, judged.violation.rule if judged.violation else None)
                if seen != (path.verdict, path.findings[0].rule if path.findings else None):
                    other.append((showing.side, seen))

    assert other == []
    assert count >= 2 * len(incidents)
