"""What RUN or RUN:AGENT on the command line means: one agent of a stored run."""

from __future__ import annotations

from pathlib import Path

from unacked.compare import Side, read_side
from unacked.engine import Canaries, RunFolder, find_run, read_verdicts
from unacked.errors import SpecificationError

__all__ = ["canaries_of", "open_side"]


def open_side(name: str, out: Path) -> tuple[RunFolder, Side]:
    """Return a run and the side that ``name`` means; raises SpecificationError where it means nothing, or several."""
    try:
        folder, agent = find_run(name, out), None
    except SpecificationError:
        run, colon, agent = name.rpartition(":")
        if not colon:
            raise
        folder = find_run(run, out)
    return folder, read_side(folder, agent)


def canaries_of(*folders: RunFolder) -> Canaries:
    """Return the canaries of all trials of some stored runs."""
    manifests = [(folder, folder.manifest()) for folder in folders]
    return Canaries.of_runs(
        (manifest["seed"], read_verdicts(folder, manifest["run"])) for folder, manifest in manifests
    )
