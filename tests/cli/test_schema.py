from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT, CommandLine

from unacked.document import read_yaml

KINDS = {
    "case": "transitions/*/*.case.yaml",
    "fixture": "transitions/fixtures/*.fixture.yaml",
    "agent": "agents/*/agent.yaml",
    "graph": "transitions/*.yaml",
}


@pytest.fixture
def schemas(unacked: CommandLine, tmp_path: Path) -> dict[str, Any]:
    """The schemas, as the command writes them."""
    assert unacked("schema", tmp_path / "new/schemas").code == 0
    files = (tmp_path / "new/schemas").iterdir()
    return {path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in files}


def test_there_is_a_schema_of_every_kind_of_file(schemas: dict[str, Any]) -> None:
    assert sorted(schemas) == sorted(KINDS)
    assert {schema["$schema"] for schema in schemas.values()} == {"https://json-schema.org/draft/2020-12/schema"}


def test_the_files_are_named(unacked: CommandLine, tmp_path: Path) -> None:
    done = unacked("schema", tmp_path)
    assert done.out.splitlines() == [str(tmp_path / f"{kind}.schema.json") for kind in KINDS]


def test_a_place_that_cannot_be_written_is_told(unacked: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = unacked("schema", tmp_path / "file")
    assert done.code == 4
    assert "file: cannot be written: File exists" in done.err


def unknown_keys(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> list[str]:
    """Keys of a mapping that its schema does not know, and required ones that are missing, down through objects."""
    schema = resolved(schema, root)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [key for item in value for key in unknown_keys(item, schema["items"], root)]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    known = schema["properties"]
    found = [key for key in value if key not in known]
    found += [key for key in schema.get("required", ()) if key not in value]
    return found + [key for name in value if name in known for key in unknown_keys(value[name], known[name], root)]


def resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_shipped_file_holds_its_schema(schemas: dict[str, Any], kind: str) -> None:
    paths = [path for path in ROOT.glob(KINDS[kind]) if kind == "case" or not path.name.endswith(".case.yaml")]
    assert paths != []
    schema = schemas[kind]
    assert {path.name: unknown_keys(read_yaml(path).value, schema, schema) for path in paths} == {
        path.name: [] for path in paths
    }


def test_a_schema_refuses_a_key_that_nobody_knows(schemas: dict[str, Any]) -> None:
    assert [schemas[kind]["additionalProperties"] for kind in KINDS] == [False, False, False, False]


def test_a_case_that_extends_another_need_not_say_everything_again(schemas: dict[str, Any]) -> None:
    case = schemas["case"]
    assert case["required"] == ["case"]
    assert case["anyOf"] == [
        {"required": ["extends"]},
        {"required": ["title", "task", "services", "tools", "graphs"]},
    ]
