"""What it takes from an OpenTelemetry file of forty calls with one blind retry to a verified case of the suite.

Each command is a process of its own, as somebody types it, in a copy of the suite: CPU and wall time, the start of
Python included. Beside them what a start alone and the reading of the suite take.

    python benchmarks/incident.py [--repeat 3]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.incident.spans import forty_calls  # noqa: E402 - the tests are no installed package

FLOW = {
    "new": "incident new trace.json --slug again --to again.case.yaml --suite .",
    "minimize": "incident minimize again.case.yaml --suite .",
    "verify": "incident verify again.case.yaml --suite .",
    "add": "incident add again.case.yaml --suite .",
}
BESIDE = {"--help": "--help", "list": "list --suite ."}


def main() -> None:
    """Print the least that each command took, and the sum of the four."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeat", type=int, default=3)
    seen = [round_of_all() for _ in range(options.parse_args().repeat)]
    least = {name: tuple(map(min, zip(*(each[name] for each in seen), strict=True))) for name in seen[0]}
    for name, (cpu_s, wall_s) in least.items():
        print(f"{name:<10} {cpu_s:5.2f} CPU s {wall_s:6.2f} s")
    cpu_s, wall_s = (sum(least[name][part] for name in FLOW) for part in (0, 1))
    print(f"{'the four':<10} {cpu_s:5.2f} CPU s {wall_s:6.2f} s (asked: < 10 s)")


def round_of_all() -> dict[str, tuple[float, float]]:
    """Return CPU and wall seconds of every command, the flow in a fresh copy of the suite."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("agents", "fake_services", "transitions"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        forty_calls().write(folder / "trace.json")
        return {name: measured(line, folder) for name, line in {**FLOW, **BESIDE}.items()}


def measured(line: str, folder: Path) -> tuple[float, float]:
    """Run one command; raises CalledProcessError where it does not exit with 0."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "unacked", *line.split()]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 - our own command line
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s


if __name__ == "__main__":
    main()
