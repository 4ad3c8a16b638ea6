"""Opening a run: a new folder, or the one that is to be resumed, if it holds this very plan."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from unacked import __version__
from unacked.agents import package_of
from unacked.canonical import JSON
from unacked.engine.folder import FORMAT, RunFolder, environment
from unacked.engine.plan import Plan, identity
from unacked.engine.trials import kept_suite
from unacked.errors import Place, Problem, SpecificationError
from unacked.suite import Suite

__all__ = ["open_run"]

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def open_run(suite: Suite, plan: Plan, out: Path, run_id: str | None) -> RunFolder:
    """Return the folder of a run: a new one, or the one named ``run_id`` if it holds this very plan.

    Raises SpecificationError where the named run is of another plan, or the name is no name for a run.
    """
    folder = _fresh_folder(out, plan) if run_id is None else _named_folder(out, run_id)
    with folder.locked():
        if not folder.is_begun:
            folder.write_manifest(_manifest(plan))
        manifest = folder.manifest()
        if manifest["run"] != plan.run:
            changed = ", ".join(_changes(_identity(manifest), plan.identity))
            raise _refused(folder, f"this run has another plan, so it cannot be resumed (changed: {changed})")
        if manifest["seal"] is None:
            folder.prepare(len(plan.trials))
            if folder.keep_suite(suite):  # what was copied may be younger than what was read
                kept_suite(folder, plan)
    return folder


def _manifest(plan: Plan) -> dict[str, JSON]:
    return {
        "format": FORMAT,
        "version": __version__,
        "run": plan.run,
        "seed": plan.request.seed,
        "pins": plan.pins,
        "plan": plan.as_json(),
        "environment": environment(_packages(plan)),
        "created": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
        "seal": None,
    }


def _packages(plan: Plan) -> list[str]:
    """The packages of the agents' drivers."""
    drivers = sorted({pins["driver"] for pins in plan.pins["agents"].values()})
    return list(dict.fromkeys(package for driver in drivers if (package := package_of(driver)) is not None))


def _identity(manifest: Mapping[str, JSON]) -> dict[str, JSON]:
    plan = manifest["plan"]
    return identity(
        manifest["pins"],
        manifest["seed"],
        plan["repeat"],
        plan["agents"],
        controls=plan["controls"],
        rule=plan.get("rule"),
    )


def _named_folder(out: Path, run_id: str) -> RunFolder:
    folder = RunFolder(out / run_id)
    if not _RUN_ID.fullmatch(run_id):
        raise _refused(folder, f"{run_id!r} is no name for a run", "use letters, digits, '.', '_' and '-', at most 100")
    if not folder.claim() and not folder.is_begun and (strangers := folder.strangers()):
        raise _refused(folder, f"this folder is no run: it holds {strangers[0]!r}")
    return folder


def _fresh_folder(out: Path, plan: Plan) -> RunFolder:
    agents = "controls" if plan.controls else "-".join(plan.agents)[:40]
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    base = f"{today}-{agents}-{plan.run[:8]}"
    for number in itertools.count(1):
        folder = RunFolder(out / (base if number == 1 else f"{base}-{number}"))
        if folder.claim():
            return folder
    raise AssertionError("numbers do not end")


def _refused(folder: RunFolder, message: str, hint: str = "choose another --run-id") -> SpecificationError:
    return SpecificationError([Problem(Place(str(folder.path)), message, hint)])


def _changes(stored: Mapping[str, JSON], present: Mapping[str, JSON], way: str = "") -> Iterator[str]:
    """Yield the ways to everything that differs, such as ``agents.careful.prompt``."""
    for key in sorted({*stored, *present}):
        before, after = stored.get(key), present.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _changes(before, after, f"{way}{key}.")
        elif before != after:
            yield f"{way}{key}"
