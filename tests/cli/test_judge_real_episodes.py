from __future__ import annotations

import json

from tests.suites import ROOT, CommandLine

DATA = ROOT / "tests" / "data"


def test_judge_prints_the_expected_verdict_of_every_real_episode(unacked: CommandLine) -> None:
    done = unacked("judge", DATA / "real-episodes.traces.jsonl", "--suite", ROOT, "--json")
    expected = [json.loads(line) for line in (DATA / "real-episodes.expected.jsonl").read_text().splitlines()]
    printed = [json.loads(line) for line in done.out.splitlines()]
    assert [(item["trace"], item["verdict"], item["violation"]) for item in printed] == [
        (item["trace"], item["verdict"], item["violation"]) for item in expected
    ]
    assert done.code == 1
