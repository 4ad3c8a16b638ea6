"""``unacked schema``: JSON Schemas of the files that users write, for editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click
from pydantic import BaseModel

from unacked.case import AgentFile, CaseFile, FixtureFile
from unacked.errors import HarnessError
from unacked.graph.schema import GraphFile

__all__ = ["command"]

_FILES: Mapping[str, type[BaseModel]] = {
    "case": CaseFile,
    "fixture": FixtureFile,
    "agent": AgentFile,
    "graph": GraphFile,
}


@click.command("schema")
@click.argument("directory", type=click.Path(path_type=Path), default=Path("schemas"))
def command(directory: Path) -> int:
    """Write JSON Schemas of cases, fixtures, agents and graphs into DIRECTORY (default: schemas)."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, model in _FILES.items():
            schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
            path = directory / f"{name}.schema.json"
            path.write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
            click.echo(str(path))
    except BrokenPipeError:
        raise  # the reader of our output has gone
    except OSError as error:
        raise HarnessError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return 0
