"""Reports: what people look at. Nothing here decides anything."""

from unacked.report.findings import findings_text, first_of_each
from unacked.report.junit import write_junit
from unacked.report.sink import write_report
from unacked.report.tables import case_paragraphs, case_table, run_table, styled_verdict
from unacked.report.text import printable
from unacked.report.transcript import transcript

__all__ = [
    "case_paragraphs",
    "case_table",
    "findings_text",
    "first_of_each",
    "printable",
    "run_table",
    "styled_verdict",
    "transcript",
    "write_junit",
    "write_report",
]
