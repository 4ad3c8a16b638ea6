from __future__ import annotations

import asyncio
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.scale.conftest import SMALL, texts

from unacked.engine import Outcome, Plan, RunFolder, RunRequest, make_plan, verify
from unacked.errors import HarnessError, RecordError, SpecificationError
from unacked.scale import Order, ShardResult, ShardState, attended, gathered, run_shard
from unacked.scale.shard import make_order, shard_trials
from unacked.suite import Suite, load_suite


def ignored(_: object) -> None:
    """Hear of an outcome and do nothing."""


@pytest.fixture(scope="module")
def loaded(little: Path) -> Suite:
    return load_suite(little)


@pytest.fixture(scope="module")
def plan(loaded: Suite) -> Plan:
    return make_plan(loaded, RunRequest(**SMALL))


@pytest.fixture(scope="module")
def order(plan: Plan) -> Order:
    return make_order("big", plan, 3)


@pytest.fixture(scope="module")
def shards(loaded: Suite, order: Order, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[ShardResult]]:
    """The three shards of eight trials, and what each gave."""
    out = tmp_path_factory.mktemp("shards")
    return out, [run_shard(loaded, order, number, out, ignored) for number in (2, 0, 1)]


def test_shards_are_neighbours_of_nearly_the_same_size() -> None:
    assert [list(shard_trials(8, 3, number)) for number in range(3)] == [[0, 1], [2, 3, 4], [5, 6, 7]]


def test_there_are_no_more_shards_than_trials(plan: Plan) -> None:
    assert make_order("big", plan, 100).shards == 8


def test_an_order_survives_a_queue(order: Order) -> None:
    assert Order.of(order.as_json()) == order


@pytest.mark.long
def test_shards_that_are_put_together_are_the_run_in_one_piece(
    loaded: Suite, order: Order, shards: tuple[Path, list[ShardResult]], small: RunFolder, tmp_path: Path
) -> None:
    whole = gathered(loaded, order, shards[1], shards[0], tmp_path)
    assert whole.verdicts.read_bytes() == small.verdicts.read_bytes()
    assert texts(whole) == texts(small)
    assert whole.summary.read_bytes() == small.summary.read_bytes()
    assert verify(whole) == 8


@pytest.mark.long
def test_putting_together_goes_on_where_it_was_interrupted(
    loaded: Suite,
    order: Order,
    shards: tuple[Path, list[ShardResult]],
    small: RunFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied: list[Path] = []

    def copy(source: Path, target: Path) -> None:
        if len(copied) == 4:
            raise HarnessError("the disk is full")
        copied.append(target)
        target.write_bytes(source.read_bytes())

    with monkeypatch.context() as patched:
        patched.setattr("unacked.scale.shard._copy", copy)
        with pytest.raises(HarnessError, match="the disk is full"):
            gathered(loaded, order, shards[1], shards[0], tmp_path)
    whole = gathered(loaded, order, shards[1], shards[0], tmp_path)
    assert whole.verdicts.read_bytes() == small.verdicts.read_bytes()
    assert len(whole.timings.read_text().splitlines()) == 8


@pytest.mark.long
def test_a_shard_that_is_not_done_is_missed(
    loaded: Suite, order: Order, shards: tuple[Path, list[ShardResult]], tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=r"^big: shards 2 are not done$"):
        gathered(loaded, order, shards[1][1:], shards[0], tmp_path)


@pytest.mark.long
def test_a_shard_that_is_not_what_was_reported_is_refused(
    loaded: Suite, order: Order, shards: tuple[Path, list[ShardResult]], tmp_path: Path
) -> None:
    wrong = [replace(shards[1][0], head="0" * 64), *shards[1][1:]]
    with pytest.raises(RecordError, match=r"big\.shard-0002: the verdicts are not those that were reported"):
        gathered(loaded, order, wrong, shards[0], tmp_path)


@pytest.mark.long
def test_a_shard_goes_on_where_its_last_holder_was(loaded: Suite, order: Order, tmp_path: Path) -> None:
    heard: list[str] = []

    def interrupted(outcome: Outcome) -> None:
        heard.append(outcome.line["trial"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_shard(loaded, order, 1, tmp_path, interrupted)
    run_shard(loaded, order, 1, tmp_path, lambda outcome: heard.append(outcome.line["trial"]))
    assert len(heard) == len(set(heard)) == 3


@pytest.mark.long
def test_two_holders_of_one_shard_are_kept_apart(loaded: Suite, order: Order, tmp_path: Path) -> None:
    def another(_: Outcome) -> None:
        run_shard(loaded, order, 1, tmp_path, ignored)

    with pytest.raises(HarnessError, match="another process is at work on this run"):
        run_shard(loaded, order, 1, tmp_path, another)


def test_a_worker_with_another_suite_refuses(loaded: Suite, order: Order, tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match=r"gives plan [0-9a-f]{16}, but 'big' was ordered as 0{16}\n"):
        run_shard(loaded, replace(order, run="0" * 16), 0, tmp_path, ignored)


@pytest.mark.long
def test_an_attended_shard_that_is_cancelled_leaves_no_process(little: Path, order: Order, tmp_path: Path) -> None:
    def cancel(_: ShardState) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(attended(order, 2, little, tmp_path, cancel))
    assert multiprocessing.active_children() == []


@pytest.mark.long
def test_what_a_shard_refuses_its_attendant_hears(little: Path, order: Order, tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match="was ordered as"):
        asyncio.run(attended(replace(order, run="0" * 16), 0, little, tmp_path, ignored))
