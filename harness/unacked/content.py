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
from unacked.guard import guarded

__all__ = ["load_content"]


def load_content(path: Path) -> ModuleType:
    """Load one Python file of a suite, once; raises SpecificationError where it is missing or does not load.

    The module's name is made from its path, so that ``fake_services/records.py`` never becomes ``records``.
    """
    if not path.is_file():
        raise SpecificationError([Problem(Place(str(path)), "no such file")])
    if path.suffix != ".py":
        raise SpecificationError([Problem(Place(str(path)), "is not a Python file")])
    try:
        return _module(path.resolve())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the file raises is a fault of the file
        raise SpecificationError([_problem(path, error)]) from None


@cache
def _module(path: Path) -> ModuleType:
    name = f"unacked._content.{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101 - the suffix is that of Python files
    assert spec.loader is not None  # noqa: S101 - likewise
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # The folder may be a stored run, in which no file may appear that was not there when it was sealed.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with guarded() as watch:
            spec.loader.exec_module(module)
        watch.insist()
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.dont_write_bytecode = kept
    return module


def _problem(path: Path, error: BaseException) -> Problem:
    file = str(path.resolve())
    if isinstance(error, SyntaxError) and error.filename == file:
        return Problem(Place(str(path), error.lineno or 0, error.offset or 0), f"is not Python: {error.msg}")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    place = Place(str(path), frames[-1].lineno or 0, (frames[-1].colno or 0) + 1) if frames else Place(str(path))
    return Problem(place, f"fails while it is loaded: {type(error).__name__}: {error}")
