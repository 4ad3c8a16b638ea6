"""The pages in a real browser: what people see, click and print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import Page, browsing
from tests.suites import SuiteFolder, finished_run

from unacked.compare import Comparison, Divergence, GateRule, Step, compare, decide, night_of, read_side
from unacked.engine import RunFolder, read_verdicts, stored_paths
from unacked.nightly import NightEntry, classify
from unacked.nightly.history import CaseNight
from unacked.report.comparison_page import Parting, comparison_page, night_page, sides_page
from unacked.report.page import run_page
from unacked.report.stored_run import StoredRun, most_telling
from unacked.report.story import Story, story
from unacked.suite import load_suite

pytestmark = pytest.mark.long

HOSTILE = (
    "</pre><script>window.taken = 1</script><img src=x onerror='window.taken = 2'>"
    "\x1b[2J\x1b]0;title\x07 \u202egnp.exe {{ 7 * 7 }} <!-- ]]> https://example.com/x"
)

INCIDENT = ("I-held-connection", "I-held-connection.twin")

CONTRAST = """(() => {
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const ground = node => {
    for (; node; node = node.parentElement) {
      const colour = numbers(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const node of document.querySelectorAll('body *:not(svg):not(svg *)')) {
    const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
    if (!own || !node.getClientRects().length) continue;
    const [a, b] = [light(numbers(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) bad.push(`${node.className || node.tagName}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def stored(folder: RunFolder) -> StoredRun:
    manifest = folder.manifest()
    lines = list(read_verdicts(folder, manifest["run"]))
    return StoredRun(folder.name, manifest, folder.read_json(folder.summary), lines)


def stories(folder: RunFolder, run: StoredRun, most: int = 60) -> list[Story]:
    wanted = {line["trial"]: line for line in most_telling(run, most)}
    paths = stored_paths(folder, load_suite(folder.suite, run_code=False), wanted)
    return [story(path.brief, path.history, wanted[path.trial]) for path in paths]


@pytest.fixture(scope="module")
def written(controls: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run of the controls."""
    path = tmp_path_factory.mktemp("page") / "run.html"
    run = stored(controls)
    path.write_text(run_page(run, stories(controls, run)))
    return path


@pytest.fixture(scope="module", params=["run", "comparison", "sides", "night"])
def any_page(request: pytest.FixtureRequest, controls: RunFolder, written: Path) -> Path:
    """Each kind of page, with whatever it can be unhappy about."""
    path = written.with_name(f"{request.param}.html")
    if request.param != "run":
        one, two = (read_side(controls, agent) for agent in ("careful", "reckless"))
        comparison = compare(one, two)
        path.write_text({"comparison": _comparison, "sides": _sides, "night": _night}[request.param](comparison))
    return path


def _comparison(comparison: Comparison) -> str:
    return comparison_page(comparison, {("create-outcome-unknown", "reconcile"): (0.5, 0.0)}, [_parting()])


def _sides(comparison: Comparison) -> str:
    back = compare(comparison.first, comparison.first)
    return sides_page(
        [comparison, back], {("create-outcome-unknown", "reconcile"): (0.5, 0.0, 0.5)}, [[_parting()], []]
    )


def _parting() -> Parting:
    steps = [Step("create_record", "{}", "outcome_unknown"), Step("finish", "{}", "ok")]
    divergence = Divergence(2, steps[:1], steps[1], None)
    return Parting("E01", divergence, ("E01.careful.1", "E01.reckless.1"), (steps, steps[:1]))


def _night(comparison: Comparison) -> str:
    tallies = ((5, 5, 0), (5, 3, 0), (5, 0, 2), (0, 0, 0))
    cases = {
        f"C{number}": CaseNight(runs=5, decided=decided, passes=passes, unsafe=unsafe, exposed=5, errors=0)
        for number, (decided, passes, unsafe) in enumerate(tallies)
    }
    nights = [
        NightEntry(
            night=f"2027-01-{day:02d}", run=f"run-{day}", agent="a", pins={}, decision=decision, reasons=[], cases=cases
        )
        for day, decision in enumerate(("PASS", "BLOCK", "INCONCLUSIVE", "ERROR"), start=1)
    ]
    return night_page(decide(night_of(comparison), GateRule()), nights, classify(nights))


def test_a_page_of_5000_trials_opens_within_a_second(page: Page, controls: RunFolder, tmp_path: Path) -> None:
    run = stored(controls)
    many = [
        {**run.lines[number % len(run.lines)], "index": number, "case": f"C{number // 50:03d}"}
        for number in range(5000)
    ]
    big = StoredRun(run.name, run.manifest, {**run.summary, "trials": 5000}, many)
    (tmp_path / "big.html").write_text(run_page(big, 2 * stories(controls, run)))
    page.show()
    page.send("Performance.setTimeDomain", timeDomain="threadTicks")  # the machine may have others to serve
    page.send("Performance.enable")
    assert min(_seconds_to_open(page, tmp_path / "big.html") for _ in range(5)) < 1
    assert page.ask("document.querySelectorAll('table.all tbody tr').length") == 5000


def _seconds_to_open(page: Page, path: Path) -> float:
    page.open(path)
    metrics = page.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def test_a_page_asks_for_nothing_but_itself_and_runs_no_script(page: Page, written: Path) -> None:
    page.open(written)
    asked = [
        event["params"]["request"]["url"] for event in page.seen if event.get("method") == "Network.requestWillBeSent"
    ]
    assert asked == [written.as_uri()]
    assert page.ask("document.scripts.length") == 0


def test_a_cell_of_the_matrix_leads_to_its_transcript_and_opens_it(page: Page, written: Path) -> None:
    page.show()
    page.open(written)
    page.ask("document.querySelectorAll('.story')[0].open = false")
    assert page.ask("[...document.querySelectorAll('.story')].filter(each => each.open).length") == 0
    page.ask("[...document.querySelectorAll('.heat a')].at(-1).focus()")
    page.press("Enter")
    opened = "[...document.querySelectorAll('.story')].filter(each => each.open)"
    assert page.ask(f"{opened}.length") == 1
    assert page.ask(f"'#' + {opened}[0].querySelector('.told').id === location.hash") is True


def test_every_link_within_a_page_leads_somewhere(page: Page, any_page: Path) -> None:
    page.open(any_page)
    dead = (
        "[...document.querySelectorAll('a')].map(a => a.getAttribute('href')).filter(to => !document.querySelector(to))"
    )
    assert page.ask(dead) == []


def test_the_filter_leaves_only_what_did_not_pass_and_works_by_keyboard(
    page: Page, controls: RunFolder, tmp_path: Path
) -> None:
    run = stored(controls)
    some = [line for line in run.lines if line["agent"] == "careful" or line["case"] == "E01"]
    (tmp_path / "some.html").write_text(run_page(StoredRun(run.name, run.manifest, run.summary, some), []))
    page.show()
    page.open(tmp_path / "some.html")
    shown = """[...document.querySelectorAll('.heat tbody tr')]
      .filter(row => row.getClientRects().length).map(row => row.cells[0].textContent)"""
    assert page.ask(shown) == [
        "E01",
        "E01.twin",
        "C01",
        "C05",
        "C05.twin",
        "I-held-connection",
        "I-held-connection.twin",
    ]
    page.ask("document.getElementById('show-all').focus()")
    page.press("ArrowRight")
    assert page.ask("document.getElementById('show-failed').checked") is True
    assert page.ask(shown) == ["E01", "E01.twin"]


def test_the_first_tab_stop_skips_to_the_content(page: Page, written: Path) -> None:
    page.open(written)
    page.press("Tab")
    assert page.ask("document.activeElement.textContent") == "Skip to the content"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_has_the_contrast_that_wcag_asks_for(page: Page, any_page: Path, *, dark: bool) -> None:
    page.show(dark=dark)
    page.open(any_page)
    page.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.ask(CONTRAST) == []


def test_a_phone_needs_no_scrolling_to_the_side(page: Page, any_page: Path) -> None:
    page.show(width=390)
    page.open(any_page)
    page.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.ask("document.documentElement.scrollWidth") <= 390


def test_paper_shows_the_transcripts_that_are_closed_on_the_screen(page: Page, written: Path) -> None:
    closed = "document.querySelector('.story:not([open]) .timeline').checkVisibility({contentVisibilityAuto: true})"
    page.show()
    page.open(written)
    assert page.ask(closed) is False
    page.show(paper=True)
    page.open(written)
    assert page.ask(closed) is True
    assert page.ask("document.querySelector('.filter').getClientRects().length") == 0


def test_tables_pictures_and_regions_have_names(page: Page, any_page: Path) -> None:
    page.open(any_page)
    nameless = """[
      ...[...document.querySelectorAll('table')].filter(each => !each.caption),
      ...document.querySelectorAll('svg:not([aria-label]), [role=region]:not([aria-label]), img:not([alt])'),
    ].length"""
    assert page.ask(nameless) == 0
    assert page.ask("[document.documentElement.lang, document.querySelectorAll('h1').length]") == ["en", 1]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an agent that writes what would act on a reader, and a title of a megabyte."""
    folder = SuiteFolder(tmp_path_factory.mktemp("hostile") / "suite")
    folder.keep("E01")
    folder.agent(
        "hostile",
        f"""
title = {HOSTILE!r}
yield Call("create_record", {{"title": title, "request_id": title, "idempotency_key": "k"}})
yield Call("create_record", {{"title": "x" * 1_000_000, "request_id": "r", "idempotency_key": "l"}})
yield Call("finish", {{"status": "success", "summary": title}})
""",
    )
    run, _ = finished_run(folder.path, tmp_path_factory.mktemp("hostile-runs"), agents=("hostile",))
    path = tmp_path_factory.mktemp("hostile-page") / "run.html"
    whole = stored(run)
    path.write_text(run_page(whole, stories(run, whole)))
    return path


def test_hostile_text_is_shown_as_text(page: Page, hostile: Path) -> None:
    page.show()
    page.open(hostile)
    page.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.ask("[document.scripts.length, document.images.length, typeof window.taken]") == [0, 0, "undefined"]
    text: Any = page.ask("document.body.innerText")
    assert "</pre><script>window.taken = 1</script><img src=x onerror='window.taken = 2'>" in text
    assert "{{ 7 * 7 }}" in text
    assert [character for character in text if not character.isprintable() and character not in "\n\t\xa0"] == []


def test_a_megabyte_is_cut_with_a_word_on_its_length(page: Page, hostile: Path) -> None:
    page.open(hostile)
    assert "(1,000,002 characters, all of them in the record)" in page.ask("document.documentElement.textContent")
    assert hostile.stat().st_size < 500_000
