"""A chained file in which no byte can be changed, dropped or moved unseen."""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.canonical import JSON
from unacked.errors import HarnessError, RecordError
from unacked.trail import ChainWriter, head_of, read_chain

ORIGIN = "run-1/C05.careful.1"
VALUES: list[dict[str, JSON]] = [{"event": "begin", "n": 1}, {"event": "é", "n": 2}, {"event": "end", "n": 3}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of three chained lines."""
    path = tmp_path / "t.jsonl"
    write(path, VALUES)
    return path


def write(path: Path, values: list[dict[str, JSON]], origin: str = ORIGIN, head: str | None = None) -> str:
    with ChainWriter(path, origin, head=head) as writer:
        for value in values:
            writer.write(value)
    return writer.head


def linked(before: bytes, body: bytes) -> bytes:
    """A line whose hash holds, whatever it says."""
    hashed = hashlib.sha256(json.loads(before)["hash"].encode() + body).hexdigest()
    return body[:-1] + f',"hash":"{hashed}"}}\n'.encode()


def refusal(path: Path, origin: str = ORIGIN) -> str:
    """Why the file is refused, by both ways of reading it."""
    with pytest.raises(RecordError) as caught:
        list(read_chain(path, origin))
    with pytest.raises(RecordError) as also_caught:
        head_of(path, origin)
    assert str(also_caught.value) == str(caught.value)
    return str(caught.value).removeprefix(f"{path}")


def test_what_was_written_is_read_back(path: Path) -> None:
    assert list(read_chain(path, ORIGIN)) == VALUES


def test_a_line_is_canonical_json_that_ends_with_its_hash(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", VALUES[:1])
    expected = '{"event":"begin","n":1,"hash":"1e6ef536b5a14a401299078b3cfa15776bcffd247a3bb829f5714ed8bca34140"}\n'
    assert (tmp_path / "t.jsonl").read_text() == expected


def test_the_head_is_the_hash_of_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    head = write(path, VALUES)
    assert path.read_text().splitlines()[-1].endswith(f',"hash":"{head}"}}')
    assert head_of(path, ORIGIN) == head


def test_a_chain_goes_on_from_the_head_that_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    head = write(path, VALUES[:2])
    write(path, VALUES[2:], head=head)
    assert list(read_chain(path, ORIGIN)) == VALUES


def test_a_file_that_holds_a_record_is_not_begun_again(path: Path) -> None:
    with pytest.raises(HarnessError, match=r"already holds a record; a new one would not continue it$"):
        ChainWriter(path, ORIGIN)
    assert list(read_chain(path, ORIGIN)) == VALUES


def test_an_empty_file_is_an_empty_chain(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.touch()
    write(path, [])
    assert list(read_chain(path, ORIGIN)) == []


def test_nothing_is_lost_between_write_and_flush(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writer = ChainWriter(path, ORIGIN)
    line = writer.write(VALUES[0])
    before = path.read_text()
    writer.flush()
    after = path.read_text()
    writer.close()
    assert (before, after) == ("", line)


# What is seen

CHANGED = "the hash does not match: this line was changed, or a line before it was dropped or moved"


@given(data=st.data())
def test_no_byte_can_be_changed_unseen(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("chain") / "t.jsonl"
    write(path, VALUES)
    raw = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(raw) - 1))
    raw[position] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    with pytest.raises(RecordError, match=r"t\.jsonl:[123]: "):
        list(read_chain(path, ORIGIN))


def lines_of(path: Path, edit: Callable[[list[bytes]], list[bytes]]) -> None:
    path.write_bytes(b"".join(edit(path.read_bytes().splitlines(keepends=True))))


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda lines: [lines[0].replace(b"1", b"7", 1), *lines[1:]], f":1: {CHANGED}"),
        (lambda lines: [lines[0], lines[1].replace(b"2", b"7", 1), lines[2]], f":2: {CHANGED}"),
        (lambda lines: [lines[0], lines[2]], f":2: {CHANGED}"),
        (lambda lines: lines[1:], f":1: {CHANGED}"),
        (lambda lines: [lines[1], lines[0], lines[2]], f":1: {CHANGED}"),
        (lambda lines: [lines[0], lines[2], lines[1]], f":2: {CHANGED}"),
        (lambda lines: [*lines, lines[2]], f":4: {CHANGED}"),
        (lambda lines: [lines[0], b"\n", *lines[1:]], f":2: {CHANGED}"),
        (lambda lines: [lines[0], b"{}\n", *lines[1:]], f":2: {CHANGED}"),
        (lambda lines: [line.replace(b"\n", b"\r\n") for line in lines], f":1: {CHANGED}"),
        (lambda lines: [lines[0], lines[1].replace(b":", b": ", 1), lines[2]], f":2: {CHANGED}"),
        (
            lambda lines: [*lines[:2], lines[2][:-1]],
            ":3: the line is torn; the writer was interrupted here",
        ),
        (
            lambda lines: [*lines[:2], lines[2][:20]],
            ":3: the line is torn; the writer was interrupted here",
        ),
        (lambda lines: [lines[0], b'{"a":"\xff"}\n', lines[2]], f":2: {CHANGED}"),
        (lambda lines: [lines[0], linked(lines[0], b'{"a":"\xff"}')], ":2: invalid UTF-8 at byte 6"),
        (lambda lines: [lines[0], linked(lines[0], b'{"a":1,"a":2}')], ":2: duplicate key in an object"),
    ],
)
def test_a_change_is_told_with_file_and_line(path: Path, edit: Any, expected: str) -> None:
    lines_of(path, edit)
    assert refusal(path) == expected


def test_a_record_of_another_trial_cannot_stand_in(path: Path) -> None:
    assert refusal(path, "run-1/C05.careful.2") == f":1: {CHANGED}"


def test_a_line_of_another_record_cannot_be_put_in(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    write(other, VALUES, "run-1/C05.careful.2")
    foreign = other.read_bytes().splitlines(keepends=True)[1]
    lines_of(path, lambda lines: [lines[0], foreign, lines[2]])
    assert refusal(path) == f":2: {CHANGED}"


def test_lines_that_are_missing_at_the_end_show_in_the_head(path: Path) -> None:
    whole = head_of(path, ORIGIN)
    lines_of(path, lambda lines: lines[:2])
    assert head_of(path, ORIGIN) != whole


@pytest.mark.parametrize(
    ("body", "expected"),
    [('{"a":1,"a":2}', ":1: duplicate key in an object"), ("[1}", ":1: Expecting ',' delimiter at line 1 column 3")],
)
def test_a_line_that_was_hashed_but_is_no_strict_json_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, expected: str
) -> None:
    monkeypatch.setattr("unacked.trail.chain.dumps", lambda _: body)
    write(tmp_path / "t.jsonl", VALUES[:1])
    assert refusal(tmp_path / "t.jsonl") == expected


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert refusal(tmp_path / "t.jsonl") == ": cannot be read: No such file or directory"


# What cannot be written


def test_a_file_that_cannot_be_made_is_an_error_of_the_harness(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "t.jsonl"
    with pytest.raises(HarnessError) as caught:
        ChainWriter(path, ORIGIN)
    assert str(caught.value) == f"{path}: cannot be written: No such file or directory"


def test_a_full_disk_is_an_error_of_the_harness() -> None:
    writer = ChainWriter(Path("/dev/full"), ORIGIN)
    writer.write(VALUES[0])
    with pytest.raises(HarnessError, match=r"^/dev/full: cannot be written: No space left on device$"):
        writer.flush()
    writer.close()


def test_a_full_disk_is_told_on_closing_too_and_the_file_is_closed() -> None:
    writer = ChainWriter(Path("/dev/full"), ORIGIN)
    writer.write(VALUES[0])
    with pytest.raises(HarnessError, match="No space left on device"):
        writer.close()
    assert writer._file.closed


class AlmostFull:
    """A disk with room for so many bytes; what does not fit is refused."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self.room = file, room

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written: int = self._file.write(data[: self.room])
        self.room -= written
        return written

    def close(self) -> None:
        self._file.close()


@pytest.mark.parametrize("room", [0, 10, 120])
def test_a_writer_that_failed_writes_nothing_more_even_when_there_is_room_again(tmp_path: Path, room: int) -> None:
    path = tmp_path / "t.jsonl"
    writer = ChainWriter(path, ORIGIN)
    writer.write(VALUES[0])
    writer.flush()
    size = path.stat().st_size
    disk = writer._file = AlmostFull(writer._file, room)  # type: ignore[assignment]
    writer.write(VALUES[1])
    writer.write(VALUES[1])
    with pytest.raises(HarnessError, match="No space left on device"):
        writer.flush()
    disk.room = 10_000
    writer.write(VALUES[2])
    with pytest.raises(HarnessError, match="No space left on device"):
        writer.flush()
    writer.close()
    assert path.stat().st_size == size + room


def test_a_line_that_was_cut_by_a_full_disk_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writer = ChainWriter(path, ORIGIN)
    writer._file = AlmostFull(writer._file, 30)  # type: ignore[assignment]
    writer.write(VALUES[0])
    with pytest.raises(HarnessError, match="No space left on device"):
        writer.flush()
    writer.close()
    assert refusal(path) == ":1: the line is torn; the writer was interrupted here"


def test_a_write_that_takes_only_a_part_goes_on_with_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writer = ChainWriter(path, ORIGIN)

    class Slow(AlmostFull):
        def write(self, data: bytes) -> int:
            return super().write(data[:7])

    writer._file = Slow(writer._file, 10_000)  # type: ignore[assignment]
    writer.write(VALUES[0])
    writer.close()
    assert list(read_chain(path, ORIGIN)) == VALUES[:1]
