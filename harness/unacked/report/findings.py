"""The findings of a verdict as text: every failure comes with what was expected and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from unacked.canonical import JSON
from unacked.claims import CLAIMS
from unacked.report.text import printable

__all__ = ["findings_text", "fingerprint", "first_of_each"]


def findings_text(line: Mapping[str, JSON]) -> str:
    """Return all findings of a verdict line, the long explanations whole; nothing in it can move a terminal."""
    parts: list[str] = []
    claims = [(name, line["claims"][name]) for name in CLAIMS]
    for name, claim in (*claims, ("exercised", line["exercised"])):
        for finding in claim["findings"]:
            text = finding.get("explanation") or (
                f"{finding['verdict']} {finding['rule']} in the claim {name}: expected {finding['expected']};"
                f" observed {finding['observed']}"
            )
            parts += [printable(part) for part in text.splitlines()]
            if finding.get("remedy") and not finding.get("explanation"):
                parts.append(f"  remedy: {printable(finding['remedy'])}")
    return "\n".join(parts)


def fingerprint(line: Mapping[str, JSON]) -> tuple[str, str, str]:
    """What makes two failures the same one: agent, verdict and rule."""
    return line["agent"], line["verdict"], line["rule"]


def first_of_each(lines: Iterable[Mapping[str, JSON]]) -> list[tuple[Mapping[str, JSON], int]]:
    """Return the first of every kind of failure, and how many there are of that kind."""
    groups: dict[tuple[str, str, str], list[Mapping[str, JSON]]] = {}
    for line in lines:
        groups.setdefault(fingerprint(line), []).append(line)
    return [(group[0], len(group)) for group in groups.values()]
