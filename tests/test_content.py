"""Python files of a suite are loaded by path, and their faults are told with their place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unacked.content import load_content
from unacked.errors import SpecificationError


def problem(path: Path) -> str:
    with pytest.raises(SpecificationError) as caught:
        load_content(path)
    (found,) = caught.value.problems
    return f"{found.place}: {found.message}"


def write(folder: Path, text: str, name: str = "records.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_loaded_by_its_path(tmp_path: Path) -> None:
    assert load_content(write(tmp_path, "answer = 42\n")).answer == 42


def test_a_file_is_loaded_once(tmp_path: Path) -> None:
    path = write(tmp_path, "token = object()\n")
    assert load_content(path).token is load_content(path).token


def test_a_file_never_takes_the_name_of_a_package(tmp_path: Path) -> None:
    module = load_content(write(tmp_path, "answer = 42\n", "json.py"))
    assert module.__name__.startswith("unacked._content.json_")
    assert sys.modules["json"] is not module


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = write(tmp_path / "a", "side = 'a'\n"), write(tmp_path / "b", "side = 'b'\n")
    assert (load_content(first).side, load_content(second).side) == ("a", "b")


def test_a_file_can_define_dataclasses_which_look_their_module_up(tmp_path: Path) -> None:
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    assert load_content(write(tmp_path, text)).A(3).x == 3


def test_a_file_is_found_by_a_path_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "answer = 42\n", "policy.py")
    monkeypatch.chdir(tmp_path)
    assert load_content(Path("policy.py")).answer == 42


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert problem(tmp_path / "x.py") == f"{tmp_path}/x.py: no such file"


def test_a_file_that_python_does_not_load_is_told(tmp_path: Path) -> None:
    assert problem(write(tmp_path, "", "x.txt")) == f"{tmp_path}/x.txt: is not a Python file"


def test_a_syntax_error_is_told_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, "a = 1\nb = = 2\n")
    assert problem(path) == f"{path}:2:5: is not Python: invalid syntax"


def test_an_error_while_loading_is_told_with_the_place_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "import json\n\nvalue = json.loads('')\n")
    expected = f"{path}:3:9: fails while it is loaded: JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    assert problem(path) == expected


def test_an_error_inside_a_function_of_the_file_is_placed_where_it_was_raised(tmp_path: Path) -> None:
    path = write(tmp_path, "def f():\n    raise KeyError('x')\n\nf()\n")
    assert problem(path) == f"{path}:2:5: fails while it is loaded: KeyError: 'x'"


def test_a_package_that_is_not_installed_is_told_with_the_line_that_wants_it(tmp_path: Path) -> None:
    path = write(tmp_path, "x = 1\nimport no_such_package_here\n")
    expected = "fails while it is loaded: ModuleNotFoundError: No module named 'no_such_package_here'"
    assert problem(path) == f"{path}:2:1: {expected}"


@pytest.mark.parametrize("text", ["a = 1\nb = = 2\n", "a = 1\nb = 1 / 0\n"])
def test_a_place_is_found_in_a_file_that_was_named_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    write(tmp_path, text, "wrong.py")
    monkeypatch.chdir(tmp_path)
    assert problem(Path("wrong.py")).startswith("wrong.py:2:5: ")


def test_a_file_that_ends_the_process_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    path = write(tmp_path, "import sys\nsys.exit(0)\n")
    assert problem(path) == f"{path}:2:1: fails while it is loaded: SystemExit: 0"


def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"x = 'caf\xe9'\n")
    assert problem(path).startswith(f"{path}")
    assert "utf-8" in problem(path)


def test_a_file_that_failed_leaves_no_module_and_can_be_mended(tmp_path: Path) -> None:
    path = write(tmp_path, "raise ValueError('not yet')\n", "mended.py")
    problem(path)
    assert [name for name in sys.modules if name.startswith("unacked._content.mended_")] == []
    write(tmp_path, "answer = 42  # a text of another length\n", "mended.py")
    assert load_content(path).answer == 42


@pytest.mark.parametrize(
    ("attempt", "told"),
    [
        ('socket.getaddrinfo("example.org", 443)', "a connection to example.org:443"),
        ('os.system("true")', "the start of sh"),
    ],
)
def test_a_file_that_reaches_elsewhere_while_it_is_loaded_is_refused(tmp_path: Path, attempt: str, told: str) -> None:
    swallowed = write(tmp_path, f"import os, socket\ntry:\n    {attempt}\nexcept OSError:\n    pass\n")
    assert problem(swallowed) == (f"{swallowed}: fails while it is loaded: EgressRefusedError: {told} was refused")
