"""Checking a stored run: that nothing in it was changed, and that its verdicts follow from its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from unacked.canonical import JSON
from unacked.claims import Brief, judge_trial, side_name
from unacked.engine.folder import RunFolder, manifest_digest
from unacked.engine.leaks import TrialCanaries, clean_verdict
from unacked.engine.verdicts import read_verdicts, verdict_chain
from unacked.errors import RecordError
from unacked.suite import Suite
from unacked.trail import TrialName, read_history, read_record

__all__ = ["Difference", "rejudge", "side_of", "verify"]


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
    seal = _seal(folder, manifest)
    if manifest_digest(manifest) != seal["manifest"] or not folder.manifest_is_as_written:
        raise RecordError(f"{folder.path / 'manifest.json'}:1: the manifest was changed after it was sealed")
    _verify_files(folder, seal["files"])
    run, planned = manifest["run"], manifest["plan"]["trials"]
    known = {folder.path / name for name in seal["files"]}
    trials, chain = 0, verdict_chain(folder, run)
    for trials, line in enumerate(chain, start=1):  # noqa: B007 - the last number is wanted
        known.add(_verify_trial(folder, run, line))
    if trials != planned:
        raise RecordError(f"{folder.verdicts}:{trials}: {trials} trials, but the plan has {planned}")
    if chain.head != seal["verdicts"]:
        raise RecordError(f"{folder.verdicts}:{trials}: the last line is not the one that was sealed")
    for path in folder.files("events"):
        if path not in known:
            raise RecordError(f"{path}: the file is surplus; it belongs to no trial of this run")
    return trials


def _seal(folder: RunFolder, manifest: dict[str, JSON]) -> dict[str, JSON]:
    seal = manifest.get("seal")
    if seal is None:
        raise RecordError(f"{folder.path}: the run is not sealed: it was interrupted, or is still at work")
    kinds = {"files": dict, "manifest": str, "verdicts": str}
    if not isinstance(seal, dict) or {name: type(value) for name, value in seal.items()} != kinds:
        raise RecordError(f"{folder.path / 'manifest.json'}:1: the seal is damaged")
    return seal


def _verify_files(folder: RunFolder, sealed: dict[str, JSON]) -> None:
    present = folder.file_digests()
    for name in sorted({*present, *sealed}):
        if present.get(name) != sealed.get(name):
            what = "is missing" if name not in present else "was changed" if name in sealed else "is surplus"
            raise RecordError(f"{folder.path / name}: the file {what}; the run was sealed with other files")


def _verify_trial(folder: RunFolder, run: str, line: dict[str, JSON]) -> Path:
    """Verify the record of one trial and return its file."""
    events = folder.events(line["index"], line["trial"])
    name = TrialName(run, line["trial"], line["case"])
    history, head = read_record(events, name)
    if head != line["events"]:
        raise RecordError(f"{events}:{len(history)}: the record ends before the line that was sealed")
    return events


def rejudge(folder: RunFolder, suite: Suite) -> Iterator[tuple[dict[str, JSON], Difference | None]]:
    """Judge every stored trial again, running nothing; yields the new line and how it differs, if it does."""
    manifest = folder.manifest()
    run = manifest["run"]
    for line in read_verdicts(folder, run):
        name = TrialName(run, line["trial"], line["case"])
        history = read_history(folder.events(line["index"], line["trial"]), name)
        canaries = TrialCanaries(manifest["seed"], line["case"], line["agent"], line["repeat"])
        today = clean_verdict(canaries, judge_trial(side_of(folder, suite, line), history))
        difference = None
        if any(line.get(key) != value for key, value in today.items()):
            difference = Difference(line["trial"], _told(line), _told(today))
        yield {**line, **today}, difference


def side_of(folder: RunFolder, suite: Suite, line: Mapping[str, JSON]) -> Brief:
    """Return the side of the case that a stored trial was of; raises RecordError where the suite lacks it."""
    try:
        return suite.cases[line["case"]].side(twin=line["twin"], place=line["place"])
    except KeyError:
        side = side_name(line["case"], line["place"], twin=line["twin"])
        raise RecordError(f"{folder.path}: {suite.root} no longer holds {side}") from None


def _told(line: Mapping[str, JSON]) -> str:
    """A verdict with every rule behind it."""
    claims = (*line["claims"].values(), line["exercised"])
    rules = [finding["rule"] for claim in claims for finding in claim["findings"]]
    return " ".join([line["verdict"], *rules])
