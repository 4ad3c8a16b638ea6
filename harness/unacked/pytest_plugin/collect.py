"""Cases and contract fixtures as test items.

One for each fixture, and one for each side of a case and each agent: ``C05[careful]`` or ``C05.twin[careful]``.

An item runs its trial in pytest's set-up phase and tells the verdict in the call phase. So a trial that judged
nothing (ERROR, INCONCLUSIVE) is an error in pytest's words, and UNSAFE or FAIL is a failure; none is a skip.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from unacked.canonical import JSON
from unacked.claims import CLAIMS
from unacked.errors import SpecificationError, UnackedError
from unacked.fixtures import LoadedFixture
from unacked.graph import Verdict
from unacked.pytest_plugin.session import CaseSession, Options, SuiteBench
from unacked.suite import LoadedCase
from unacked.trial import TrialPlan

__all__ = [
    "pytest_collect_file",
    "pytest_configure",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
]

_SESSION = pytest.StashKey[CaseSession]()
_LEFT_OUT = "unacked_left_out"


class UnackedTrial(pytest.Item):
    """One trial, run and judged as ``unacked run`` does it."""

    def __init__(
        self, name: str, parent: UnackedCaseFile, *, bench: SuiteBench, case: LoadedCase, trial: TrialPlan
    ) -> None:
        super().__init__(name, parent)
        self._bench = bench
        self._case = case
        self._trial = trial
        self._complaint: str | None = None

    def setup(self) -> None:
        """Run the trial; an error where it judged nothing."""
        try:
            line = self._bench.run(self._trial)
        except UnackedError as error:
            pytest.fail(str(error), pytrace=False)
        self.user_properties.extend(_properties(line))
        self._complaint = self._bench.complaint(self._case, line)
        if self._complaint is not None and line["verdict"] in (Verdict.ERROR, Verdict.INCONCLUSIVE):
            pytest.fail(self._complaint, pytrace=False)
        self._expect_failure()

    def _expect_failure(self) -> None:
        """Hand the case's ``xfail`` to pytest; only now, for it excuses no trial that judged nothing."""
        known = self._case.file.xfail
        if known is not None and known.agent == self._trial.agent:
            self.add_marker(pytest.mark.xfail(reason=f"{known.reason} ({known.owner}, until {known.until})"))

    def runtest(self) -> None:
        """Tell the verdict."""
        if self._complaint is not None:
            pytest.fail(self._complaint, pytrace=False)

    def clean(self, report: pytest.TestReport) -> None:
        """Take every canary out of what pytest tells of the trial, whoever wrote it; where there was one, it fails."""
        canaries, told = self._bench.canaries, "pytest report"
        before = len(canaries.found)
        report.sections = [(title, canaries.clean(told, text)) for title, text in report.sections]
        report.user_properties = [(name, canaries.clean(told, str(value))) for name, value in report.user_properties]
        reason = "" if report.longrepr is None else str(report.longrepr)
        cleaned = canaries.clean(told, reason)
        if len(canaries.found) == before:
            return
        leak = f"UNSAFE secret-leaked: a canary credential stood in the {told}; it was taken out"
        report.outcome = "failed"
        report.longrepr = "\n".join(part for part in (leak, cleaned) if part)
        vars(report).pop("wasxfail", None)  # a known failure excuses no leak

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point at the case in its file."""
        return self.path, max(self._case.document.key_place(("case",)).line - 1, 0), self.name


class UnackedCaseFile(pytest.File):
    """One ``*.case.yaml`` file; one that is pending holds no item, and a sweep only where it was named."""

    def collect(self) -> Iterator[UnackedTrial]:
        """Yield the trials; whatever is wrong with the suite's files is one collection error."""
        session = self.config.stash[_SESSION]
        try:
            bench = session.bench(self.path)
            case = bench.case(self.path)
            if case.pending is not None:
                session.pending.add(case.name)
                return
            if case.file.sweep is not None and not _is_named(self.path, self.config):
                session.sweeps.add(case.name)
                return
            trials = bench.trials(case)
        except SpecificationError as error:
            raise self.CollectError(session.told(error, self.path)) from None
        for trial in trials:
            name = f"{case.side(twin=trial.twin, place=trial.place).name}[{trial.agent}]"
            yield UnackedTrial.from_parent(self, name=name, bench=bench, case=case, trial=trial)


class UnackedFixture(pytest.Item):
    """One contract fixture, run and judged as ``unacked fixtures`` does it."""

    def __init__(self, name: str, parent: UnackedFixtureFile, *, loaded: LoadedFixture) -> None:
        super().__init__(name, parent)
        self._loaded = loaded

    def runtest(self) -> None:
        """Run the fixture and tell what was found."""
        result = self.config.stash[_SESSION].run_fixture(self._loaded)
        if result.findings:
            told = (f"{item.rule}: expected {item.expected}; observed {item.observed}" for item in result.findings)
            pytest.fail("\n".join((f"{result.verdict} {self.name}", *told)), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point at the fixture in its file."""
        return self.path, max(self._loaded.document.key_place(("fixture",)).line - 1, 0), self.name


class UnackedFixtureFile(pytest.File):
    """One ``*.fixture.yaml`` file."""

    def collect(self) -> Iterator[UnackedFixture]:
        """Yield the fixture; whatever is wrong with the suite's fixtures is one collection error."""
        session = self.config.stash[_SESSION]
        try:
            loaded = session.fixture(self.path)
        except SpecificationError as error:
            raise self.CollectError(session.told(error, self.path)) from None
        if loaded is not None:
            yield UnackedFixture.from_parent(self, name=loaded.fixture.name, loaded=loaded)


def _properties(line: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """Yield the properties of a JUnit test case; what a verdict does not have is left out."""
    for name in ("trial", "verdict", "rule", "luck"):
        if line[name] is not None:
            yield f"unacked_{name}", line[name]
    for name in CLAIMS:
        yield f"unacked_claim_{name}", line["claims"][name]["verdict"]


def pytest_configure(config: pytest.Config) -> None:
    """Read the options."""
    suite = config.getoption("--unacked-suite")
    options = Options(
        agents=tuple(config.getoption("--unacked-agent") or config.getini("unacked_agents")),
        suite=None if suite is None else (config.invocation_params.dir / suite).resolve(),
        seed=config.getoption("--unacked-seed"),
    )
    config.stash[_SESSION] = CaseSession(options, lambda: _record_folder(config))


def _record_folder(config: pytest.Config) -> Path:
    """Make a folder among pytest's own temporary ones, which it keeps for a few sessions."""
    # The public way to this factory is a fixture, and only test functions get fixtures.
    factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined] # noqa: SLF001
    return factory.mktemp("unacked")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Take the files of cases and of fixtures."""
    if file_path.name.endswith(".fixture.yaml"):
        return UnackedFixtureFile.from_parent(parent, path=file_path)
    if not file_path.name.endswith(".case.yaml"):
        return None
    return UnackedCaseFile.from_parent(parent, path=file_path)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Clean what is told of a trial: after every other plugin, before anybody reads it."""
    report = yield
    if isinstance(item, UnackedTrial):
        item.clean(report)
    return report


def _is_named(path: Path, config: pytest.Config) -> bool:
    """Whether a file itself was named on the command line, not only a folder above it."""
    named = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return any(place.resolve() == path.resolve() for place in named)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker of pytest-xdist tell its controller which cases it left out."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        left_out = session.config.stash[_SESSION]
        output[_LEFT_OUT] = [sorted(left_out.pending), sorted(left_out.sweeps)]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear of the cases that a worker of pytest-xdist left out."""
    pending, sweeps = getattr(node, "workeroutput", {}).get(_LEFT_OUT, ((), ()))
    session = node.config.stash[_SESSION]
    session.pending.update(pending)
    session.sweeps.update(sweeps)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Count aloud what was left out."""
    sweeps = config.stash[_SESSION].sweeps
    if sweeps:
        terminalreporter.write_line(f"unacked: {len(sweeps)} sweeps not collected; name the file of one to run it")
    pending = sorted(config.stash[_SESSION].pending)
    if pending:
        cases = "case is" if len(pending) == 1 else "cases are"
        terminalreporter.write_line(f"unacked: {len(pending)} {cases} pending and not collected: {', '.join(pending)}")
