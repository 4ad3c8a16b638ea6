from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.incident.spans import Spans

from unacked.errors import SpecificationError
from unacked.incident.read import files, read_recording
from unacked.incident.recording import Recording


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(SpecificationError) as refused:
        read_recording(path, **options)
    return str(refused.value)


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def shape(recording: Recording) -> list[tuple[str, dict[str, Any], int]]:
    return [(call.name, dict(call.arguments or {}), call.turn) for call in recording.calls]


LIBRARIES = {
    "openai-chat.json": "openai-chat",
    "openai-responses.json": "openai-responses",
    "anthropic.json": "anthropic",
    "mcp.jsonl": "mcp",
    "pydantic-ai.otlp.json": "otel",
    "inspect.eval": "inspect",
    "inspect.json": "inspect",
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_what_a_library_wrote_is_read_as_two_calls_of_two_turns(traces: Path, name: str) -> None:
    recording = read_recording(traces / name)

    assert recording.form == LIBRARIES[name]
    assert [(call.name, (call.arguments or {})["subject"], call.turn) for call in recording.calls] == [
        ("create_ticket", "Pump 7", 1),
        ("create_ticket", "Pump 7", 2),
    ]
    last = recording.calls[1].answer
    assert last is not None
    assert last.content == {"id": "T-18"}


@pytest.mark.parametrize("name", sorted(set(LIBRARIES) - {"mcp.jsonl"}))
def test_the_first_message_of_the_user_is_the_task(traces: Path, name: str) -> None:
    assert read_recording(traces / name).task == "Open one ticket about pump 7."


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("anthropic.json", True, False),
        ("mcp.jsonl", True, False),
        ("pydantic-ai.otlp.json", True, None),
        ("inspect.eval", True, None),
        ("openai-chat.json", None, None),
        ("openai-responses.json", None, None),
    ],
)
def test_a_flag_is_told_where_the_format_has_one_and_is_unknown_elsewhere(
    traces: Path, name: str, *, first: bool | None, second: bool | None
) -> None:
    answers = [call.answer for call in read_recording(traces / name).calls]

    assert [answer.failed for answer in answers if answer is not None] == [first, second]


def test_a_call_without_an_answer_has_none(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t", "name": "pay", "input": {}}
    path = written(tmp_path / "a.json", [{"role": "assistant", "content": [block]}])

    assert read_recording(path).calls[0].answer is None


def test_calls_of_one_message_are_of_one_turn(tmp_path: Path) -> None:
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": "pay", "arguments": "{}"}} for number in (1, 2)
    ]
    path = written(tmp_path / "a.json", [{"role": "assistant", "content": None, "tool_calls": calls}])

    assert [call.turn for call in read_recording(path).calls] == [1, 1]


def test_spans_without_captured_content_leave_the_arguments_unknown(tmp_path: Path) -> None:
    recording = read_recording(Spans().call("pay", None).write(tmp_path / "a.json"))

    assert recording.calls[0].arguments is None
    assert recording.calls[0].answer is None


def test_spans_that_overlap_were_decided_together(tmp_path: Path) -> None:
    path = Spans().call("pay", {}).call("pay", {}).write(tmp_path / "a.json")
    spans = json.loads(path.read_text())
    first, second = spans["resourceSpans"][0]["scopeSpans"][0]["spans"]
    second["startTimeUnixNano"] = first["startTimeUnixNano"]

    assert [call.turn for call in read_recording(written(path, spans)).calls] == [1, 1]


def test_an_answer_of_mcp_under_an_id_that_nobody_waits_for_is_nobodys(tmp_path: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "create_ticket", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 999, "result": {"content": [{"type": "text", "text": "made"}]}},
    ]
    recording = read_recording(written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines))))

    assert recording.calls[0].answer is None
    assert recording.notes == ("an answer carries an id that no waiting call has; it was taken for nobody's",)


def test_an_archive_packed_as_older_versions_did_is_read(tmp_path: Path, traces: Path) -> None:
    sample = json.loads((traces / "inspect.json").read_text())["samples"][0]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/pump_epoch_1.json", json.dumps(sample))
    (tmp_path / "a.eval").write_bytes(packed.getvalue())

    assert len(read_recording(tmp_path / "a.eval").calls) == 2


def test_of_several_samples_one_must_be_picked(tmp_path: Path, traces: Path) -> None:
    log = json.loads((traces / "inspect.json").read_text())
    log["samples"].append({**log["samples"][0], "id": "valve"})
    path = written(tmp_path / "a.json", log)

    assert "holds 2 traces\n    hint: pick one with --trace: pump:1, valve:1" in refusal(path)
    assert read_recording(path, pick="valve:1").name.endswith("#valve:1")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ('{"messages": [{"role": "user", "content": "hi"}, ', "a.json:1:50: is not JSON"),
        ("", "is empty"),
        ("[1, 2]", "is of no format that is known"),
        ([{"role": "tool", "tool_call_id": "x", "content": "done"}], "$[0]: answers a call that was never made"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "pay", "arguments": '{"a": 1'}}]}],
            "$[0].tool_calls[0].function.arguments: the text is not JSON",
        ),
        ([{"type": "function_call", "name": "pay", "arguments": "{}"}], "$[0]: has no member 'call_id'"),
        ({"resourceSpans": [{"scopeSpans": "all"}]}, "$.resourceSpans[0].scopeSpans: expected an array, found a text"),
        ({"resourceSpans": []}, "no span with gen_ai.operation.name = execute_tool"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}\n{"jsonrpc"', "a.json:2:1: is not strict JSON"),
    ],
)
def test_what_is_malformed_is_told_with_its_place(tmp_path: Path, value: Any, told: str) -> None:
    assert told in refusal(written(tmp_path / "a.json", value))


def test_every_malformed_message_is_told_at_once(tmp_path: Path) -> None:
    told = refusal(written(tmp_path / "a.json", [{"role": "tool"}, {"role": 7}]))

    assert "$[0]: has no member 'tool_call_id'" in told
    assert "$[1].role: expected a text, found a number" in told


def test_values_of_the_trace_never_stand_in_a_message(tmp_path: Path) -> None:
    held = [
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "pay", "arguments": '{"a": "tok_1'}}]}
    ]

    assert "tok_1" not in refusal(written(tmp_path / "a.json", held))


@pytest.mark.parametrize("share", [0.3, 0.77])
def test_a_file_that_was_cut_short_is_asked_about_it(tmp_path: Path, traces: Path, share: float) -> None:
    whole = (traces / "anthropic.json").read_bytes()
    (tmp_path / "a.json").write_bytes(whole[: int(len(whole) * share)])

    assert "hint: was the file cut short?" in refusal(tmp_path / "a.json")


def test_an_archive_that_was_cut_short_is_no_archive(tmp_path: Path, traces: Path) -> None:
    whole = (traces / "inspect.eval").read_bytes()
    (tmp_path / "a.eval").write_bytes(whole[: len(whole) // 2])

    assert "is not a whole archive" in refusal(tmp_path / "a.eval")


def test_an_archive_with_spoilt_bytes_is_no_archive(tmp_path: Path, traces: Path) -> None:
    whole = bytearray((traces / "inspect.eval").read_bytes())
    with zipfile.ZipFile(traces / "inspect.eval") as archive:
        at = next(info.header_offset for info in archive.infolist() if info.filename.startswith("samples/"))
    whole[at + 200 : at + 400] = bytes(200)
    (tmp_path / "a.eval").write_bytes(whole)

    assert "is not a whole archive" in refusal(tmp_path / "a.eval")


def test_a_huge_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1024 * 1024)
    (tmp_path / "a.json").write_bytes(b" " * (1024 * 1024 + 1))

    assert "is larger than 1 MiB" in refusal(tmp_path / "a.json")


def test_what_unpacks_to_something_huge_is_refused(
    tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 4096)
    (tmp_path / "a.eval").write_bytes((traces / "inspect.eval").read_bytes()[:4000])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/a.json", " " * 1_000_000)
    (tmp_path / "a.eval").write_bytes(packed.getvalue())

    assert "is larger than" in refusal(tmp_path / "a.eval")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "cannot be read: No such file or directory" in refusal(tmp_path / "none.json")
