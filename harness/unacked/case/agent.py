"""The file of an agent: a pinned definition, and what is expected of it as a control."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from unacked.canonical import JSON
from unacked.case.case import FaultFile, Identifier, Strict

__all__ = ["AgentFile", "Budget", "Price", "ProviderUse", "Recording", "Retries"]


class ProviderUse(Strict):
    """A fake service of the suite in the provider's place; ``seed`` is what it is given besides the task."""

    service: str
    seed: dict[str, JSON] = Field(default_factory=dict)
    faults: list[FaultFile] = Field(default_factory=list)


class Retries(Strict):
    """How often a request to a model is sent, and how long is waited in between, in seconds."""

    attempts: Annotated[int, Field(ge=1)] = 4
    first_wait_s: Annotated[float, Field(ge=0)] = 1.0
    longest_wait_s: Annotated[float, Field(ge=0)] = 60.0
    total_wait_s: Annotated[float, Field(ge=0)] = 180.0


class Budget(Strict):
    """What one trial of an agent may use; where it is spent the trial is cut, which is no failure."""

    usd: Annotated[float | None, Field(gt=0)] = None
    tokens: Annotated[int | None, Field(gt=0)] = None
    wall_s: Annotated[float | None, Field(gt=0)] = None


class Price(Strict):
    """US dollars for a million tokens, and the day of that price; None is unknown."""

    as_of: str
    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float | None, Field(ge=0)] = None
    cache_write: Annotated[float | None, Field(ge=0)] = None


class Recording(Strict):
    """A run whose turns are repeated; strict: where a request differs from the recorded one, that is an error."""

    run: str
    agent: Identifier
    mode: Literal["strict", "lenient"] = "strict"


class AgentFile(Strict):
    """A pinned agent: driver, model, prompt, parameters, and what is expected of it as a control.

    ``hosts`` are the other machines that its driver may reach, by name; no others are reached during a run.
    ``programs`` are those that it may start, by name without the folder (``fork`` is one); what they do, nobody sees.
    ``serves`` is the model that the provider says it served, where that is not the requested one or a dated
    snapshot of it. ``key_variable`` names the environment variable that holds the provider's key; ``environment``
    lists the variables that an agent of one's own needs: a command is given them besides the harmless ones, and what
    they hold may stand in no sink. ``timeout_s`` is for one request to a model,
    and for one step of an agent that runs by itself.
    """

    agent: Identifier
    title: str = Field(min_length=1)
    driver: str
    model: str | None = None
    serves: str | None = None
    parameters: dict[str, JSON] = Field(default_factory=dict)
    stream: bool = False
    prompt: str = "prompt.md"
    policy: str | None = None
    function: Annotated[str | None, Field(pattern=r"^[\w.]+:\w+$")] = None
    command: list[str] | None = Field(default=None, min_length=1)
    environment: list[str] = Field(default_factory=list)
    replay: Recording | None = None
    provider: ProviderUse | None = None
    base_url: Annotated[str | None, Field(pattern=r"^https?://")] = None
    key_variable: Annotated[str | None, Field(pattern=r"^[A-Za-z_]\w*$")] = None
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    retries: Retries = Retries()
    budget: Budget = Budget()
    price: Price | None = None
    hosts: list[str] = Field(default_factory=list)
    programs: list[str] = Field(default_factory=list)
    control: Literal["passes", "caught", "never_unsafe", "repeats_incident"] | None = None

    @property
    def reaches(self) -> list[str]:
        """The hosts that may be reached: those that are named, and the one of the base URL."""
        host = urlsplit(self.base_url or "").hostname
        return [*self.hosts, *([host] if host else [])]

    @property
    def starts(self) -> list[str]:
        """The programs that may be started: those that are named, the one that is the agent, and what SDKs ask for.

        An SDK tells its provider what machine this is; Python's own ``platform`` asks ``uname`` for that.
        """
        first = self.command[0] if self.command else ""
        own = Path(sys.executable if first == "{python}" else first).name
        return [*self.programs, *([own] if own else []), *(["uname"] if self.model is not None else [])]
