"""Fake services are content: a file that defines ``build``, found by its path."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from unacked.canonical import JSON
from unacked.content import load_content
from unacked.errors import Place, Problem, SpecificationError
from unacked.services.service import Service
from unacked.services.setting import Setting

__all__ = ["Factory", "load_service"]


class Factory(Protocol):
    """The ``build`` of a fake service's file."""

    def __call__(self, seed: Mapping[str, JSON], setting: Setting, /) -> Service:
        """Return a fresh service; raises SeedError naming the key where the seed does not fit."""
        ...


@cache
def load_service(path: Path) -> Factory:
    """Return the ``build`` function of the fake service in the file ``path``.

    A file is read once a process. Raises SpecificationError, with line and column as far as they are
    known, where the file is missing, is not Python, fails at import, or has no usable ``build``.
    """
    build = getattr(load_content(path), "build", None)
    if not callable(build):
        hint = "def build(seed: Mapping[str, JSON], setting: Setting) -> Service: ..."
        raise SpecificationError([Problem(Place(str(path)), "defines no function 'build'", hint)])
    try:
        inspect.signature(build).bind({}, None)
    except TypeError as error:
        line = build.__code__.co_firstlineno if inspect.isfunction(build) else 0
        place = Place(str(path), line, 1 if line else 0)
        raise SpecificationError([Problem(place, f"'build' must take (seed, setting): {error}")]) from None
    factory: Factory = build
    return factory
