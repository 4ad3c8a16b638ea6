from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unacked.conformance.adapter import CAPABILITIES, load_adapter, shipped_adapters
from unacked.conformance.checks import CHECKS
from unacked.errors import HarnessError, SpecificationError

GOOD = """\
orchestrator: mine
commands:
  start: ["{python}", "{here}/mine.py", "{plan}"]
claims: [order]
"""


def written(folder: Path, text: str, name: str = "mine.yaml") -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


def problems(named: str) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        load_adapter(named)
    return [str(problem).replace(str(Path(named).parent) + "/", "") for problem in caught.value.problems]


def test_the_words_of_a_command_are_filled_in(tmp_path: Path) -> None:
    adapter = load_adapter(written(tmp_path, GOOD))
    assert adapter.name == "mine"
    argv = adapter.argv("start", {"plan": "/runs/1/plan.json"})
    assert argv == [sys.executable, f"{tmp_path.resolve()}/mine.py", "/runs/1/plan.json"]


def test_every_problem_of_an_adapter_is_told_with_its_place(tmp_path: Path) -> None:
    text = GOOD.replace("{plan}", "{plam}").replace("[order]", "[ordr, lease, resume, resume]\nwait_bound_s: 2.0")
    assert problems(written(tmp_path, text)) == [
        "mine.yaml:1:1: 'lease' is claimed, but 'lease_s' is missing\n    hint: lease_s: 2.0",
        "mine.yaml:3:41: nothing is put in for {plam} here\n    hint: did you mean 'plan'?",
        "mine.yaml:4:10: unknown capability 'ordr'\n    hint: did you mean 'order'?",
        "mine.yaml:4:16: 'lease' is claimed, but commands has no 'worker'",
        "mine.yaml:4:23: 'resume' is claimed, but commands has no 'resume' or 'worker'",
        "mine.yaml:4:31: 'resume' is claimed twice\n    hint: keep one of the two",
        "mine.yaml:5:1: 'wait_bound_s' is given, but 'ageing' is not claimed",
    ]


def test_an_unknown_key_is_told_with_its_place(tmp_path: Path) -> None:
    assert problems(written(tmp_path, GOOD + "beats: 1\n")) == [
        "mine.yaml:5:1: unknown key 'beats'\n    hint: did you mean 'beat_s'?"
    ]


def test_a_port_is_put_in_only_where_there_is_a_service(tmp_path: Path) -> None:
    text = GOOD.replace('"{plan}"', '"{port}"')
    (problem,) = problems(written(tmp_path, text))
    assert problem.startswith("mine.yaml:3:41: nothing is put in for {port} here")
    load_adapter(written(tmp_path, text.replace("claims:", '  service: [server, "{port}"]\nclaims:')))


def test_an_adapter_can_be_a_python_file(tmp_path: Path) -> None:
    text = 'ADAPTER = {"orchestrator": "mine", "commands": {"start": ["mine", "{plan}"]}, "claims": ["order"]}'
    assert load_adapter(written(tmp_path, text, "mine.py")).argv("start", {"plan": "p"}) == ["mine", "p"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ADAPTER = 1", "mine.py: defines no mapping 'ADAPTER'"),
        ("ADAPTER = {'orchestrator': {1}}", "mine.py: 'ADAPTER' holds more than JSON can: set is not JSON"),
        ("ADAPTER = {'orchestrator': 'mine'}", "mine.py: missing key 'claims'"),
        ("ADAPTER =", "mine.py:1:10: is not Python: invalid syntax"),
    ],
)
def test_a_python_file_that_is_no_adapter_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(written(tmp_path, text, "mine.py"))[0].startswith(problem)


def test_a_name_that_nobody_knows_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecificationError, match=r"no such file, and no adapter of that name: 'temporl'\n.*'temporal'"):
        load_adapter("temporl")


def test_a_package_that_is_missing_is_named_with_what_to_do(tmp_path: Path) -> None:
    adapter = load_adapter(written(tmp_path, GOOD + "requires: [no-such-thing, click]\n"))
    assert list(adapter.versions()) == ["click"]
    with pytest.raises(HarnessError, match=r"^needs no-such-thing: install it with: pip install no-such-thing$"):
        adapter.insist_on_packages()


@pytest.mark.parametrize("name", shipped_adapters())
def test_an_adapter_that_comes_with_unacked_has_its_name_and_is_described(name: str) -> None:
    adapter = load_adapter(name)
    assert adapter.name == name
    assert adapter.file.about


def test_a_note_on_a_check_that_nobody_knows_is_told(tmp_path: Path) -> None:
    text = GOOD + "notes: {C3: two at once, C99: never}\n"
    (problem,) = problems(written(tmp_path, text))
    assert problem.startswith("mine.yaml:5:26: no check 'C99'")


def test_every_capability_is_needed_by_a_check_and_every_need_is_a_capability() -> None:
    assert {need for check in CHECKS.values() for need in check.needs} == set(CAPABILITIES)
