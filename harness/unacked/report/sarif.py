"""SARIF 2.1.0 of a run: what code scanning services read. Every trial that did not pass is a result.

The location is the case's file in the suite; source: OASIS, Static Analysis Results Interchange Format 2.1.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from unacked import __version__
from unacked.canonical import JSON, digest
from unacked.graph import Verdict
from unacked.report.findings import findings_text, fingerprint
from unacked.report.stored_run import StoredRun
from unacked.report.text import printable

__all__ = ["run_sarif"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Verdict.INCONCLUSIVE: "warning"}
"""All other verdicts that are no PASS are errors."""


def run_sarif(run: StoredRun, files: Mapping[str, str]) -> str:
    """Return a run as the text of a SARIF file; ``files`` maps cases to their files, relative to the suite."""
    failed = [line for line in run.lines if line["verdict"] != Verdict.PASS]
    rules = sorted({str(line["rule"]) for line in failed})
    driver = {
        "name": "unacked",
        "version": __version__,
        "rules": [{"id": printable(rule), "shortDescription": {"text": printable(rule)}} for rule in rules],
    }
    results = [_result(line, rules, files, run.suite) for line in failed]
    value = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "automationDetails": {"id": f"unacked/{run.name}"}, "results": results}],
    }
    return json.dumps(value, indent=1) + "\n"


def _result(
    line: Mapping[str, JSON], rules: Iterable[str], files: Mapping[str, str], suite: Path | None
) -> dict[str, JSON]:
    rule = str(line["rule"])
    told = findings_text(line, suite) or printable(f"{line['verdict']} {rule}")
    place = {"artifactLocation": {"uri": files[line["case"]]}, "region": {"startLine": 1}}
    return {
        "ruleId": printable(rule),
        "ruleIndex": list(rules).index(rule),
        "level": _LEVELS.get(line["verdict"], "error"),
        "message": {"text": f"{line['trial']}: {told}"},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"unacked/v1": digest([*fingerprint(line), line["case"], line["twin"], line["place"]])},
        "properties": {"verdict": line["verdict"], "agent": line["agent"], "repeat": line["repeat"]},
    }
