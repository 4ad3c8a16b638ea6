from __future__ import annotations

from unacked.conformance.check import Finding, Status
from unacked.conformance.run import Report, chosen_checks
from unacked.report.orchestrators import finding_text, orchestrators_markdown, orchestrators_page, summary_text

CHECKS = chosen_checks(["C1", "C5", "R3"])
GOOD = Report(
    "good", "does all", {"good": "1.2"}, [Finding("C1", Status.PASS, "line 1"), Finding("R3", Status.PASS, "")]
)
BAD = Report(
    "bad",
    "",
    {},
    [
        Finding("C5", Status.NOT_CLAIMED, "does not claim lease"),
        Finding("C1", Status.FAIL, "<b>line 3</b> | \x1b[31m", failed=3, played=4),
        Finding("R3", Status.NOT_EXERCISED, "no step ever began"),
    ],
    {"R3": "by <timers>"},
)


def test_markdown_has_a_row_a_check_and_a_column_an_orchestrator() -> None:
    text = orchestrators_markdown([GOOD, BAD], CHECKS)
    assert [line for line in text.splitlines() if line.startswith("|")] == [
        "| check |  | good | bad |",
        "| --- | --- | --- | --- |",
        "| C1 | resume runs only what had not finished | pass | **fail** (3 of 4) |",
        "| C5 | a dead worker is taken over within its lease |  | not claimed |",
        "| R3 | timers are precise | pass | not exercised |",
    ]
    assert "\nVersions: good: good 1.2; bad: part of unacked.\n" in text


def test_markdown_tells_why_what_did_not_pass_did_not() -> None:
    text = orchestrators_markdown([GOOD, BAD], CHECKS)
    assert "\n## good\n\nDoes all.\n\nEverything that it claims holds.\n" in text
    assert "\n- **R3** not exercised: no step ever began\n" in text
    assert "\n- R3 as it was asked for: by" in text
    assert "<b>" not in text
    assert "\x1b" not in text


def test_the_page_shows_hostile_text_as_text() -> None:
    page = orchestrators_page([GOOD, BAD], CHECKS)
    assert "&lt;b&gt;line 3&lt;/b&gt;" in page
    assert "\x1b" not in page
    assert page.count('<td class="v-FAIL">fail (3 of 4)</td>') == 1
    assert "<dt><strong>R3</strong> as it was asked for</dt><dd>by &lt;timers&gt;</dd>" in page
    assert '<td class="none">not run</td>' in page


def test_a_finding_is_two_lines_for_a_terminal() -> None:
    assert finding_text(CHECKS[0], BAD.findings[1]) == (
        "FAIL          C1  resume runs only what had not finished\n              <b>line 3</b> | \\x1b[31m"
    )


def test_a_report_ends_with_its_numbers() -> None:
    assert summary_text(BAD) == "bad: 1 fail, 1 not claimed, 1 not exercised"
