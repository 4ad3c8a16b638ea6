"""The command as a user meets it: lines, tokens, curl, signals, and what it refuses."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.serve.serving import COMMAND, ROOT, TITLE, Served

SILENCE = {"operation": "create_record", "point": "after_commit", "action": "silence"}
UNTOUCHED: dict[str, Any] = {"armed": [], "fired": [], "calls": {}}
TIMED_OUT, UNTRUSTED, EMPTY_REPLY = 28, 60, 52

pytestmark = pytest.mark.long  # each test starts a server of its own


def refused(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_every_service_has_a_line_with_its_url_and_credential_and_not_the_control_token(served: Served) -> None:
    assert set(served.services) == {path.stem for path in (ROOT / "fake_services").glob("*.py")}
    for line in served.services.values():
        assert line.keys() - {"refresh_token"} == {"service", "url", "credential"}
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", line["url"])
    assert [line for line in served.lines[1:] if served.token in line] == []


def test_a_service_answers_to_its_credential_and_to_no_other(served: Served) -> None:
    url = served.services["records"]["url"]
    assert json.loads(served.create().stdout)["record_id"] == "rec-1"
    stranger = served.curl("-H", f"Authorization: Bearer {served.token}", *TITLE, f"{url}/v1/records")
    assert json.loads(stranger.stdout) == {"error": "invalid_token"}


def test_an_expired_credential_is_refreshed_at_the_token_endpoint_with_curl(served: Served) -> None:
    served.arm({"operation": "create_record", "point": "before_commit", "action": "expire_credential"})
    assert json.loads(served.create().stdout) == {"error": "token_expired"}
    line = served.services["tokens"]
    form = ("-d", "grant_type=refresh_token", "--data-urlencode", f"refresh_token={line['refresh_token']}")
    given = json.loads(served.curl(*form, f"{line['url']}/v1/token").stdout)
    assert (given["token_type"], given["expires_in"]) == ("Bearer", 300)
    url = served.services["records"]["url"]
    renewed = served.curl("-H", f"Authorization: Bearer {given['access_token']}", *TITLE, f"{url}/v1/records")
    assert json.loads(renewed.stdout)["record_id"] == "rec-1"


@pytest.mark.parametrize(
    "request_line",
    ["GET /healthz", "GET /faults", "POST /faults", "DELETE /faults", "GET /ledger/forge", "GET /world", "POST /reset"],
)
@pytest.mark.parametrize("authorization", ["", "Bearer nobody", "Bearer ", "ctl"])
def test_the_control_api_says_nothing_without_its_token(served: Served, request_line: str, authorization: str) -> None:
    method, path = request_line.split()
    header = ("-H", f"Authorization: {authorization}")
    answer = served.curl("-X", method, *header, "-w", "%{http_code}", served.control + path)
    assert answer.stdout == '{"error":"unauthorized"}\n401'


def test_an_armed_fault_takes_the_next_call_and_leaves_a_receipt(served: Served) -> None:
    served.create()
    armed = served.arm(SILENCE)["armed"]
    assert [(fault["nth"], fault["committed"]) for fault in armed] == [(2, True)]
    assert served.create("-m", "0.5", "-H", "X-Correlation-Id: c-7").returncode == TIMED_OUT
    faults = served.ask("/faults")
    assert faults["armed"] == []
    (receipt,) = faults["fired"]
    assert {**receipt, "time": 0} == {
        "time": 0,
        "id": "c-7",
        "operation": "create_record",
        "point": "after_commit",
        "action": "silence",
        "nth": 2,
        "committed": True,
    }


def test_the_ledger_and_the_world_tell_what_really_happened(served: Served) -> None:
    served.arm(SILENCE)
    served.create("-m", "0.5", "-H", "X-Correlation-Id: c-1")
    moments = [(entry["moment"], entry["operation"]) for entry in served.ask("/ledger/records")]
    assert moments == [
        ("received", "create_record"),
        ("mutation_committed", "create_record"),
        ("responded", "create_record"),
    ]
    assert served.ask("/world")["records"]["records"] == 1


def test_a_fault_can_be_written_with_a_familiar_word(served: Served) -> None:
    served.arm({"operation": "create_record", "fault": "response_lost"})
    assert served.create().returncode == EMPTY_REPLY


def test_what_is_wrong_with_a_fault_is_told_like_in_a_case(served: Served) -> None:
    assert served.arm({**SILENCE, "operation": "creat_record"}, {**SILENCE, "point": "dns"}) == [
        {
            "place": "faults[0].operation",
            "message": "unknown fault target 'creat_record'",
            "hint": "did you mean 'create_record'?",
        },
        {
            "place": "faults[1].point",
            "message": "create_record#1 dns silence cannot exist on the loopback wire",
            "hint": "the client is given an address, so no name is ever looked up",
        },
    ]
    assert served.arm({**SILENCE, "nht": 2}) == [
        {"place": "faults[0].nht", "message": "unknown key 'nht'", "hint": "did you mean 'nth'?"}
    ]
    assert served.ask("/faults") == UNTOUCHED


@pytest.mark.parametrize("body", ["", "{", "7", '{"faults": []}'])
def test_a_body_that_is_no_fault_is_a_400(served: Served, body: str) -> None:
    status = served.curl(
        "-H", f"Authorization: Bearer {served.token}", "-d", body, "-o", "/dev/null", "-w", "%{http_code}",
        f"{served.control}/faults",
    )  # fmt: skip
    assert status.stdout == "400"


def test_forgotten_faults_do_not_act(served: Served) -> None:
    served.arm(SILENCE)
    assert served.ask("/faults", "-X", "DELETE") == UNTOUCHED
    assert served.create().returncode == 0


def test_a_reset_begins_anew(served: Served) -> None:
    served.arm(SILENCE)
    served.create("-m", "0.5")
    served.ask("/reset", "-X", "POST")
    assert served.ask("/ledger/records") == []
    assert served.ask("/faults") == UNTOUCHED
    assert json.loads(served.create().stdout)["record_id"] == "rec-1"


def test_an_unknown_service_is_a_404_with_the_nearest_name(served: Served) -> None:
    assert served.ask("/ledger/record") == [
        {"place": "path", "message": "unknown service 'record'", "hint": "did you mean 'records'?"}
    ]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_cleanly(start: Callable[..., Served], number: signal.Signals, code: int) -> None:
    served = start("E01")
    served.curl(served.control)
    assert served.end(number) == (code, "")


def test_a_case_is_served_with_its_services_and_faults(start: Callable[..., Served]) -> None:
    served = start("C03")
    assert list(served.services) == ["forge"]
    assert served.ask("/world")["forge"]["releases"] == 1
    assert [fault["action"] for fault in served.ask("/faults")["armed"]] == [{"deny": {"hidden": False}}]


def test_with_tls_the_authority_is_written_to_a_file_that_curl_can_use(start: Callable[..., Served]) -> None:
    served = start("--tls")
    assert json.loads(served.create().stdout)["record_id"] == "rec-1"
    served.arm({"operation": "create_record", "point": "tls", "action": "fail"})
    assert served.create().returncode == UNTRUSTED
    assert [receipt["point"] for receipt in served.ask("/faults")["fired"]] == ["tls"]
    assert served.ca_file is not None
    assert Path(served.ca_file).exists()
    served.end(signal.SIGTERM)
    assert not Path(served.ca_file).exists()


def test_an_untrusted_certificate_that_the_client_takes_all_the_same_leaves_no_receipt(
    start: Callable[..., Served],
) -> None:
    served = start("--tls")
    served.arm({"operation": "create_record", "point": "tls", "action": "fail"})
    assert served.create("--insecure").returncode == 0
    assert served.ask("/faults")["fired"] == []


def test_ports_follow_the_base_in_the_order_of_the_names(start: Callable[..., Served]) -> None:
    free = start("E01")
    base = int(free.control.rpartition(":")[2])
    free.end(signal.SIGTERM)
    served = start("E01", "--port-base", str(base))
    assert (served.control, served.services["records"]["url"]) == (
        f"http://127.0.0.1:{base}",
        f"http://127.0.0.1:{base + 1}",
    )


def test_a_port_that_is_taken_is_told_without_a_traceback(served: Served) -> None:
    port = served.control.rpartition(":")[2]
    taken = refused("E01", "--port-base", port)
    reason = f"Address already in use (while attempting to bind on address ('127.0.0.1', {port}))"
    assert (taken.returncode, taken.stderr) == (4, f"cannot serve: {reason}\n")


def test_seeds_come_from_a_file(start: Callable[..., Served], tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.json"
    seeds.write_text('{"records": {"records": [{"record_id": "rec-7", "title": "x"}]}}')
    assert start("--seed-file", str(seeds)).ask("/world")["records"]["records"] == 1


def test_what_is_wrong_with_a_seed_file_is_told_with_its_place(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.yaml"
    seeds.write_text("recrods: {}\nrecords: {records: [{record_id: rec-7}]}\nforge: 7\n")
    told = refused("--seed-file", str(seeds))
    assert (told.returncode, told.stderr.splitlines()) == (
        2,
        [
            f"{seeds}:1:1: unknown service 'recrods'",
            "    hint: did you mean 'records'?",
            f"{seeds}:2:21: the seed does not fit: seed.records[0].title: is missing; expected a non-empty string",
            f"{seeds}:3:8: expected a mapping of what stands in the service",
        ],
    )


def test_a_case_whose_fault_no_socket_can_have_is_refused_with_its_place() -> None:
    told = refused("C01")
    assert told.returncode == 2
    place, _, message = told.stderr.partition(": ")
    assert re.fullmatch(r"transitions/matrix/C01-read-issue\.case\.yaml:\d+:\d+", place)
    reason = "the client is given an address, so no name is ever looked up"
    assert message == f"read_issue#1 dns fail cannot exist on the loopback wire: {reason}\n"


def test_an_unknown_case_is_refused_with_the_nearest_name() -> None:
    told = refused("EO1")
    assert (told.returncode, told.stderr) == (2, "serve: unknown case 'EO1'\n    hint: did you mean 'E01'?\n")
