"""What the case files of one pytest session share: the options, and the suites, each read once in a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from unacked.canonical import JSON
from unacked.document import read_yaml
from unacked.engine import Canaries, RunFolder, RunRequest, expected_of_control, make_plan
from unacked.engine.trials import run_trial
from unacked.errors import Place, Problem, SpecificationError
from unacked.fixtures import FixtureBench, FixtureResult, LoadedFixture, load_fixtures
from unacked.graph import Verdict
from unacked.report import findings_text
from unacked.suite import CONTENT_FOLDERS, LoadedCase, Suite, load_suite
from unacked.trial import Bench, TrialPlan

__all__ = ["CaseSession", "Options", "SuiteBench"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for; no agents means the controls, no suite the one that a case file stands in."""

    agents: Sequence[str]
    suite: Path | None
    seed: str


class SuiteBench:
    """One suite, ready to run trials, and a folder for their records."""

    def __init__(self, suite: Suite, folder: RunFolder, options: Options) -> None:
        self._suite = suite
        self._folder = folder
        self._options = options
        self._bench = Bench(suite)
        self._trials: list[TrialPlan] = []

    def case(self, path: Path) -> LoadedCase:
        """Return the case of a file; raises SpecificationError where the file is not part of the suite."""
        if not path.resolve().is_relative_to(self._suite.root / "transitions"):
            problem = Problem(
                Place(str(path)),
                f"is not a case of the suite {self._suite.root}",
                "a suite reads the cases under its own transitions/",
            )
            raise SpecificationError([problem])
        return self._suite.cases[read_yaml(path).value["case"]]

    def trials(self, case: LoadedCase) -> Sequence[TrialPlan]:
        """Return the trials of a case, none where no agent has anything to do; raises SpecificationError."""
        suite, names = self._suite, self._options.agents
        agents = [suite.agent(name) for name in names] or suite.controls()
        if agents and not any(agent.takes(case) for agent in agents):
            return ()
        trials = make_plan(suite, RunRequest((case.name,), names, seed=self._options.seed)).trials
        self._trials += trials
        return trials

    @cached_property
    def canaries(self) -> Canaries:
        """The canaries of every trial that was collected."""
        return Canaries(self._trials)

    def run(self, trial: TrialPlan) -> dict[str, JSON]:
        """Run and judge one trial; returns its line of ``verdicts.jsonl``. Raises HarnessError."""
        outcome = run_trial(self._bench, self._folder, trial)
        with self._folder.appending(self._folder.diagnostics, private=True) as raw:
            for entry in outcome.diagnostics:
                raw.write({"trial": trial.name, **entry})
        return outcome.line

    def complaint(self, case: LoadedCase, line: Mapping[str, JSON]) -> str | None:
        """Say what is wrong with a trial; None where it passed, or where a control behaved as it declares."""
        if self._options.agents:
            return None if line["verdict"] == Verdict.PASS else findings_text(line, self._options.suite)
        expected = expected_of_control(self._suite, case, line)
        if expected is None:
            return None
        head = f"{line['trial']}: expected {expected}, got {line['verdict']}"
        return f"{head}\n{findings_text(line, self._options.suite)}".rstrip()


class CaseSession:
    """The suites of one session. ``make_folder`` gives each a folder of its own for its records."""

    def __init__(self, options: Options, make_folder: Callable[[], Path]) -> None:
        self.pending: set[str] = set()
        self.sweeps: set[str] = set()
        """Names of the cases that were found and cannot be run yet."""
        self._options = options
        self._make_folder = make_folder
        self._fixtures: dict[Path, Mapping[Path, LoadedFixture]] = {}
        self._fixture_bench: FixtureBench | None = None
        self._benches: dict[Path, SuiteBench | SpecificationError] = {}
        self._told: set[Problem] = set()

    def bench(self, path: Path) -> SuiteBench:
        """Return the suite of a case file; raises SpecificationError with all problems of that suite."""
        root = self._options.suite or _root_above(path)
        if root not in self._benches:
            self._benches[root] = self._opened(root)
        bench = self._benches[root]
        if isinstance(bench, SpecificationError):
            raise bench
        return bench

    def _opened(self, root: Path) -> SuiteBench | SpecificationError:
        try:
            suite = load_suite(root)
        except SpecificationError as error:
            return error
        folder = RunFolder(self._make_folder())
        folder.prepare(1)
        return SuiteBench(suite, folder, self._options)

    def fixture(self, path: Path) -> LoadedFixture | None:
        """Return the fixture of a file, None where another suite is tested; raises SpecificationError."""
        root = self._options.suite or _root_above(path)
        if root not in self._fixtures:
            self._fixtures[root] = {loaded.path.resolve(): loaded for loaded in load_fixtures(root).values()}
        return self._fixtures[root].get(path.resolve())

    def run_fixture(self, loaded: LoadedFixture) -> FixtureResult:
        """Run one fixture; all of them share an HTTP client."""
        if self._fixture_bench is None:
            self._fixture_bench = FixtureBench()
        return self._fixture_bench.run(loaded.fixture)

    def told(self, error: SpecificationError, path: Path) -> str:
        """Return the problems as text: those of the file itself, and any that no other file has told yet."""
        problems = [problem for problem in error.problems if problem not in self._told or _is_in(problem, path)]
        self._told.update(problems)
        if not problems:
            return "its suite cannot be used; the problems are those of the files above"
        return str(SpecificationError(problems))


def _is_in(problem: Problem, path: Path) -> bool:
    """Whether a problem stands in a file, however short the problem names it."""
    parts = Path(problem.place.file).parts
    return path.parts[-len(parts) :] == parts


def _root_above(path: Path) -> Path:
    for folder in path.resolve().parents:
        if all((folder / name).is_dir() for name in CONTENT_FOLDERS):
            return folder
    wanted = ", ".join(f"{name}/" for name in CONTENT_FOLDERS)
    problem = Problem(
        Place(str(path)), f"belongs to no suite: no folder above it holds {wanted}", "use --unacked-suite"
    )
    raise SpecificationError([problem])
