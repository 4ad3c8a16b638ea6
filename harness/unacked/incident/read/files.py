"""From a file to a recording: its size, its format, and its parts; strict, and never a traceback."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.incident.read.anthropic import read_messages
from unacked.incident.read.cursor import Cursor
from unacked.incident.read.inspect_log import read_sample, sample_name
from unacked.incident.read.mcp import read_traffic
from unacked.incident.read.neutral import read_neutral
from unacked.incident.read.openai import read_chat, read_responses
from unacked.incident.read.otel import read_spans
from unacked.incident.recording import Recording

__all__ = ["FORMATS", "MOST_BYTES", "read_recording"]

FORMATS = ("openai-chat", "openai-responses", "anthropic", "otel", "inspect", "mcp", "neutral")
_ZSTANDARD = 93
_NAME_LENGTH_AT, _LOCAL_HEADER = 26, 30
"""A member's compression, and the layout before its bytes: APPNOTE.TXT of PKWARE, 4.3.7 and 4.4.5."""
MOST_BYTES = 64 * 1024 * 1024
"""The largest trace that is read, unpacked; one incident has never needed a hundredth of it."""


def read_recording(path: Path, *, form: str | None = None, pick: str | None = None) -> Recording:
    """Read the one trace of a file, or the one that ``pick`` names where it holds several.

    Raises SpecificationError: with the line or the JSON path of whatever does not fit, for a file that is too large
    or cut short, for a format that cannot be told, and for a choice that has to be made.
    """
    if form is not None and form not in FORMATS:
        raise _refused(path, f"unknown format {form!r}", nearest(form, FORMATS))
    data = _bytes(path)
    if data.startswith(b"PK\x03\x04"):
        return _picked(path, pick, _samples_of_archive(path))
    text = _decoded(path, data)
    if not text.strip():
        raise _refused(path, "is empty", "a trace holds at least one call")
    whole, problem = _whole(path, text)
    form = form or (_form_of(whole) if whole is not None else _form_of_lines(path, text))
    if form is None:
        if whole is None and problem is not None:
            raise SpecificationError([problem])
        raise _refused(path, "is of no format that is known", f"say which: --format {'|'.join(FORMATS)}")
    return _read(path, form, text, whole, pick, problem)


def _read(
    path: Path, form: str, text: str, whole: Cursor | None, pick: str | None, problem: Problem | None
) -> Recording:
    name = str(path)
    match form:
        case "neutral":
            traces = {trace.name: partial(_same, trace) for trace in read_neutral(path, text.splitlines())}
            return _picked(path, pick, traces)
        case "mcp":
            return read_traffic([whole] if whole is not None else _lines(path, text), name)
        case "otel":
            return read_spans([whole] if whole is not None else _lines(path, text), name)
    if whole is None:
        if problem is not None and not _is_lines(text):
            raise SpecificationError([problem])
        whole = Cursor([line.value for line in _lines(path, text)], Place(name))
    if form == "inspect":
        samples = {sample_name(sample): partial(read_sample, sample, name) for sample in whole["samples"].items()}
        return _picked(path, pick, samples)
    reader = {"openai-chat": read_chat, "openai-responses": read_responses, "anthropic": read_messages}[form]
    return reader(_messages(whole), name)


def _same(recording: Recording) -> Recording:
    return recording


def _messages(whole: Cursor) -> Cursor:
    """Return the list of messages: the value itself, or what a request and its response hold of one."""
    if isinstance(whole.value, list):
        return whole
    messages = whole.get("messages")
    if messages is not None:
        return messages
    request, output = whole.get("input"), whole.get("output")
    if request is None and output is None:
        raise whole.problem("holds no list of messages", "expected an array, or an object with 'messages' or 'output'")
    items: list[JSON] = []
    if request is not None:
        items += [{"role": "user", "content": request.value}] if isinstance(request.value, str) else request.value
    if output is not None:
        items += output.value if isinstance(output.value, list) else [output.value]
    return Cursor(items, whole.place, whole.path)


def _form_of(whole: Cursor) -> str | None:
    """Tell a format by what only it has."""
    value = whole.value
    if isinstance(value, dict):
        for key, form in (("resourceSpans", "otel"), ("jsonrpc", "mcp")):
            if key in value:
                return form
        if "samples" in value and "eval" in value:
            return "inspect"
        if value.get("type") in ("begin", "call", "result", "end"):
            return "neutral"
        if value.get("object") == "response" or "output" in value:
            return "openai-responses"
        value = value.get("messages", value.get("input"))
    return _form_of_messages(value) if isinstance(value, list) else None


def _form_of_messages(messages: list[JSON]) -> str | None:
    entries = [entry for entry in messages if isinstance(entry, dict)]
    if any(entry.get("jsonrpc") for entry in entries):
        return "mcp"
    if any(entry.get("tool_calls") or entry.get("role") == "tool" for entry in entries):
        return "openai-chat"
    if any(entry.get("type") in ("function_call", "function_call_output") for entry in entries):
        return "openai-responses"
    blocks = [block for entry in entries if isinstance(entry.get("content"), list) for block in entry["content"]]
    if any(isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result") for block in blocks):
        return "anthropic"
    return None


def _form_of_lines(path: Path, text: str) -> str | None:
    """Tell the format of JSON lines by the first of them; a list of messages may be written so too."""
    if not _is_lines(text):
        return None
    lines = list(_lines(path, text))
    return _form_of(lines[0]) or _form_of_messages([line.value for line in lines])


def _is_lines(text: str) -> bool:
    first = text.lstrip().splitlines()[0]
    try:
        return isinstance(loads(first), dict)
    except InvalidJSON:
        return False


def _lines(path: Path, text: str) -> Iterator[Cursor]:
    problems = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            place = Place(str(path), number, 1)
            try:
                yield Cursor(loads(line), place)
            except InvalidJSON as error:
                problems.append(Problem(place, f"is not strict JSON: {error}", "was the file cut short?"))
    if problems:
        raise SpecificationError(problems)


def _whole(path: Path, text: str) -> tuple[Cursor | None, Problem | None]:
    """Return the file as one JSON value, or the problem that it is none."""
    try:
        return Cursor(loads(text), Place(str(path))), None
    except InvalidJSON as error:
        lenient = _lenient(text)
        if lenient is not None:
            return Cursor(lenient, Place(str(path))), None
        return None, _json_problem(str(path), text, error)


def _json_problem(file: str, text: str, error: InvalidJSON) -> Problem:
    try:
        json.loads(text)
    except json.JSONDecodeError as found:
        place = Place(file, found.lineno, found.colno)
        cut = found.pos >= len(text.rstrip()) - 1 or found.msg.startswith("Unterminated string")
        return Problem(place, f"is not JSON: {found.msg}", "was the file cut short?" if cut else "")
    except RecursionError:
        pass
    return Problem(Place(file), f"is not strict JSON: {error}")


def _lenient(text: str) -> JSON:
    """Read a log of Inspect AI, which writes NaN where a score has no value; None for everything else."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and {"eval", "samples"} <= value.keys() else None


def _samples_of_archive(path: Path) -> dict[str, Callable[[], Recording]]:
    """Return what reads each sample of an ``.eval`` log, by the sample's name."""
    samples: dict[str, Callable[[], Recording]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.startswith("samples/")]
            if sum(info.file_size for info in members) > MOST_BYTES:
                raise _too_large(path)
            for info in members:
                sample = _member(path, archive, info)
                samples[sample_name(sample)] = partial(read_sample, sample, str(path))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise _refused(path, f"is not a whole archive: {type(error).__name__}", "was the file cut short?") from None
    if not samples:
        raise _refused(path, "is an archive without samples", "an .eval log holds samples/*.json")
    return samples


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Cursor:
    place = Place(f"{path}!{info.filename}")
    if info.compress_type == _ZSTANDARD:
        data = _unpacked(path, info)
    else:
        with archive.open(info) as member:
            data = member.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _too_large(path)
    try:
        return Cursor(json.loads(data, parse_constant=lambda _: None), place)
    except (ValueError, RecursionError) as error:
        raise SpecificationError([Problem(place, f"is not JSON: {type(error).__name__}")]) from None


def _unpacked(path: Path, info: zipfile.ZipInfo) -> bytes:
    """Unpack a member that is compressed with Zstandard, which zipfile knows only from Python 3.14 on."""
    from backports import zstd

    with path.open("rb") as file:
        file.seek(info.header_offset + _NAME_LENGTH_AT)
        name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
        file.seek(info.header_offset + _LOCAL_HEADER + name + extra)
        packed = file.read(info.compress_size)
    try:
        data: bytes = zstd.ZstdDecompressor().decompress(packed, MOST_BYTES + 1)
    except zstd.ZstdError as error:
        raise zipfile.BadZipFile from error
    if len(data) <= MOST_BYTES and zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile
    return data


def _picked(path: Path, pick: str | None, found: Mapping[str, Callable[[], Recording]]) -> Recording:
    if pick is None and len(found) > 1:
        names = ", ".join(list(found)[:8])
        raise _refused(path, f"holds {len(found)} traces", f"pick one with --trace: {names}")
    if pick is not None and pick not in found:
        raise _refused(path, f"holds no trace {pick!r}", nearest(pick, found))
    return found[pick if pick is not None else next(iter(found))]()


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _too_large(path)
        return path.read_bytes()
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}", "") from None


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(path, f"is not UTF-8 (byte {error.start})", "") from None


def _too_large(path: Path) -> SpecificationError:
    return _refused(
        path, f"is larger than {MOST_BYTES // 1024 // 1024} MiB", "cut out the trace of the one run that went wrong"
    )


def _refused(path: Path, message: str, hint: str) -> SpecificationError:
    return SpecificationError([Problem(Place(str(path)), message, hint)])
