"""Python files of a suite, loaded by path: never importable by name, never in the way of anybody's package."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType

from unacked.errors import Place, Problem, SpecificationError

__all__ = ["load_content"]


@cache
def load_content(path: Path) -> ModuleType:
    """Load one Python file of a suite; raises SpecificationError where it is missing or does not load.

    The module's name is made from its path, so that ``fake_services/records.py`` never becomes ``records``.
    """
    name = f"unacked._content.{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if not path.is_file():
        raise SpecificationError([Problem(Place(str(path)), "no such file")])
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SpecificationError([Problem(Place(str(path)), "is not a Python file")])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 - whatever the file raises is a fault of the file
        del sys.modules[name]
        raise SpecificationError([_problem(path, error)]) from None
    return module


def _problem(path: Path, error: Exception) -> Problem:
    if isinstance(error, SyntaxError) and error.filename is not None and Path(error.filename) == path:
        return Problem(Place(str(path), error.lineno or 0, error.offset or 0), f"is not Python: {error.msg}")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    place = Place(str(path), frames[-1].lineno or 0, (frames[-1].colno or 0) + 1) if frames else Place(str(path))
    return Problem(place, f"fails while it is loaded: {type(error).__name__}: {error}")
