"""Reports: what people look at. Nothing here decides anything."""

from unacked.report.coverage import coverage_text, difference_text
from unacked.report.findings import findings_text, first_of_each
from unacked.report.junit import write_junit
from unacked.report.mutation import mutation_text
from unacked.report.tables import case_table, run_table, styled_verdict
from unacked.report.text import printable
from unacked.report.transcript import transcript

__all__ = [
    "case_table",
    "coverage_text",
    "difference_text",
    "findings_text",
    "first_of_each",
    "mutation_text",
    "printable",
    "run_table",
    "styled_verdict",
    "transcript",
    "write_junit",
]
