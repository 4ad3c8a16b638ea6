from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def test_the_example_in_the_docs_runs_and_is_resumed(root: Path, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (root / "docs/engine.md").read_text(), flags=re.DOTALL)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stdout == (
            "{'room': {'reservation': 'r-12a'}, 'report': {'booked': {'room': {'reservation': 'r-12a'}}}} [] []\n"
        )
