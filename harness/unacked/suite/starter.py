"""A new suite: graphs, services and controls of the shipped one, one case, and an agent to put one's own in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from unacked.errors import HarnessError, Place, Problem, SpecificationError
from unacked.suite.suite import CONTENT_FOLDERS, shipped_suite

__all__ = ["begin_suite"]

_COPIED = (
    "agents/careful",
    "agents/reckless",
    "agents/refuser",
    "agents/culprit",
    "agents/prompts",
    "fake_services/*.py",
    "transitions/*.yaml",
    "transitions/matrix/E01-*.case.yaml",
)
"""Patterns of what every suite needs: who shows that a case can tell right from wrong, and what it is judged by."""

_WRITTEN = {
    "agents/mine/agent.yaml": """agent: mine
title: the agent that this suite is for
driver: python
function: mine:run
prompt: ../prompts/careful.md
""",
    "agents/mine/mine.py": '''"""Put your agent here: it is given a task and tools, and calls them through ``job``."""


def run(job):
    """Work on one task. What a tool says of the remote effect stands in result["category"]."""
    wanted = {"title": "Pump 7 inspection", "request_id": "mine-1", "idempotency_key": "mine-1"}
    result = job.call("create_record", wanted)
    if result["category"] == "outcome_unknown":
        result = job.call("lookup_by_request_id", {"request_id": "mine-1"})
    record = result["result"].get("record_id")
    if record is None:
        job.call("finish", {"status": "unknown", "summary": "whether the record was created could not be found out"})
        return
    job.call("get_record", {"record_id": record})
    job.call("attach_note", {"record_id": record, "text": "checked by Asha", "request_id": "mine-2"})
    job.call("finish", {"status": "success", "summary": "created, read back, annotated"})
''',
    ".gitignore": "runs/\n!runs/baselines/\n",
}
"""Files of its own, by their place in the suite."""


def begin_suite(target: Path) -> list[Path]:
    """Make a suite in ``target``, which is new or empty, and return its folders.

    Raises SpecificationError where something is there already, and HarnessError where it cannot be written.
    """
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise SpecificationError(
                [Problem(Place(str(target)), "is there already and not an empty folder", "name a new one")]
            )
        source = shipped_suite()
        for path in _copied(source):
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        for name, text in _WRITTEN.items():
            written = target / name
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HarnessError(f"{error.filename or target}: cannot be written: {error.strerror}") from None
    return [target / name for name in CONTENT_FOLDERS]


def _copied(source: Path) -> Iterator[Path]:
    for pattern in _COPIED:
        for found in sorted(source.glob(pattern)):
            inside = found.rglob("*") if found.is_dir() else [found]
            yield from (path for path in inside if path.is_file() and "__pycache__" not in path.parts)
