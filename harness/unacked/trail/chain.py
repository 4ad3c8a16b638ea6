"""Hash-chained JSON lines: a record in which no byte can be changed, dropped or moved unseen.

Every line ends with ``"hash"``: SHA-256 over the previous line's hash and this line's canonical text
without its hash. The first line builds on the name of the file's content (its origin), so a whole chain
cannot stand in for another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.errors import HarnessError, RecordError

__all__ = ["ChainReader", "ChainWriter", "head_of", "read_chain"]

_TORN = "the line is torn; the writer was interrupted here"
_CHANGED = "the hash does not match: this line was changed, or a line before it was dropped or moved"


def _origin_hash(origin: str) -> str:
    return sha256(f"unacked:{origin}".encode()).hexdigest()


def _tail(head: str) -> str:
    """What stands in place of the closing brace of a line's canonical text."""
    return f',"hash":"{head}"}}\n'


_BUFFER = 1 << 16
"""Bytes: the record of a trial is read at once, and a million verdicts are not."""
_TAIL_LENGTH = len(_tail(_origin_hash("")))


class ChainWriter:
    """Appends objects to one chained file; the objects must not have a member named ``hash``.

    ``head`` is the hash of the last line written; without one the file must be new or empty. Raises
    HarnessError when the file cannot be written.
    """

    def __init__(self, path: Path, origin: str, *, head: str | None = None) -> None:
        self._path = path
        self.head = head or _origin_hash(origin)
        self._pending: list[str] = []
        self._failure: OSError | None = None
        try:
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise _unwritable(path, error) from None
        if head is None and self._file.tell():
            self._file.close()
            raise HarnessError(f"{path}: already holds a record; a new one would not continue it")

    def write(self, value: Mapping[str, JSON]) -> str:
        """Append one object and return its line; it is in the file for sure only after ``flush``."""
        return self.append(dumps(value))

    def append(self, body: str) -> str:
        """Append one object that is in its canonical text already, and return its line."""
        self.head = sha256((self.head + body).encode()).hexdigest()
        line = body[:-1] + _tail(self.head)
        self._pending.append(line)
        return line

    def flush(self) -> None:
        """Hand everything written so far to the operating system; what once failed fails for good."""
        if self._failure is not None:
            raise _unwritable(self._path, self._failure)
        pending = "".join(self._pending).encode()
        self._pending.clear()
        try:
            while pending:
                pending = pending[self._file.write(pending) :]
        except OSError as error:
            self._failure = error
            self._file.close()
            raise _unwritable(self._path, error) from None

    def close(self) -> None:
        """Flush and close; says nothing of a failure that was told before."""
        try:
            if self._failure is None:
                self.flush()
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class ChainReader:
    """Yields the objects of a chained file in order, each without its hash, verifying every link.

    ``head`` is the hash of the last line that was read. Raises RecordError, naming file and line, at the first
    line that was changed, is torn, or is missing; of an ``unfinished`` file a torn last line counts as not written.
    ``behind`` begins later: behind so many bytes that are so many lines, the last of them with this hash.
    """

    def __init__(
        self, path: Path, origin: str, *, unfinished: bool = False, behind: tuple[int, int, str] | None = None
    ) -> None:
        self._path = path
        self._unfinished = unfinished
        self._offset, self._lines, self.head = behind or (0, 0, _origin_hash(origin))

    def __iter__(self) -> Iterator[dict[str, JSON]]:
        head = self.head.encode()
        for number, raw in enumerate(self._raw(), start=self._lines + 1):
            body = raw[:-_TAIL_LENGTH] + b"}"
            linked = sha256(head + body).hexdigest()
            head = linked.encode()
            if raw[-_TAIL_LENGTH:] != b',"hash":"%b"}\n' % head:
                if self._unfinished and not raw.endswith(b"\n"):
                    return
                reason = _CHANGED if raw.endswith(b"\n") else _TORN
                raise RecordError(f"{self._path}:{number}: {reason}")
            try:
                value = loads(body)
            except InvalidJSON as error:
                raise RecordError(f"{self._path}:{number}: {error}") from None
            self.head = linked
            yield value

    def _raw(self) -> Iterator[bytes]:
        try:
            with self._path.open("rb", _BUFFER) as file:
                file.seek(self._offset)
                yield from file
        except OSError as error:
            raise RecordError(f"{self._path}: cannot be read: {error.strerror}") from None


def read_chain(path: Path, origin: str) -> Iterator[dict[str, JSON]]:
    """Yield the objects of a chained file like ``ChainReader``."""
    return iter(ChainReader(path, origin))


def head_of(path: Path, origin: str) -> str:
    """Verify a whole chained file and return its last hash; raises RecordError like ``ChainReader``."""
    reader = ChainReader(path, origin)
    for _ in reader:
        pass
    return reader.head


def _unwritable(path: Path, error: OSError) -> HarnessError:
    return HarnessError(f"{path}: cannot be written: {error.strerror}")
