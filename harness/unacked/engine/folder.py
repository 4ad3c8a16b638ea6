"""A run folder: where each part of a run's record stands, and how it is locked, sealed and read."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO

from unacked import __version__
from unacked.canonical import JSON, InvalidJSON, digest, dumps, loads
from unacked.engine.lines import LineFile
from unacked.errors import HarnessError, Place, Problem, RecordError, SpecificationError, nearest
from unacked.suite import Suite

__all__ = ["FORMAT", "RunFolder", "find_run"]

FORMAT = 1
"""Version of the run folder's layout and formats; other versions are refused with a reason."""

_TRIALS_PER_FOLDER = 1000
_MANIFEST = ("run", "seed", "pins", "plan", "seal")
_CHAINED = frozenset({"manifest.json", "verdicts.jsonl", ".lock", ".workers"})
"""Files that are not in the seal's list: the seal itself, a chain, and locks, which are always empty."""
_JOURNAL = "journal.db"
"""Where trials are, while the run is at work: no evidence, and SQLite changes the files when it only reads them."""
_POLL_S, _WORKERS_POLLS = 0.02, 500
"""How often it is looked whether workers have noticed that their first process is gone."""
_ENVIRONMENT = ("h11", "httpcore2", "httpx2", "networkx", "pydantic", "PyYAML")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run on disk; see the layout in ARCHITECTURE."""

    path: Path

    @property
    def name(self) -> str:
        """The folder's name, by which the run is known on the command line."""
        return self.path.name

    @property
    def suite(self) -> Path:
        """The copy of the suite that the run really used."""
        return self.path / "suite"

    @property
    def verdicts(self) -> Path:
        """One object a trial, chained, in the order of the plan."""
        return self.path / "verdicts.jsonl"

    @property
    def timings(self) -> Path:
        """The only file with wall-clock times; it is no evidence."""
        return self.path / "timings.jsonl"

    @property
    def summary(self) -> Path:
        """The run in numbers."""
        return self.path / "summary.json"

    @property
    def journal(self) -> Path:
        """The states of the trials; it is no evidence, so it is not sealed."""
        return self.path / _JOURNAL

    @property
    def _manifest(self) -> Path:
        return self.path / "manifest.json"

    def events(self, index: int, trial: str) -> Path:
        """Where a trial's events stand."""
        return self.path / f"events/{index // _TRIALS_PER_FOLDER:03d}/{trial}.jsonl"

    @property
    def diagnostics(self) -> Path:
        """The raw errors of all trials, readable by their owner only."""
        return self.path / "diagnostics.jsonl"

    @property
    def is_begun(self) -> bool:
        """Whether the run has a manifest."""
        return self._manifest.is_file()

    def claim(self) -> bool:
        """Make the run's folder; False where it was there already. Raises HarnessError."""
        try:
            self.path.mkdir(parents=True)
        except OSError as error:
            if isinstance(error, FileExistsError) and self.path.is_dir():
                return False
            raise HarnessError(f"{self.path}: cannot be made: {error.strerror}") from None
        return True

    def strangers(self) -> list[str]:
        """Return what stands in the folder and was not left there by the beginning of a run."""
        return sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))

    def prepare(self, trials: int) -> None:
        """Make the folders that ``trials`` trials need; raises HarnessError where that cannot be done."""
        try:
            for number in range((trials - 1) // _TRIALS_PER_FOLDER + 1):
                (self.path / "events" / f"{number:03d}").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HarnessError(f"{error.filename}: cannot be made: {error.strerror}") from None

    def suite_unlike(self, other: Path) -> Path | None:
        """Return the run's own copy of its suite where any of its files is not the same in another; else None."""
        for path in self.suite.rglob("*"):
            twin = other / path.relative_to(self.suite)
            if path.is_file() and not (twin.is_file() and twin.read_bytes() == path.read_bytes()):
                return self.suite
        return None

    def keep_suite(self, suite: Suite) -> bool:
        """Copy the suite into the run, whole or not at all; False where it was there. Raises HarnessError."""
        if self.suite.is_dir():
            return False
        partial = self.path / ".suite"
        try:
            if partial.is_dir():
                shutil.rmtree(partial)
            suite.copy_to(partial)
            partial.rename(self.suite)
        except OSError as error:
            raise HarnessError(f"{self.suite}: cannot be written: {error}") from None
        return True

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process; the kernel frees it however the process ends."""
        with self._opened(".lock") as file:
            if not self._lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
                raise HarnessError(f"{self.path}: another process is at work on this run")
            yield

    @contextmanager
    def worked_in(self) -> Iterator[None]:
        """Let nobody who goes on with the run begin before this process, a worker of it, is gone."""
        with self._opened(".workers") as file:
            self._lock(file, fcntl.LOCK_SH)
            yield

    def outlive_workers(self) -> None:
        """Wait until no worker of an earlier part of the run is left; raises HarnessError where one stays.

        Its first process may have been killed a moment ago, and its workers may not have noticed yet.
        """
        with self._opened(".workers") as file:
            for _ in range(_WORKERS_POLLS):
                if self._lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    return
                time.sleep(_POLL_S)
        raise HarnessError(f"{self.path}: a worker of an earlier part of this run is still at work")

    def _opened(self, name: str) -> IO[str]:
        """Open a file to be locked, which stays empty."""
        try:
            return (self.path / name).open("w")
        except OSError as error:
            raise self._unlockable(error) from None

    def _lock(self, file: IO[str], how: int) -> bool:
        """Lock a file until it is closed; False where somebody else has a lock on it."""
        try:
            fcntl.flock(file, how)
        except BlockingIOError:
            return False
        except OSError as error:
            raise self._unlockable(error) from None
        return True

    def _unlockable(self, error: OSError) -> HarnessError:
        return HarnessError(f"{self.path}: cannot be locked: {error.strerror}")

    def appending(self, path: Path, *, private: bool = False) -> LineFile:
        """Append to one of the files that are not chained."""
        return LineFile(path, private=private)

    def write_manifest(self, manifest: Mapping[str, JSON]) -> None:
        """Write the manifest whole or not at all."""
        self.write_json(self._manifest, manifest)

    def manifest(self) -> dict[str, JSON]:
        """Read the manifest; raises RecordError where it is missing, unreadable or of another version."""
        manifest = self.read_json(self._manifest)
        if manifest.get("format") != FORMAT:
            raise RecordError(
                f"{self._manifest}: format {manifest.get('format')!r} is not readable by this version"
                f" (it reads {FORMAT}); it was written by unacked {manifest.get('version')}"
            )
        missing = [name for name in _MANIFEST if name not in manifest]
        if missing:
            raise RecordError(f"{self._manifest}: the manifest is damaged: it has no {', '.join(missing)}")
        return manifest

    @property
    def manifest_is_as_written(self) -> bool:
        """Whether the manifest is, byte for byte, what this version writes for its content."""
        return self._manifest.read_bytes() == f"{dumps(self.manifest())}\n".encode()

    @staticmethod
    def read_json(path: Path) -> dict[str, JSON]:
        """Read one JSON object; raises RecordError."""
        try:
            value = loads(path.read_bytes())
        except OSError as error:
            raise RecordError(f"{path}: cannot be read: {error.strerror}") from None
        except InvalidJSON as error:
            raise RecordError(f"{path}: {error}") from None
        if not isinstance(value, dict):
            raise RecordError(f"{path}: expected a JSON object")
        return value

    @staticmethod
    def write_json(path: Path, value: Mapping[str, JSON]) -> None:
        """Write one JSON object atomically; raises HarnessError."""
        partial = _partial(path)
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                file.write(dumps(dict(value)) + "\n")
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise HarnessError(f"{path}: cannot be written: {error.strerror}") from None

    def seal(self, verdicts_head: str) -> None:
        """Close the record: nothing of it can change from now on without being seen."""
        manifest = self.manifest()
        with suppress(OSError):
            _partial(self._manifest).unlink()  # of a seal in the middle of which the run was killed
        manifest["seal"] = {
            "verdicts": verdicts_head,
            "files": self.file_digests(),
            "manifest": manifest_digest(manifest),
        }
        self.write_manifest(manifest)

    def file_digests(self) -> dict[str, JSON]:
        """Digests of all files but those that are chained, and of none that was put there by another name."""
        digests: dict[str, JSON] = {}
        for path in sorted(self.path.rglob("*")):
            name = str(path.relative_to(self.path))
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise RecordError(f"{path}: is no plain file; nothing in a run is")
            chained = name in _CHAINED or (name.startswith("events/") and path.suffix == ".jsonl")
            if path.is_file() and not chained and not name.startswith(("reports/", _JOURNAL)):
                digests[name] = file_digest(path)
        return digests

    def files(self, folder: str, pattern: str = "*") -> list[Path]:
        """Return the files below one of the run's folders, in the order of their names."""
        return sorted(path for path in (self.path / folder).rglob(pattern) if path.is_file())


def _partial(path: Path) -> Path:
    """Where a file stands until it is whole."""
    return path.with_name(f".{path.name}")


def manifest_digest(manifest: Mapping[str, JSON]) -> str:
    """Digest of a manifest without its seal."""
    return digest({key: value for key, value in manifest.items() if key != "seal"})


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes; raises RecordError."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from None


def environment(packages: Iterable[str] = ()) -> dict[str, JSON]:
    """Versions that are recorded beside the pins: a difference is a warning, not another run.

    ``packages`` are those that the run's agents need besides our own.
    """
    return {
        "unacked": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "packages": {name: version(name) for name in (*_ENVIRONMENT, *packages)},
    }


def find_run(name: str, out: Path) -> RunFolder:
    """Return the run that a path or a name under ``out`` means; raises SpecificationError with the nearest name."""
    for path in (Path(name), out / name):
        if (path / "manifest.json").is_file():
            return RunFolder(path)
    known = [path.parent.name for path in out.glob("*/manifest.json")] if out.is_dir() else []
    raise SpecificationError([Problem(Place("unacked"), f"there is no run {name!r} in {out}", nearest(name, known))])
