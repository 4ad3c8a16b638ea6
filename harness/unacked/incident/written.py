"""Writes YAML that people edit: leaves on one line, and every text quoted that could be read as something else."""

from __future__ import annotations

import re
from typing import Any

import yaml

from unacked.canonical import JSON
from unacked.document import parse_yaml
from unacked.errors import HarnessError

__all__ = ["written"]

_PLAIN = re.compile(r"\$?[A-Za-z_@/][\w./@-]*(?: [\w./@()-]+)*")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"})


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper without aliases: a value that stands twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's interface
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if "\n" in text.strip("\n") or text.endswith("\n"):
        style = "|"
    else:
        plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
        style = "" if plain else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def written(value: JSON) -> str:
    """Return ``value`` as YAML; raises HarnessError where our own reader would read anything else from it."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True, indent=2
    )
    if parse_yaml(text, "what was written").value != value:
        raise HarnessError("a file was not written: read again, it would not say the same")
    return text
