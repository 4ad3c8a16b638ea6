"""Turn recorded episodes of small models into neutral traces.

    python tests/data/convert_real_episodes.py EPISODES.jsonl TRACES.jsonl

The task was: create a record under a given request id, then attach a note to it. The tools knew no idempotency
key, and the answer to the first create was usually withheld. One episode a line, with these keys:

    tag, prompt, temp, seed   the model and what was varied; `guard` is a prompt with a rule, `naive` has none
    finish                    whether the tool `finish` was offered
    raw                       one [text, [[operation, arguments as JSON text], ...], why the reply ended] a turn
    path                      `operation->answer` a call, `finish:status`, or `FINAL` for a reply without a call
    secs                      seconds that the model took, one number a turn
    creates, notes            how many creates the service carried out, and the notes that it holds

What is not in the record is not in the trace. The service numbered its records from rec-4711, one a create; a
result gets such an id only where a later call shows that the model was told it. `finish` gets no answer.

A reply without a call ends the trace as `finished`: the agent stopped by itself. A reply that was cut at the token
limit, or a last turn that still made a call, ends it as `budget`: the limit of turns was met. That holds without
the tool `finish` too: such an agent could have stopped with plain text, and did not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

Line = dict[str, Any]

CATEGORIES = {
    "success": "ok",
    "found": "ok",
    "not_found": "not_found",
    "outcome_unknown": "outcome_unknown",
}
STATUSES = {"done": "success", "blocked": "unknown"}
FIRST_RECORD = 4711
FINISH, FINAL = "finish", "FINAL"


def convert(episodes: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines of all traces; raises ValueError where an episode contradicts itself."""
    for number, episode in enumerate(episodes, start=1):
        name = f"{number:02d}.{episode['tag']}.{episode['prompt']}.T{episode['temp']:g}.seed{episode['seed']}"
        try:
            lines = list(_trace(episode))
            _check(episode, lines)
        except ValueError as error:
            raise ValueError(f"episode {number}: {error}") from None
        yield from ({"trace": name, **line} for line in lines)


def _trace(episode: Line) -> Iterator[Line]:
    yield {"type": "begin", "graph": "create-outcome-unknown", "idempotent": False}
    words = iter(episode["path"])
    records = _Records(episode)
    elapsed_s = 0.0
    for turn, ((_, calls, _), seconds) in enumerate(zip(episode["raw"], episode["secs"], strict=True), start=1):
        elapsed_s += seconds
        at = round(elapsed_s, 1)
        for position, (operation, written) in enumerate(calls, start=1):
            call = f"c{turn}" if len(calls) == 1 else f"c{turn}.{position}"
            arguments = json.loads(written)
            said = _answer(next(words, ""), operation)
            if operation == FINISH:
                arguments["status"] = STATUSES[arguments["status"]]
            yield {"type": "call", "turn": turn, "id": call, "operation": operation, "args": arguments, "at": at}
            if operation != FINISH:
                fields = records.fields(operation, CATEGORIES[said], turn)
                yield {"type": "result", "call": call, "category": CATEGORIES[said], "fields": fields, "at": at}
    yield {"type": "end", "reason": _reason(*episode["raw"][-1]), "at": round(elapsed_s, 1)}


def _reason(_text: str, calls: Sequence[tuple[str, str]], ended: str) -> str:
    """Say why the episode ended, from its last turn."""
    stopped = any(operation == FINISH for operation, _ in calls) or ended == "stop"
    return "finished" if stopped else "budget"


def _answer(word: str, operation: str) -> str:
    """Return what a word of the path says, which must be of the call that the model emitted."""
    name, separator, said = word.partition(":" if operation == FINISH else "->")
    if name != operation or not separator:
        raise ValueError(f"the model called {operation!r} where the path has {word!r}")
    return said


class _Records:
    """The ids that the answers of one episode must have held."""

    def __init__(self, episode: Line) -> None:
        self._turns: Sequence[Any] = episode["raw"]
        self._created = 0

    def fields(self, operation: str, category: str, turn: int) -> Line:
        if operation == "create_record":
            self._created += 1
            number = FIRST_RECORD + self._created - 1
        elif operation == "lookup_by_request_id":
            number = FIRST_RECORD
        else:
            return {}
        record = f"rec-{number}"
        return {"record_id": record} if category == "ok" and self._shown(record, turn) else {}

    def _shown(self, record: str, turn: int) -> bool:
        return any(
            record in json.loads(written).values()
            for _, calls, _ in self._turns[turn:]
            for operation, written in calls
            if operation != FINISH
        )


def _check(episode: Line, lines: Sequence[Line]) -> None:
    """The trace must tell what the service held at the end."""
    calls = {line["id"]: line for line in lines if line["type"] == "call"}
    created = sum(call["operation"] == "create_record" for call in calls.values())
    notes = [
        calls[line["call"]]["args"]
        for line in lines
        if line["type"] == "result" and line["category"] == "ok" and calls[line["call"]]["operation"] == "attach_note"
    ]
    if created != episode["creates"] or notes != episode["notes"]:
        raise ValueError(f"the service held {episode['creates']} records and the notes {episode['notes']}")
    if len(calls) != len([word for word in episode["path"] if word != FINAL]):
        raise ValueError(f"{len(calls)} calls, but the path is {episode['path']}")


def main(source: str, target: str) -> None:
    """Convert one file into another."""
    episodes = [json.loads(line) for line in Path(source).read_text(encoding="utf-8").splitlines()]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in convert(episodes))
    Path(target).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
