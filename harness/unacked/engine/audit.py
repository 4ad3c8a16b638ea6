"""Checking a stored run: that nothing in it was changed, and that its verdicts follow from its record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.claims import judge_trial
from unacked.engine.folder import RunFolder, manifest_digest
from unacked.engine.verdicts import read_verdicts
from unacked.errors import RecordError
from unacked.suite import Suite
from unacked.trail import TrialName, head_of, read_history

__all__ = ["Difference", "rejudge", "verify"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A trial whose verdict today is not the stored one."""

    trial: str
    stored: str
    today: str


def verify(folder: RunFolder) -> int:
    """Verify a sealed run without any key and return the number of its trials.

    Raises RecordError that names the file, and the line where the file has lines, of the first change.
    """
    manifest = folder.manifest()
    seal = manifest.get("seal")
    if not isinstance(seal, dict):
        raise RecordError(f"{folder.path}: the run is not sealed: it was interrupted, or is still at work")
    if manifest_digest(manifest) != seal.get("manifest"):
        raise RecordError(f"{folder.path / 'manifest.json'}:1: the manifest was changed after it was sealed")
    present, stored = folder.file_digests(), seal["files"]
    for name in sorted({*present, *stored}):
        if present.get(name) != stored.get(name):
            what = "was changed" if name in present and name in stored else "is missing or surplus"
            raise RecordError(f"{folder.path / name}: the file {what} after the run was sealed")
    count = 0
    for line in read_verdicts(folder, manifest["run"]):
        _verify_trial(folder, manifest["run"], line)
        count += 1
    if count != manifest["plan"]["trials"]:
        raise RecordError(f"{folder.verdicts}:{count}: {count} trials, but the plan has {manifest['plan']['trials']}")
    if head_of(folder.verdicts, f"{manifest['run']}/verdicts") != seal["verdicts"]:
        raise RecordError(f"{folder.verdicts}:{count}: the last line is not the one that was sealed")
    return count


def _verify_trial(folder: RunFolder, run: str, line: dict[str, JSON]) -> None:
    events = folder.events(line["index"], line["trial"])
    name = TrialName(run, line["trial"], line["case"])
    history = read_history(events, name)
    if head_of(events, name.origin) != line["events"]:
        raise RecordError(f"{events}:{len(history)}: the record ends before the line that was sealed")


def rejudge(folder: RunFolder, suite: Suite) -> Iterator[tuple[dict[str, JSON], Difference | None]]:
    """Judge every stored trial again, running nothing; yields the new line and how it differs, if it does."""
    run = folder.manifest()["run"]
    for line in read_verdicts(folder, run):
        if line["case"] not in suite.cases:
            raise RecordError(f"{folder.path}: the suite no longer holds the case {line['case']!r}")
        name = TrialName(run, line["trial"], line["case"])
        history = read_history(folder.events(line["index"], line["trial"]), name)
        today = judge_trial(suite.cases[line["case"]].side(twin=line["twin"]), history).as_json()
        changed = {key: value for key, value in today.items() if line.get(key) != value}
        difference = None
        if changed:
            difference = Difference(
                line["trial"], f"{line['verdict']} {line['rule']}", f"{today['verdict']} {today['rule']}"
            )
        yield {**line, **today}, difference
