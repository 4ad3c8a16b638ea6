from __future__ import annotations

import ast
import graphlib
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

CONTENT = ("agents", "fake_services", "transitions", "runs")
HEAVY = ("anthropic", "openai", "litellm", "agents", "scipy", "numpy", "matplotlib", "pygraphviz", "pydot", "jinja2")
REGISTRIES = re.compile(r"\bpypi\.|pythonhosted|npmjs|deb\.debian", re.IGNORECASE)


def python(code: str, cwd: Path) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def sources(root: Path) -> list[Path]:
    return sorted((root / "harness").rglob("*.py"))


def tracked(root: Path) -> Iterator[Path]:
    """Every file that is, or would be, committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return (path for name in listing.split("\0") if name and (path := root / name).is_file())


def imported(path: Path, modules: frozenset[str]) -> set[str]:
    """Which of ``modules`` a file imports, wherever in the file the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            names.update(members & modules or {str(node.module)})
    return names & modules


@pytest.mark.parametrize("folder", CONTENT)
def test_a_content_folder_is_not_a_package(root: Path, folder: str) -> None:
    assert [str(path) for path in (root / folder).rglob("__init__.py")] == []


@pytest.mark.parametrize("library", ["agents", "transitions"])
def test_the_checkout_does_not_shadow_a_library_of_the_same_name(root: Path, library: str) -> None:
    location = python(f"import {library}; print({library}.__file__)", root)
    assert Path(location).is_relative_to(sysconfig.get_path("purelib"))


def test_no_function_is_longer_than_70_lines(root: Path) -> None:
    functions = [
        (f"{path.name}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for path in sources(root)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert [(name, lines) for name, lines in functions if lines > 70] == []


def test_no_file_is_longer_than_500_lines(root: Path) -> None:
    lengths = [(path.name, len(path.read_text().splitlines())) for path in sources(root)]
    assert [(name, lines) for name, lines in lengths if lines > 500] == []


def test_no_module_imports_itself_however_far_around(root: Path) -> None:
    paths = {
        ".".join(path.relative_to(root / "harness").with_suffix("").parts).removesuffix(".__init__"): path
        for path in sources(root)
    }
    graph = {name: imported(path, frozenset(paths)) - {name} for name, path in paths.items()}
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert len(order) == len(paths)


def test_no_committed_file_names_this_machine_or_a_package_registry(root: Path) -> None:
    places = {str(root), str(Path.home()), sys.base_prefix} - {"/", "/usr", "/usr/local"}
    machine = re.compile("|".join(rf"{re.escape(place)}\b" for place in sorted(places)) or r"(?!)")
    found = []
    for path in tracked(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        if machine.search(text) or (REGISTRIES.search(text) and path != Path(__file__)):
            found.append(str(path.relative_to(root)))
    assert found == []


def test_pinned_requirements_name_no_place_to_fetch_from(root: Path) -> None:
    texts = {path.name: path.read_text() for path in (root / "requirements").glob("*.txt")}
    assert sorted(texts) == ["dev.txt", "run.txt", "test.txt"]
    assert [name for name, text in texts.items() if "://" in text or "--index" in text or "--find-links" in text] == []


@pytest.mark.parametrize("module", ["unacked.cli", "unacked.pytest_plugin"])
def test_a_front_end_starts_without_the_heavy_libraries(root: Path, module: str) -> None:
    loaded = python(f"import sys, {module}; print(*sys.modules)", root).split()
    assert {name.partition(".")[0] for name in loaded} & set(HEAVY) == set()


@pytest.mark.long
@pytest.mark.parametrize(("ci", "exit_code"), [("true", 1), ("", 0)])
def test_a_skipped_test_fails_the_session_under_ci_only(root: Path, tmp_path: Path, ci: str, exit_code: int) -> None:
    (tmp_path / "conftest.py").write_text((root / "tests" / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text("import pytest\n\ndef test_it():\n    pytest.skip('no reason')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "CI": ci}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == exit_code, done.stdout
    assert ("test_it.py::test_it: " in done.stdout) is (ci == "true")
