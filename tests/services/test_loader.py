from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from unacked.clock import VirtualClock
from unacked.errors import Place, Problem, SpecificationError
from unacked.services import Setting, load_service

GOOD = """
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unacked.services import Service


@dataclass
class Jar:
    size: ClassVar[int] = 3


class Shelf(Service):
    name = "shelf"

    def summary(self):
        return {"size": Jar().size}


def build(seed, setting):
    return Shelf(setting, {})
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str, name: str = "shelf.py") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def problem_of(path: Path) -> Problem:
    with pytest.raises(SpecificationError) as caught:
        load_service(path)
    (problem,) = caught.value.problems
    return problem


def test_a_service_is_built_from_its_file(write: Any) -> None:
    factory = load_service(write(GOOD))

    service = factory({}, Setting(clock=VirtualClock(), token="tok"))

    assert (service.name, service.summary()) == ("shelf", {"size": 3})


def test_a_file_is_read_once(write: Any) -> None:
    path = write(GOOD)

    assert load_service(path) is load_service(path)


def test_a_service_takes_neither_the_import_path_nor_its_own_name(write: Any) -> None:
    before = list(sys.path)
    load_service(write(GOOD, "json.py"))

    assert sys.path == before
    assert sys.modules["json"].__name__ == "json"
    assert hasattr(sys.modules["json"], "dumps")


def test_two_services_of_one_name_are_two(tmp_path: Path) -> None:
    for folder, name in (("a", "one"), ("b", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "shelf.py").write_text(GOOD.replace('"shelf"', f'"{name}"'), encoding="utf-8")
    setting = Setting(clock=VirtualClock(), token="tok")

    names = [load_service(tmp_path / folder / "shelf.py")({}, setting).name for folder in ("a", "b")]

    assert names == ["one", "two"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    problem = problem_of(tmp_path / "shelf.py")

    assert problem.place == Place(str(tmp_path / "shelf.py"))
    assert problem.message == "no such file"


def test_a_file_that_is_missing_now_may_be_there_later(write: Any, tmp_path: Path) -> None:
    problem_of(tmp_path / "shelf.py")

    assert callable(load_service(write(GOOD)))


def test_a_syntax_error_has_line_and_column(write: Any) -> None:
    path = write("import os\nx = (1 +\n    ]\n")

    problem = problem_of(path)

    assert problem.place == Place(str(path), 3, 5)
    assert problem.message.startswith("is not Python: ")


def test_bytes_that_are_not_text_are_a_syntax_error(tmp_path: Path) -> None:
    path = tmp_path / "shelf.py"
    path.write_bytes(b"x = '\xff'\n")

    assert problem_of(path).message.startswith("is not Python: ")


def test_a_failure_at_import_has_the_innermost_line_of_the_file(write: Any) -> None:
    path = write("def boom():\n    return int('x')\n\n\nboom()\n")

    problem = problem_of(path)

    assert problem.place == Place(str(path), 2, 12)
    assert problem.message == "fails while it is loaded: ValueError: invalid literal for int() with base 10: 'x'"


def test_an_import_that_is_not_there_has_its_line(write: Any) -> None:
    path = write("\nimport no_such_module_at_all\n")

    problem = problem_of(path)

    assert problem.place == Place(str(path), 2, 1)
    assert problem.message == "fails while it is loaded: ModuleNotFoundError: No module named 'no_such_module_at_all'"


def test_a_failed_import_leaves_no_module_behind(write: Any) -> None:
    before = set(sys.modules)
    problem_of(write("raise RuntimeError\n"))

    assert set(sys.modules) == before


@pytest.mark.parametrize("text", ["", "build = 3\n"])
def test_a_file_without_build_is_told_what_to_define(write: Any, text: str) -> None:
    path = write(text)

    problem = problem_of(path)

    assert problem.place == Place(str(path))
    assert problem.message == "defines no function 'build'"
    assert problem.hint == "def build(seed: Mapping[str, JSON], setting: Setting) -> Service: ..."


def test_a_build_of_other_parameters_has_its_line(write: Any) -> None:
    path = write("\ndef build(seed):\n    return None\n")

    problem = problem_of(path)

    assert problem.place == Place(str(path), 2, 1)
    assert problem.message == "'build' must take (seed, setting): too many positional arguments"
