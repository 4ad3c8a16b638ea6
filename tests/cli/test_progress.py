from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path


def test_progress_is_a_live_bar_on_a_terminal_and_leaves_the_results_alone(small_suite: Path, tmp_path: Path) -> None:
    terminal, stderr = pty.openpty()
    command = [sys.executable, "-m", "unacked", "run", "E01", "--agent", "careful", "--suite", str(small_suite)]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=stderr, check=False, timeout=120
    )
    os.close(stderr)
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert done.returncode == 0, shown
    assert "trials" in shown
    assert "Traceback" not in shown
    assert b"\x1b" not in done.stdout
    assert b"2 trials: 2 PASS" in done.stdout
