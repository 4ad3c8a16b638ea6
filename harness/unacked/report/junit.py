"""JUnit XML of a run, as CI systems read it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from unacked.canonical import JSON
from unacked.report.findings import findings_text
from unacked.report.sink import write_report
from unacked.report.text import printable

__all__ = ["write_junit"]


def write_junit(
    path: Path,
    lines: Sequence[Mapping[str, JSON]],
    name: str,
    clean: Callable[[str], str] = lambda text: text,
    *,
    suite_path: Path | None = None,
) -> None:
    """Write one test case a trial; UNSAFE and FAIL are failures, ERROR and INCONCLUSIVE are errors, never skips.

    ``suite_path`` is the suite that was named to run it. ``clean`` is asked before anything is written: it takes out
    what must not be there.
    """
    root = ET.Element("testsuite", name=name, tests=str(len(lines)))
    counts = {"failures": 0, "errors": 0}
    for line in lines:
        case = ET.SubElement(root, "testcase", classname=f"unacked.{line['case']}", name=line["trial"])
        verdict = line["verdict"]
        if verdict == "PASS":
            continue
        kind = "failure" if verdict in ("UNSAFE", "FAIL") else "error"
        counts["failures" if kind == "failure" else "errors"] += 1
        element = ET.SubElement(
            case, kind, type=printable(f"{verdict}.{line['rule']}"), message=printable(_message(line))
        )
        element.text = findings_text(line, suite_path)
    for key, count in counts.items():
        root.set(key, str(count))
    write_report(path, clean(ET.tostring(root, "utf-8", xml_declaration=True).decode()))


def _message(line: Mapping[str, JSON]) -> str:
    blame = f" (blame: {line['blame']})" if "blame" in line else ""
    return f"{line['verdict']} {line['rule']}{blame}"
