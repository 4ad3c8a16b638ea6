"""Where a report goes: a file that is written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from unacked.errors import HarnessError

__all__ = ["write_report"]


def write_report(path: Path, text: str) -> None:
    """Write a report so that no reader ever meets a part of it; raises HarnessError.

    What is no plain file, such as a pipe or ``/dev/stdout``, cannot be replaced and is written to.
    """
    data = text.encode("utf-8", "replace")
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise HarnessError(f"{path}: cannot be written: {error.strerror}") from None
