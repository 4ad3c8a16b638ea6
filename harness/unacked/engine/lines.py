"""JSON lines that are not chained: each is in the file, whole, once it was written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import TracebackType
from typing import Self

import jsonlines

from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.errors import HarnessError, RecordError

__all__ = ["LineFile", "cut_torn_line", "cut_unfinished"]


class LineFile:
    """Appends JSON lines; a ``private`` file is readable by its owner only. Raises HarnessError."""

    def __init__(self, path: Path, *, private: bool = False) -> None:
        self._path = path
        try:
            path.touch(mode=0o600 if private else 0o666)
            self._file = path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise _unwritable(path, error) from None
        self._writer = jsonlines.Writer(self._file, dumps=dumps, flush=True)

    def write(self, value: Mapping[str, JSON]) -> None:
        """Append one object."""
        try:
            self._writer.write(value)
        except OSError as error:
            raise _unwritable(self._path, error) from None

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise _unwritable(self._path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def cut_torn_line(path: Path) -> None:
    """Cut off a last line without an end: its writer was interrupted. Raises HarnessError."""
    _cut(path, lambda data: data.rfind(b"\n") + 1)


def cut_unfinished(path: Path, done: Collection[str]) -> None:
    """Cut off what was written of trials that are not ``done``; raises HarnessError, RecordError."""

    def kept(data: mmap) -> int:
        length = data.rfind(b"\n") + 1
        while length:  # what is not done stands at the end
            begin = data.rfind(b"\n", 0, length - 1) + 1
            try:
                trial = loads(data[begin:length])["trial"]
            except (InvalidJSON, KeyError, TypeError):
                number = data[:length].count(b"\n")
                raise RecordError(f"{path}:{number}: is no line of this record") from None
            if trial in done:
                break
            length = begin
        return length

    _cut(path, kept)


def _cut(path: Path, kept: Callable[[mmap], int]) -> None:
    """Keep the beginning of a file; what is read of a long one is its end."""
    try:
        with path.open("rb") as file:
            if not (size := os.fstat(file.fileno()).st_size):
                return
            with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                length = kept(data)
        if length != size:
            os.truncate(path, length)
    except FileNotFoundError:
        return
    except OSError as error:
        raise HarnessError(f"{path}: cannot be mended: {error.strerror}") from None


def _unwritable(path: Path, error: OSError) -> HarnessError:
    return HarnessError(f"{path}: cannot be written: {error.strerror}")
