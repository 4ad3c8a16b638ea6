"""What a job on GitHub shows beside its log: annotations, as workflow commands on standard output.

Source: GitHub's documentation of workflow commands, and of the limits of annotations (ten of a level in a step).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unacked.report.findings import findings_text
from unacked.report.stored_run import StoredRun
from unacked.report.text import printable, shortened

__all__ = ["SUMMARY_LIMIT", "workflow_commands"]

SUMMARY_LIMIT = 1024 * 1024
"""Bytes of a step's summary; what is longer is not shown at all."""
_MOST = 10
_LONGEST = 4000


def workflow_commands(run: StoredRun, files: Mapping[str, str]) -> Iterator[str]:
    """Yield one annotation for each kind of failure, the gravest first; the rest is in the report.

    ``files`` maps cases to their files, relative to the suite.
    """
    for line, count in run.kinds[:_MOST]:
        level = "warning" if line["verdict"] == "INCONCLUSIVE" else "error"
        more = f" (and {count - 1} more of this kind)" if count > 1 else ""
        title = _property(f"{line['verdict']} {line['rule']}: {line['trial']}")
        message = shortened(findings_text(line, run.suite) or f"{line['verdict']} {line['rule']}", _LONGEST)
        yield f"::{level} file={_property(files[line['case']])},line=1,title={title}::{_data(message + more)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
