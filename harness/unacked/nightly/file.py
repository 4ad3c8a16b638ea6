"""The file that describes a nightly run: which agent, against which baseline, on which cases, by which rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from unacked.compare import GateRule
from unacked.document import read_yaml, validate

__all__ = ["Budget", "NightlyFile", "read_nightly"]

_Share = Annotated[float, Field(gt=0, lt=1)]
_DEFAULT = GateRule()
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Rule(_Strict):
    """The numbers of the gate, as ``GateRule`` explains them; what is left out has its default."""

    alpha: _Share = _DEFAULT.alpha
    margin: _Share = _DEFAULT.margin
    screen: _Share = _DEFAULT.screen
    confirm: Annotated[int, Field(ge=1, le=1000)] = _DEFAULT.confirm
    errors: _Share = _DEFAULT.errors

    def gate_rule(self) -> GateRule:
        """Return the rule as the gate takes it."""
        return GateRule(**self.model_dump())


class Budget(_Strict):
    """What a night may take; a night that is cut short is INCONCLUSIVE."""

    minutes: Annotated[float, Field(gt=0)] | None = None
    usd: Annotated[float, Field(gt=0)] | None = None


class NightlyFile(_Strict):
    """One nightly run.

    ``candidate`` is the agent on trial. ``baseline`` names the stored run under ``runs/baselines/`` that it is
    compared with, and ``reference`` the agent of the suite that made that run: suspects get fresh repeats of both.
    """

    nightly: _Name
    candidate: str
    baseline: _Name
    reference: str
    select: list[str] = Field(default_factory=list)
    repeat: Annotated[int, Field(ge=1, le=1000)] = 5
    seed: str = "0"
    rule: Rule = Rule()
    budget: Budget = Budget()


def read_nightly(path: Path) -> NightlyFile:
    """Read a nightly file; raises SpecificationError with every problem and its place."""
    return validate(NightlyFile, read_yaml(path))
