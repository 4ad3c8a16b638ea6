"""The incidents of a suite: adding one that was verified, listing them, and retiring one with its reason."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from unacked.canonical import JSON
from unacked.document import Document, read_yaml
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.incident.rehearse import case_document
from unacked.incident.verify import verify
from unacked.incident.written import written
from unacked.suite import Suite

__all__ = ["Held", "add", "held", "retire"]

_RETIRED = ".retired.yaml"


@dataclass(frozen=True, slots=True)
class Held:
    """One incident of a suite; ``retired`` is the reason why it is run no longer."""

    path: Path
    case: str
    title: str
    source: str
    caught: str
    retired: str | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the incident as a JSON object."""
        return {
            "case": self.case,
            "title": self.title,
            "source": self.source,
            "caught": self.caught,
            "file": self.path.name,
            "retired": self.retired,
        }


def add(suite: Suite, document: Document, *, source: str, day: dt.date, slug: str | None = None) -> Path:
    """Verify a case and write it among the suite's incidents; returns where it stands now.

    Raises SpecificationError where it cannot be verified, or its name is taken; then nothing was written.
    """
    value = dict(document.value)
    slug = _slug(slug or str(value.get("case", "")).removeprefix("I-"))
    folder = suite.root / "transitions" / "incidents"
    path = folder / f"{day.isoformat()}-{slug}.case.yaml"
    value |= {"case": f"I-{slug}", "incident": _with_source(value.get("incident", {}), source, day)}
    known = suite.cases.get(value["case"])
    if known is not None or path.exists():
        itself = known is not None and known.document.value == document.value
        hint = "it is this very one: there is nothing to add" if itself else "give another --slug"
        raise _refused(document.file, f"the suite has a case {value['case']!r} already", hint)
    verification = verify(suite, case_document(value, document.file))
    if not verification.holds:
        raise SpecificationError(
            Problem(
                Place(document.file), f"is not verified: {check.what}: {check.seen}", "see: unacked incident verify"
            )
            for check in verification.checks
            if not check.holds
        )
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(written(value))
    return path


def held(suite: Suite) -> list[Held]:
    """Return the incidents of a suite, those that were retired last."""
    found = [*_held(suite), *_retired(suite.root / "transitions")]
    return sorted(found, key=lambda each: (each.retired is not None, each.path))


def retire(suite: Suite, name: str, reason: str, day: dt.date) -> Path:
    """Take an incident out of the suite and keep its file with the reason; returns where it stands now.

    Raises SpecificationError where there is no such incident, or other cases extend it.
    """
    known = {each.case: each for each in held(suite) if each.retired is None}
    if name not in known:
        raise _refused(name, "no such incident", nearest(name, known))
    heirs = [case.name for case in suite.cases.values() if case.file.extends == name]
    if heirs:
        raise _refused(name, f"{', '.join(heirs)} extend it", "retire them first")
    path = known[name].path
    target = path.with_name(path.name.removesuffix(".case.yaml") + _RETIRED)
    text = path.read_text(encoding="utf-8")
    head = written({"retired": {"reason": reason, "on": day.isoformat()}})
    with target.open("x", encoding="utf-8") as file:
        file.write(f"{head}{text}")
    path.unlink()
    return target


def _held(suite: Suite) -> Iterator[Held]:
    for path in sorted((suite.root / "transitions").rglob("*.case.yaml")):
        case = suite.cases[read_yaml(path).value["case"]]
        if case.file.incident is not None:
            yield Held(path, case.name, case.file.title, case.file.incident.source, case.file.incident.caught)


def _retired(folder: Path) -> Iterator[Held]:
    for path in sorted(folder.rglob(f"*{_RETIRED}")):
        value = read_yaml(path).value
        if not isinstance(value, dict) or not isinstance(value.get("retired"), dict):
            raise _refused(str(path), "is no retired incident", "it was changed by hand: mend it, or take it away")
        incident = value.get("incident") or {}
        case, title = (str(value.get(name, "")) for name in ("case", "title"))
        source, caught = (str(incident.get(name, "")) for name in ("source", "caught"))
        yield Held(path, case, title, source, caught, str(value["retired"].get("reason", "")))


def _with_source(incident: Mapping[str, JSON], source: str, day: dt.date) -> dict[str, JSON]:
    provenance = incident.get("provenance")
    dated = {} if provenance is None else {"provenance": {**provenance, "added": day.isoformat()}}
    return {**incident, "source": source, **dated}


def _slug(text: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].rstrip("-")
    if not slug:
        raise _refused(text, "cannot be made a name of", "use letters and digits")
    return slug


def _refused(file: str, message: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place(file), message, hint)])
