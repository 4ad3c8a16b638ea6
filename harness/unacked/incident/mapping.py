"""The mapping file: which call of the trace is which operation, and what a person adds to what the trace says.

``ask`` stands where the trace does not say it and nothing was inferred; ``ignore`` leaves calls out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from unacked.canonical import JSON
from unacked.case import ContractTerms, FinalStatus, GraphUse
from unacked.contract import Registry
from unacked.document import Document, read_yaml, validate
from unacked.errors import Problem, SpecificationError, nearest
from unacked.outcome import CATEGORIES

__all__ = ["ASK", "IGNORE", "CallNote", "Constant", "Mapped", "MappingFile", "check_mapping", "read_mapping"]

ASK, IGNORE = "ask", "ignore"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Constant(_Strict):
    """A value that the trace does not give and that does not matter for what went wrong."""

    value: JSON


Source = Annotated[str | list[str] | Constant, Field(union_mode="left_to_right")]
"""Their argument, several of them put together, or a constant."""


class Mapped(_Strict):
    """One tool of the trace: our operation, and where its arguments and result fields come from."""

    operation: str
    because: str = ""
    arguments: dict[str, Source] = Field(default_factory=dict)
    result: dict[str, str] = Field(default_factory=dict)


class CallNote(_Strict):
    """One call of the trace: its category and why, and its arguments where the trace has none."""

    category: str
    because: str = ""
    arguments: dict[str, JSON] | None = None


class MappingFile(_Strict):
    """Everything between a trace and a case that a person may correct."""

    mapping: Literal[1]
    title: str | None = None
    task: str | None = None
    operations: dict[str, Mapped]
    calls: dict[str, CallNote]
    claim: FinalStatus | None = None
    effects: dict[str, list[dict[str, JSON]]] | None = None
    contract: dict[str, ContractTerms] = Field(default_factory=dict)
    graphs: list[str | GraphUse] | None = None


def read_mapping(path: Path) -> tuple[MappingFile, Document]:
    """Read a mapping file; raises SpecificationError with all that is wrong in it."""
    document = read_yaml(path)
    return validate(MappingFile, document), document


def check_mapping(mapping: MappingFile, document: Document, registry: Registry) -> None:
    """Raise SpecificationError with every name that nothing has, and everything that is still to be said."""
    problems = [*_operation_problems(mapping, document, registry), *_call_problems(mapping, document)]
    if problems:
        raise SpecificationError(problems)


def _operation_problems(mapping: MappingFile, document: Document, registry: Registry) -> Iterator[Problem]:
    for name, mapped in mapping.operations.items():
        place = ("operations", name, "operation")
        if mapped.operation == ASK:
            hint = f"name an operation (unacked list), or write {IGNORE!r}"
            yield document.problem(place, f"which operation is {name!r}? {mapped.because}".strip(), hint)
            continue
        if mapped.operation == IGNORE:
            continue
        operation = registry.get(mapped.operation)
        if operation is None:
            yield document.problem(
                place, f"unknown operation {mapped.operation!r}", nearest(mapped.operation, registry)
            )
            continue
        known = {argument.name for argument in operation.arguments}
        for argument in mapped.arguments:
            if argument not in known:
                where = ("operations", name, "arguments", argument)
                yield document.problem(
                    where, f"{operation.name} takes no argument {argument!r}", nearest(argument, known)
                )


def _call_problems(mapping: MappingFile, document: Document) -> Iterator[Problem]:
    known: Mapping[str, object] = CATEGORIES
    for call, note in mapping.calls.items():
        place = ("calls", call, "category")
        if note.category == ASK:
            yield document.problem(
                place, f"what is known after call {call}? {note.because}", f"one of: {', '.join(known)}"
            )
        elif note.category not in known:
            yield document.problem(place, f"unknown category {note.category!r}", nearest(note.category, known))
