"""The findings of a verdict as text: every failure comes with what was expected and what to do."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from unacked.canonical import JSON
from unacked.claims import CLAIMS
from unacked.graph import Verdict
from unacked.report.text import printable

__all__ = ["findings_text", "fingerprint", "first_of_each"]


def findings_text(line: Mapping[str, JSON], suite: Path | None = None) -> str:
    """Return all findings of a verdict line, the gravest first; nothing in it can move a terminal.

    ``suite`` is the one that was named to run it: the record does not know where its suite stood.
    """
    claims = [*((name, line["claims"][name]) for name in CLAIMS), ("exercised", line["exercised"])]
    found = [(name, finding) for name, claim in claims for finding in claim["findings"]]
    found.sort(key=lambda item: -Verdict(item[1]["verdict"]).severity)
    return "\n".join(part for name, finding in found for part in _finding(name, finding, suite))


def _finding(claim: str, finding: Mapping[str, JSON], suite: Path | None) -> list[str]:
    if finding.get("explanation"):
        where = "" if suite is None else f" --suite {shlex.quote(str(suite))}"
        lines = finding["explanation"].splitlines()
        return [printable(f"{part}{where}" if part.startswith("  reproduce: ") else part) for part in lines]
    told = f"expected {finding['expected']}; observed {finding['observed']}"
    lines = [printable(f"{finding['verdict']} {finding['rule']} in the claim {claim}: {told}")]
    if finding.get("member"):
        lines.append(f"  blame: {printable(finding['member'])}")
    if finding.get("remedy"):
        lines.append(f"  remedy: {printable(finding['remedy'])}")
    return lines


def fingerprint(line: Mapping[str, JSON]) -> tuple[str, str, str]:
    """What makes two failures the same one: agent, verdict and rule."""
    return line["agent"], line["verdict"], line["rule"]


def first_of_each(lines: Iterable[Mapping[str, JSON]]) -> list[tuple[Mapping[str, JSON], int]]:
    """Return the first of every kind of failure, and how many there are of that kind."""
    groups: dict[tuple[str, str, str], list[Mapping[str, JSON]]] = {}
    for line in lines:
        groups.setdefault(fingerprint(line), []).append(line)
    return [(group[0], len(group)) for group in groups.values()]
