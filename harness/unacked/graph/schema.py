"""The shape of a graph file, before any of its words mean something."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = [
    "AllowanceFile",
    "AlwaysFile",
    "EdgeFile",
    "GraphFile",
    "LintFile",
    "StateFile",
    "TargetFile",
    "ThreadFile",
    "UnlistedFile",
]


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _as_targets(value: Any) -> Any:
    return [{"to": item} if isinstance(item, str) else item for item in _as_list(value)]


def _as_mapping(value: Any) -> Any:
    return {} if value is None else value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Words = Annotated[list[str], BeforeValidator(_as_list)]
Ruling = Literal["allow", "forbid"]


class TargetFile(_Strict):
    """One alternative under ``then``."""

    to: str
    when: Words = []
    bind: dict[str, str] = {}
    collect: dict[str, str] = {}
    forget: Words = []
    reset: Words = []


class EdgeFile(_Strict):
    """One entry under ``allow`` or ``forbid``."""

    id: str | None = None
    call: Words
    when: Words = []
    bind: dict[str, str] = {}
    count: dict[str, int] = {}
    then: dict[str, Annotated[list[TargetFile], BeforeValidator(_as_targets)]] = {}
    severity: Literal["unsafe", "rule"] = "unsafe"
    why: str = ""


class AlwaysFile(_Strict):
    """Edges of every state."""

    allow: list[EdgeFile] = []
    forbid: list[EdgeFile] = []


class StateFile(AlwaysFile):
    """One state."""

    end: Literal["open", "ok", "final"] = "open"
    why: str = ""


class ThreadFile(_Strict):
    """How threads are named and told apart."""

    name: str = "case"
    key: dict[str, str] = {}
    handles: dict[str, Words] = {}


class UnlistedFile(_Strict):
    """What happens to calls that no edge names."""

    tool: Ruling = "forbid"
    op_read: Ruling = "allow"
    op_write: Ruling = "forbid"
    orphan: Ruling = "forbid"


class AllowanceFile(_Strict):
    """One finding of a lint that is as it should be, and why; it concerns an edge, a state, or the whole graph."""

    id: str
    edge: str | None = None
    state: str | None = None
    why: str = Field(min_length=1)


class LintFile(_Strict):
    """What the lints of graphs may find in this file."""

    allow: list[AllowanceFile] = []


class GraphFile(_Strict):
    """A whole graph file."""

    graph: str = Field(min_length=1)
    version: int = 1
    roles: dict[str, str | None] = {}
    thread: ThreadFile = ThreadFile()
    unlisted: UnlistedFile = UnlistedFile()
    always: AlwaysFile = AlwaysFile()
    states: dict[str, Annotated[StateFile, BeforeValidator(_as_mapping)]] = Field(min_length=1)
    lint: LintFile = LintFile()
