"""Retention: old runs go, newest first stay, and what somebody may still need is never touched."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from unacked.engine.folder import RunFolder
from unacked.errors import HarnessError, Place, Problem, RecordError, SpecificationError

__all__ = ["Retained", "prunable", "prune"]

_BASELINES = "baselines"
_LEAVING = ".pruned-"
"""How a folder is called while it is being removed: no run any more, even where that is interrupted."""


@dataclass(frozen=True, slots=True)
class Retained:
    """What becomes of the runs of a folder: which may go, the oldest first, which stay, and which stay why anyway."""

    leaving: list[RunFolder]
    newest: list[RunFolder]
    untouched: dict[str, str]


def prunable(out: Path, keep: int) -> Retained:
    """Return which runs under ``out`` may go if the newest ``keep`` finished ones stay.

    Baselines are not looked at. A run that is not finished, or not readable, stays: nobody can say what it is worth.
    Raises SpecificationError where ``out`` is itself a folder of baselines.
    """
    if out.resolve().name == _BASELINES:
        raise SpecificationError([Problem(Place(str(out)), "holds baselines", "name the folder above it")])
    finished: list[tuple[str, str, RunFolder]] = []
    untouched: dict[str, str] = {}
    for folder in _runs(out):
        try:
            manifest = folder.manifest()
        except RecordError:
            untouched[folder.name] = "is not readable by this version"
            continue
        if manifest["seal"] is None:
            untouched[folder.name] = "is not finished"
        else:
            finished.append((str(manifest.get("created", "")), folder.name, folder))
    finished.sort(key=lambda item: item[:2])
    folders = [folder for _, _, folder in finished]
    cut = max(0, len(folders) - keep)
    return Retained(folders[:cut], folders[cut:], untouched)


def _runs(out: Path) -> Iterator[RunFolder]:
    """Every run right below ``out``; links and other folders are none."""
    if out.is_dir():
        for path in sorted(out.iterdir()):
            if path.name != _BASELINES and not path.name.startswith(".") and not path.is_symlink():
                folder = RunFolder(path)
                if folder.is_begun:
                    yield folder


def prune(out: Path, retained: Retained) -> None:
    """Remove the runs that leave, and what an interrupted pruning left over; raises HarnessError.

    A run that another process holds is an error, and so are all after it.
    """
    try:
        for folder in retained.leaving:
            with folder.locked():
                folder.path.rename(folder.path.with_name(f"{_LEAVING}{folder.name}"))
        for path in sorted(out.glob(f"{_LEAVING}*")):
            shutil.rmtree(path)
    except OSError as error:
        raise HarnessError(f"{error.filename}: cannot be removed: {error.strerror}") from None
