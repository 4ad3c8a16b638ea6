"""Adapter files: the commands by which an orchestrator is driven, and what is claimed of it."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from unacked.canonical import dumps
from unacked.conformance.checks import CHECKS
from unacked.content import load_content
from unacked.document import Document, parse_yaml, read_yaml, validate
from unacked.errors import HarnessError, Place, Problem, SpecificationError, nearest

__all__ = ["CAPABILITIES", "PLACEHOLDERS", "Adapter", "AdapterFile", "Verb", "load_adapter", "shipped_adapters"]

SHIPPED = Path(__file__).with_name("adapters")

CAPABILITIES: Mapping[str, str] = {
    "order": "a step runs after those that it depends on, and is handed their values",
    "parallel": "steps that do not depend on each other run at the same time",
    "condition": "a step runs only where an earlier one gave a certain value",
    "propagation": "what depends on a failed step is skipped, or runs all the same where it says so",
    "cap": "no more steps at once than the plan allows",
    "ageing": "a step of low priority waits no longer than wait_bound_s, whatever comes before it",
    "resume": "a run whose command was killed goes on from where it was",
    "lease": "another worker takes over from a dead one within lease_s, without being told",
    "retry": "a failed step is tried again after growing delays",
    "jitter": "delays between attempts vary",
    "dead_letter": "a step that has used up its attempts ends where somebody finds it",
    "timer": "a step can be made to wait for a time",
    "step_timeout": "a step has a time limit",
    "run_timeout": "a run has a time limit",
    "cancel": "a run can be cancelled",
    "saga": "what was done is taken back, in reverse order, when the run fails",
}
"""What an orchestrator can be claimed to do; what is not claimed is not tested."""

PLACEHOLDERS: Mapping[str, str] = {
    "python": "the interpreter that runs unacked",
    "here": "the folder of the adapter file",
    "plan": "the plan's file, JSON",
    "run": "the run's id",
    "state": "a folder for the run's state, the same for all of its commands",
    "port": "the port on which the service was told to listen",
}

Verb = Literal["start", "resume", "cancel", "worker"]
_Argv = Annotated[list[str], Field(min_length=1)]
_NEEDS: Mapping[str, Sequence[Verb]] = {
    "resume": ("resume", "worker"),
    "lease": ("worker",),
    "cancel": ("cancel",),
}
"""Claims that cannot be tested without one of some commands."""
_NUMBERS = {"lease": "lease_s", "ageing": "wait_bound_s"}
"""Claims that hold within a number of seconds, and the key that gives it."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Commands(_Strict):
    """Commands as lists of words, in which ``{plan}`` and the like are replaced.

    ``start`` begins a run; it carries it out itself, or only submits it where ``worker`` carries it out. ``resume``
    goes on with a run whose command was killed; without it a new worker does. ``service`` runs as long as the checks.
    """

    start: _Argv
    resume: _Argv | None = None
    cancel: _Argv | None = None
    worker: _Argv | None = None
    service: _Argv | None = None


class AdapterFile(_Strict):
    """One orchestrator: how it is driven, and what is claimed of it.

    ``requires`` are the Python distributions that its commands need. ``notes`` say by check how the orchestrator is
    asked for what is checked, where there is more than one way. ``beat_s`` is the unit of all times in the plans,
    ``start_s`` what a command takes until it does something; no wait lasts longer than ``patience_s`` and the claims.
    """

    orchestrator: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
    about: str = ""
    requires: list[str] = Field(default_factory=list)
    notes: dict[str, str] = Field(default_factory=dict)
    commands: Commands
    claims: Annotated[list[str], Field(min_length=1)]
    lease_s: Annotated[float, Field(gt=0)] | None = None
    wait_bound_s: Annotated[float, Field(gt=0)] | None = None
    beat_s: Annotated[float, Field(ge=0.05, le=10)] = 0.25
    start_s: Annotated[float, Field(ge=0, le=60)] = 1.0
    patience_s: Annotated[float, Field(ge=1, le=600)] = 30.0


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter file that was read, and the folder that it stands in."""

    file: AdapterFile
    here: Path

    @property
    def name(self) -> str:
        """The orchestrator's name."""
        return self.file.orchestrator

    def versions(self) -> dict[str, str]:
        """The versions of the distributions that its commands need, as far as they are installed."""
        return {name: found for name in self.file.requires if (found := _version(name)) is not None}

    def insist_on_packages(self) -> None:
        """Raise HarnessError unless everything that its commands need is installed."""
        missing = [name for name in self.file.requires if _version(name) is None]
        if missing:
            raise HarnessError(f"needs {', '.join(missing)}: install it with: pip install {' '.join(missing)}")

    def argv(self, verb: str, values: Mapping[str, str]) -> list[str]:
        """Return the words of a command."""
        template: list[str] = getattr(self.file.commands, verb)
        known = {"python": sys.executable, "here": str(self.here), **values}
        return [_PLACE.sub(lambda found: known[found[1]], word) for word in template]


_PLACE = re.compile(r"\{(\w+)\}")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def shipped_adapters() -> dict[str, Path]:
    """The adapter files that come with unacked, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.yaml"))}


def load_adapter(named: str) -> Adapter:
    """Read an adapter: the name of a shipped one, or the path of a YAML file or of a Python file with ``ADAPTER``.

    Raises SpecificationError with every problem of the file.
    """
    shipped = shipped_adapters()
    path = shipped.get(named, Path(named))
    if named not in shipped and not path.is_file():
        message = f"no such file, and no adapter of that name: {named!r}"
        raise SpecificationError([Problem(Place("adapter"), message, nearest(named, shipped))])
    document = _from_python(path) if path.suffix == ".py" else read_yaml(path)
    file = validate(AdapterFile, document)
    problems = list(_problems(document, file))
    if problems:
        raise SpecificationError(problems)
    return Adapter(file, path.resolve().parent)


def _from_python(path: Path) -> Document:
    """Return the ``ADAPTER`` of a Python file as a document, all of which stands at the file."""
    written = getattr(load_content(path), "ADAPTER", None)
    if not isinstance(written, dict):
        hint = 'ADAPTER = {"orchestrator": "mine", "commands": {"start": [...]}, "claims": ["order"]}'
        raise SpecificationError([Problem(Place(str(path)), "defines no mapping 'ADAPTER'", hint)])
    try:
        document = parse_yaml(dumps(written), str(path))
    except (TypeError, ValueError) as error:
        raise SpecificationError([Problem(Place(str(path)), f"'ADAPTER' holds more than JSON can: {error}")]) from None
    return Document(str(path), document.value, {}, {})


def _problems(document: Document, file: AdapterFile) -> Iterator[Problem]:
    for index, claim in enumerate(file.claims):
        if claim not in CAPABILITIES:
            yield document.problem(("claims", index), f"unknown capability {claim!r}", nearest(claim, CAPABILITIES))
        elif claim in file.claims[:index]:
            yield document.problem(("claims", index), f"{claim!r} is claimed twice", "keep one of the two")
        elif (needs := _NEEDS.get(claim)) and not any(getattr(file.commands, verb) for verb in needs):
            wanted = " or ".join(repr(verb) for verb in needs)
            yield document.problem(("claims", index), f"{claim!r} is claimed, but commands has no {wanted}")
    yield from _number_problems(document, file)
    for check in [name for name in file.notes if name not in CHECKS]:
        yield document.key_problem(("notes", check), f"no check {check!r}", nearest(check, CHECKS))
    for verb in Commands.model_fields:
        yield from _command_problems(document, file, verb)


def _number_problems(document: Document, file: AdapterFile) -> Iterator[Problem]:
    for claim, key in _NUMBERS.items():
        if claim in file.claims and getattr(file, key) is None:
            yield document.problem((), f"{claim!r} is claimed, but {key!r} is missing", f"{key}: 2.0")
        elif claim not in file.claims and getattr(file, key) is not None:
            yield document.key_problem((key,), f"{key!r} is given, but {claim!r} is not claimed")


def _command_problems(document: Document, file: AdapterFile, verb: str) -> Iterator[Problem]:
    known = [*PLACEHOLDERS] if verb != "service" else ["python", "here", "state", "port"]
    if file.commands.service is None:
        known.remove("port")
    for index, word in enumerate(getattr(file.commands, verb) or ()):
        for name in _PLACE.findall(word):
            if name not in known:
                location = ("commands", verb, index)
                yield document.problem(location, f"nothing is put in for {{{name}}} here", nearest(name, known))
