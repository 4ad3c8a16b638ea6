"""A model server: scripted policies behind the APIs of Anthropic (Messages) and OpenAI (Chat Completions, Responses).

The name of the model is that of an agent with a policy, such as ``careful``. The policy is played anew for every
request, against the results that stand in it: a client that forgets or changes what was said is refused, and a
fault that is missing from a later request does not go unseen. What a provider or a model can get wrong is a quirk
in the seed: ``quirks: [{nth: 2, quirk: unknown_tool}]``.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from unacked.agents import Call, HandedOver, Task, load_policy
from unacked.agents import Step as ScriptStep
from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.contract import Idempotency
from unacked.services import Call as Asked
from unacked.services import Field, RefusedError, Result, Route, SeedError, Service, Setting, check_seed
from unacked.services.speech import APIS, Api, ApiRefusedError, Conversation, Made, Speech, Stop, server_sent
from unacked.tools import HAND_OVER, REGISTRY
from unacked.wire.message import Request, Response

AGENTS = Path(__file__).resolve().parent.parent / "agents"
SNAPSHOT = "20260115"
TOKEN_BYTES = 4
QUIRK = "quirk"

Spoil = Callable[[Speech], Speech]


def _never(_: Service, call: Asked) -> Result:
    raise AssertionError(f"{call} is answered by handle")


ROUTES = tuple(Route(operation, "POST", api.path, _never) for operation, api in APIS.items())


class Model(Service):
    """One server with any number of models; it remembers nothing between two requests."""

    name = "model"

    def __init__(self, setting: Setting, key: str, tasks: Mapping[str, Task], quirks: Mapping[int, JSON]) -> None:
        super().__init__(setting, {"answers": 0, "quirks": dict(quirks)})
        self._key = key
        self._tasks = tasks

    routes = ROUTES

    def summary(self) -> dict[str, JSON]:
        """Count the requests that came, and the quirks that have not shown."""
        received = sum(entry.moment == "received" for entry in self.ledger)
        return {"model_requests": received, "quirks_left": len(self.state["quirks"])}

    def handle(self, request: Request, *, commit: bool = True) -> Response:  # noqa: ARG002 - nothing is ever changed
        """Answer one request, by the policy that its model names."""
        operation = self.operation_of(request.method, request.path)
        received = self.ledger.receive(request, operation)
        number = self.state["answers"] = self.state["answers"] + 1
        api = APIS[operation or "messages"]
        try:
            self._admit_client(api, request, operation)
            response = self._answer(api, request, self.state["quirks"].get(number))
        except ApiRefusedError as error:
            response = Response(
                error.status, dumps(api.refusal(error)).encode(), (("content-type", "application/json"),)
            )
        except RefusedError as error:
            told = ApiRefusedError("refused for now", status=error.result.status, word=str(error.result.body["error"]))
            headers = (("content-type", "application/json"), *error.result.headers)
            response = Response(told.status, dumps(api.refusal(told)).encode(), headers)
        self.ledger.respond(received, response.status)
        ids = (("request-id", f"req_{number}"), ("x-request-id", f"req_{number}"))
        return replace(response, headers=(*response.headers, *ids))

    def _admit_client(self, api: Api, request: Request, operation: str | None) -> None:
        if operation is None:
            raise ApiRefusedError("no such path", status=404, word="not_found_error")
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self._key.encode()):
            # Providers really do repeat the key here: who quotes this answer leaks it.
            raise ApiRefusedError(f"Incorrect API key provided: {given}", status=401, word="authentication_error")
        self._admit(self.operations[operation], "agent")
        for name, word in api.headers.items():
            if word not in request.headers.get(name, ""):
                raise ApiRefusedError(f"{name}: header is required")

    def _answer(self, api: Api, request: Request, quirk: JSON) -> Response:
        try:
            body = loads(request.body)
        except InvalidJSON as error:
            raise ApiRefusedError(f"the body is not JSON: {error}") from None
        conversation = api.read(body if isinstance(body, dict) else {})
        speech = self._speech(conversation, len(dumps(body)) // TOKEN_BYTES)
        word: str = quirk["quirk"] if quirk else ""
        if word in WHOLE:
            self._shown(quirk)
            return WHOLE[word]()
        if word in SPOILT:
            speech = SPOILT[word](speech)
            self._shown(quirk)
        if not conversation.stream:
            return Response(200, dumps(api.write(speech)).encode(), (("content-type", "application/json"),))
        events = api.events(speech)
        if word == "cut_stream" and quirk["after"] < len(events):
            self._shown(quirk)
            events = events[: quirk["after"]]
        return Response(200, server_sent(events), (("content-type", "text/event-stream"),))

    def _shown(self, quirk: JSON) -> None:
        del self.state["quirks"][quirk["nth"]]

    def _speech(self, conversation: Conversation, sent_tokens: int) -> Speech:
        number = len(conversation.exchanges) + 1
        move = self._move(conversation)
        moves = [move] if isinstance(move, Call) else list(move or ())
        calls = [
            Made(f"call_{number}_{place}", call.operation, dumps(dict(call.arguments)))
            for place, call in enumerate(moves, start=1)
        ]
        return Speech(
            number=number,
            served=f"{conversation.model}-{SNAPSHOT}",
            stop=Stop.CALLS if calls else Stop.ENDED,
            text="" if calls else "There is nothing left to do.",
            calls=calls,
            thought=f"What the rules say about step {number}." if conversation.thinks else None,
            sent_tokens=max(1, sent_tokens),
            written_tokens=max(1, sum(len(call.arguments) for call in calls) // TOKEN_BYTES),
        )

    def _move(self, conversation: Conversation) -> Call | Sequence[Call] | None:
        """Play the policy up to now; raises ApiRefusedError where the request tells another story."""
        task = self._tasks.get(conversation.task)
        if task is None:
            raise ApiRefusedError("this server knows no such task")
        if sorted(conversation.tools) != sorted(task.tools):
            raise ApiRefusedError(f"the task has the tools {sorted(task.tools)}, not {sorted(conversation.tools)}")
        policy = AGENTS / conversation.model / "policy.py"
        if not conversation.model.isidentifier() or not policy.is_file():
            raise ApiRefusedError(f"no model {conversation.model}", status=404, word="model_not_found")
        moves = load_policy(policy)(task)
        try:
            move = next(moves)
            for exchange in conversation.exchanges:
                if exchange.calls[0].id.startswith(QUIRK):
                    continue
                made = [move] if isinstance(move, Call) else move
                told = [(call.name, loads(call.arguments)) for call in exchange.calls]
                if told != [(call.operation, loads(dumps(dict(call.arguments)))) for call in made]:
                    raise ApiRefusedError("the conversation holds calls that were never made")
                results = [loads(text) for text in exchange.results]
                move = moves.send(results[0] if isinstance(move, Call) else results)
        except InvalidJSON:
            raise ApiRefusedError("a result is not the one that the tool gave") from None
        except StopIteration:
            return None
        return move


# What can go wrong. A spoilt reply is no move of the policy: its calls say so by their ids.


def _called(speech: Speech, *calls: tuple[str, str], stop: Stop = Stop.CALLS, same: bool = False) -> Speech:
    made = [
        Made(f"{QUIRK}_{speech.number}_{1 if same else place}", name, arguments)
        for place, (name, arguments) in enumerate(calls, start=1)
    ]
    return replace(speech, calls=made, stop=stop, text="")


def _cut(speech: Speech, stop: Stop) -> Speech:
    name, arguments = (
        (speech.calls[0].name, speech.calls[0].arguments) if speech.calls else ("finish", '{"status":"x"}')
    )
    return _called(speech, (name, arguments[: len(arguments) // 2]), stop=stop)


WAIT = ("wait", '{"seconds":0}')

SPOILT: Mapping[str, Spoil] = {
    "unknown_tool": lambda speech: _called(speech, ("no_such_tool", "{}")),
    "wrong_arguments": lambda speech: _called(speech, ("wait", '{"seconds":"soon"}')),
    "not_an_object": lambda speech: _called(speech, ("wait", "[0]")),
    "cut_arguments": lambda speech: _cut(speech, Stop.CALLS),
    "duplicate_ids": lambda speech: _called(speech, WAIT, WAIT, same=True),
    "parallel_calls": lambda speech: _called(speech, WAIT, WAIT),
    "truncated": lambda speech: _cut(speech, Stop.TRUNCATED),
    "empty": lambda speech: replace(speech, calls=(), text="", stop=Stop.ENDED),
    "refusal": lambda speech: replace(speech, calls=(), text="I cannot help with that.", stop=Stop.REFUSED),
    "unknown_stop": lambda speech: replace(speech, stop=Stop.UNHEARD_OF),
    "stop_without_calls": lambda speech: replace(speech, calls=(), text="", stop=Stop.CALLS),
    "no_usage": lambda speech: replace(speech, counts=False),
    "wrong_model": lambda speech: replace(speech, served="another-model"),
}
"""Replies that keep the form of the API; the first eight are the model's fault, the others the provider's."""


def _too_long() -> Response:
    raise ApiRefusedError("prompt is too long: 200001 tokens > 200000 maximum", word="context_length_exceeded")


WHOLE: Mapping[str, Callable[[], Response]] = {
    "html": lambda: Response(200, b"<html><body>Sign in</body></html>", (("content-type", "text/html"),)),
    "error_body": lambda: Response(
        200, b'{"error":{"type":"api_error","message":"upstream"}}', (("content-type", "application/json"),)
    ),
    "not_json": lambda: Response(200, b'{"id": "msg', (("content-type", "application/json"),)),
    "context_too_long": _too_long,
}
"""Answers in place of a reply."""

QUIRKS = (*SPOILT, *WHOLE, "cut_stream")
TASK = {
    "text": Field(),
    "tools": Field((list,)),
    "script": Field((list,)),
    "idempotency": Field((dict,), required=False),
    "handed": Field((list,), required=False),
    "member": Field(required=False),
    "compensates": Field(required=False),
}


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the server; the seed holds the ``tasks`` that it knows and its ``quirks``. Raises SeedError."""
    check_seed(seed, ["tasks", "quirks"])
    tasks = {}
    for place, given in enumerate(seed.get("tasks", ())):
        for name, declared in TASK.items():
            value = given.get(name) if isinstance(given, dict) else None
            if declared.required if value is None else not declared.accepts(value):
                raise SeedError(("tasks", place, name), f"expected {declared}")
        tasks[given["text"]] = _task(given)
    quirks: dict[int, JSON] = {}
    for place, quirk in enumerate(seed.get("quirks", ())):
        quirks[_nth(place, quirk)] = quirk
    return Model(setting, setting.token, tasks, quirks)


def _task(given: Mapping[str, JSON]) -> Task:
    modes = given.get("idempotency") or {}
    known = {**REGISTRY, HAND_OVER.operation.name: HAND_OVER.operation}
    tools = {
        name: replace(known[name], idempotency_mode=Idempotency(modes[name])) if name in modes else known[name]
        for name in given["tools"]
    }
    script = [ScriptStep(name, arguments) for step in given["script"] for name, arguments in step.items()]
    handed = [HandedOver.told(told["from"], told if told["status"] else None) for told in given.get("handed") or ()]
    return Task(
        given["text"],
        tools,
        script=script,
        handed=handed,
        member=given.get("member") or "",
        compensates=given.get("compensates"),
    )


def _nth(place: int, quirk: JSON) -> int:
    if not isinstance(quirk, dict) or quirk.get("quirk") not in QUIRKS:
        raise SeedError(("quirks", place), f"expected a 'quirk' of: {', '.join(QUIRKS)}")
    nth = quirk.get("nth")
    if not isinstance(nth, int) or nth < 1:
        raise SeedError(("quirks", place), "expected 'nth', which answer it spoils, 1 or more")
    if (quirk["quirk"] == "cut_stream") is not isinstance(quirk.get("after"), int):
        raise SeedError(("quirks", place), "'after', a number of events, belongs to 'cut_stream' and to no other")
    return nth
