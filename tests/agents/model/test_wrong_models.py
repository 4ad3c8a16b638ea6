"""What the model got wrong is the agent's; what the provider got wrong is an ERROR; each on the record."""

from __future__ import annotations

import pytest
from tests.agents.model.conftest import DRIVERS, Trial, Tried

MODEL = [  # quirk, what is recorded of it, verdict
    ("unknown_tool", ["unknown_tool"], "FAIL"),
    ("wrong_arguments", ["invalid_arguments"], "PASS"),
    ("not_an_object", ["unreadable_arguments"], "PASS"),
    ("cut_arguments", ["unreadable_arguments"], "PASS"),
    ("duplicate_ids", ["duplicate_call_id"], "PASS"),
    ("parallel_calls", [], "PASS"),
    ("truncated", ["truncated"], "FAIL"),
    ("empty", ["empty_reply"], "FAIL"),
    ("refusal", ["refused"], "FAIL"),
]
PROVIDER = [  # quirk, kind of the failure
    ("unknown_stop", "malformed_answer"),
    ("no_usage", "malformed_answer"),
    ("wrong_model", "wrong_model"),
    ("html", "malformed_answer"),
    ("error_body", "malformed_answer"),
    ("not_json", "malformed_answer"),
    ("context_too_long", "context_too_long"),
]
FOR_NOW = [  # fault, kind of the failure, wait in seconds
    ("point: before_commit, action: {rate_limit: 7}", "rate_limited", 7),
    ("point: before_commit, action: {status: {code: 429, headers: {retry-after: 3600}}}", "rate_limited", 60),
    ("point: before_commit, action: {status: {code: 529}}", "overloaded", 1),
    ("point: before_commit, action: {status: {code: 500}}", "provider_error", 1),
    ("point: after_commit, action: rst", "no_connection", 1),
    ("point: in_body, action: fin", "no_connection", 1),
    ("point: after_commit, action: silence", "timeout", 1),
]


def check_model(trial: Trial, recorded: list[str], verdict: str) -> None:
    assert (trial.kinds("agent_erred"), trial.kinds("model_failed")) == (recorded, [])
    assert trial.line["verdict"] == verdict
    assert trial.rules() == []


def check_provider(trial: Trial, kind: str) -> None:
    assert trial.kinds("model_failed") == [kind]
    assert (trial.line["verdict"], trial.rules()) == ("ERROR", ["provider-failed"])
    assert trial.kinds("agent_erred") == []


def quirky(driver: str, **more: str) -> dict[str, dict[str, str]]:
    """One agent for every quirk that needs no stream."""
    quirks = [*(quirk for quirk, _, _ in MODEL), *(quirk for quirk, _ in PROVIDER)]
    return {quirk: {"driver": driver, "quirk": f"nth: 2, quirk: {quirk}", **more} for quirk in quirks}


def failing(driver: str, count: int) -> dict[str, dict[str, str]]:
    """One agent for each of the first failures that pass."""
    faults = [fault for fault, _, _ in FOR_NOW[:count]]
    return {
        f"for-now-{number}": {"driver": driver, "fault": f"nth: 2, {fault}", "timeout_s": "0.5"}
        for number, fault in enumerate(faults)
    }


LATER = "nth: 2, point: before_commit, persistent: true, action"
STREAMED = [(driver, after) for driver in ("anthropic", "openai-chat", "openai-responses") for after in (1, 3)]


@pytest.fixture(scope="module")
def done(tried: Tried) -> dict[str, Trial]:
    """Everything that is cheap, in one run."""
    chat = {"driver": "openai-chat"}
    thinks = {"anthropic": "{thinking: {type: enabled, budget_tokens: 1024}}", "openai-responses": "{reasoning: {}}"}
    wrong = {"driver": "anthropic"}
    return tried(
        **quirky("openai-chat"),
        **failing("openai-chat", 3),
        **{
            f"cut-{driver}-{after}": {
                "driver": driver,
                "quirk": f"nth: 2, quirk: cut_stream, after: {after}",
                "stream": "true",
            }
            for driver, after in STREAMED
        },
        **{
            f"thinks-{driver}": {"driver": driver, "quirk": "nth: 2, quirk: parallel_calls", "parameters": parameters}
            for driver, parameters in thinks.items()
        },
        **{
            "down": {**wrong, "fault": f"{LATER}: {{status: {{code: 503}}}}"},
            "limited": {
                **wrong,
                "fault": f"{LATER}: {{rate_limit: 50}}",
                "retries": "{attempts: 9, total_wait_s: 120}",
            },
            "no-key": {**wrong, "fault": f"{LATER}: {{status: {{code: 401}}}}"},
            "late-fault": {**chat, "fault": "nth: 99, point: after_commit, action: rst"},
            "late-quirk": {**chat, "quirk": "nth: 99, quirk: empty"},
            "parameter": {**wrong, "parameters": "{no_such_parameter: 1}"},
            "nobody": {**wrong, "model": "nobody"},
            "dear": {**chat, "price": "{as_of: 2026-01-01, input: 1, output: 10}", "budget": "{usd: 0.002}"},
            "priced": {**chat, "price": "{as_of: 2026-01-01, input: 1, output: 10}"},
            "long": {**chat, "budget": "{tokens: 1500}"},
            "unpriced": {**chat, "budget": "{usd: 9}"},
        },
    )


@pytest.mark.parametrize(("quirk", "recorded", "verdict"), MODEL)
def test_what_a_model_gets_wrong_is_the_agents(
    done: dict[str, Trial], quirk: str, recorded: list[str], verdict: str
) -> None:
    check_model(done[quirk], recorded, verdict)


@pytest.mark.parametrize(("quirk", "kind"), PROVIDER)
def test_what_a_provider_gets_wrong_is_an_error(done: dict[str, Trial], quirk: str, kind: str) -> None:
    check_provider(done[quirk], kind)


@pytest.mark.parametrize("number", range(3))
def test_a_request_that_is_refused_for_now_is_sent_again_and_seen(done: dict[str, Trial], number: int) -> None:
    trial, (_, kind, wait_s) = done[f"for-now-{number}"], FOR_NOW[number]
    assert [(detail["kind"], detail["wait_s"]) for detail in trial.details("model_retried")] == [(kind, wait_s)]
    assert (trial.line["verdict"], trial.line["exercised"]["verdict"]) == ("PASS", "PASS")
    assert (len(trial.details("model_called")), trial.details("provider_seen")[0]["requests"]) == (6, 6)


def test_a_provider_that_fails_again_and_again_is_an_error(done: dict[str, Trial]) -> None:
    assert [detail["wait_s"] for detail in done["down"].details("model_retried")] == [1, 2, 4]
    check_provider(done["down"], "overloaded")


def test_waiting_has_a_budget(done: dict[str, Trial]) -> None:
    assert [detail["wait_s"] for detail in done["limited"].details("model_retried")] == [50, 50]
    check_provider(done["limited"], "rate_limited")


def test_a_key_that_is_refused_is_not_tried_again(done: dict[str, Trial]) -> None:
    assert done["no-key"].kinds("model_retried") == []
    check_provider(done["no-key"], "refused_key")


@pytest.mark.parametrize("name", ["late-fault", "late-quirk"])
def test_a_fault_of_the_provider_that_never_showed_proves_nothing(done: dict[str, Trial], name: str) -> None:
    assert (done[name].line["verdict"], done[name].rules("exercised")) == ("INCONCLUSIVE", ["fault-not-exercised"])


@pytest.mark.parametrize(("driver", "after"), STREAMED)
def test_a_stream_that_ends_early_is_never_taken_for_a_reply(done: dict[str, Trial], driver: str, after: int) -> None:
    trial = done[f"cut-{driver}-{after}"]
    assert trial.kinds("model_retried") == ["cut_stream"]
    assert (trial.line["verdict"], trial.rules("exercised")) == ("PASS", [])


@pytest.mark.parametrize(
    ("driver", "kinds"),
    [("anthropic", ["thinking", "tool_use"]), ("openai-responses", ["reasoning", "function_call"])],
)
def test_thoughts_go_back_as_they_came(done: dict[str, Trial], driver: str, kinds: list[str]) -> None:
    trial = done[f"thinks-{driver}"]
    messages = trial.details("model_answered")[0]["messages"]
    blocks = messages[0]["content"] if driver == "anthropic" else messages
    assert [block["type"] for block in blocks] == kinds
    assert trial.line["verdict"] == "PASS"  # the server refuses a reply whose thought is missing or changed


def test_a_refused_parameter_is_an_error_with_a_name(done: dict[str, Trial]) -> None:
    check_provider(done["parameter"], "sdk_refused")


def test_an_unknown_model_is_an_error_with_a_name(done: dict[str, Trial]) -> None:
    check_provider(done["nobody"], "unknown_model_or_url")


def test_what_a_reply_cost_is_on_the_record(done: dict[str, Trial]) -> None:
    answered = done["priced"].details("model_answered")
    usage = answered[0]["usage"]
    assert answered[0]["usd"] == pytest.approx((usage["input_tokens"] + 10 * usage["output_tokens"]) / 1_000_000)
    assert done["priced"].line["model"]["usd"] == pytest.approx(sum(detail["usd"] for detail in answered))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("dear", "the agent's budget of 0.002 US dollars is spent"),
        ("long", "the agent's budget of 1500 tokens is spent"),
        ("unpriced", "the agent has a budget in US dollars, and what it has spent is not known"),
    ],
)
def test_a_spent_budget_cuts_the_trial_and_proves_nothing(done: dict[str, Trial], name: str, told: str) -> None:
    trial = done[name]
    assert (trial.line["verdict"], trial.details("trial_end")[0]["reason"]) == ("INCONCLUSIVE", "cut")
    assert trial.details("trial_end")[0]["trouble"] == told


@pytest.fixture(scope="module", params=[(driver, stream) for driver in DRIVERS for stream in ("false", "true")])
def everywhere(request: pytest.FixtureRequest, tried: Tried) -> tuple[str, str, dict[str, Trial]]:
    """Every quirk and every failure through one driver."""
    driver, stream = request.param
    return driver, stream, tried(**quirky(driver, stream=stream), **failing(driver, len(FOR_NOW)))


@pytest.mark.long
def test_what_a_model_gets_wrong_is_the_agents_through_every_driver(
    everywhere: tuple[str, str, dict[str, Trial]],
) -> None:
    for quirk, recorded, verdict in MODEL:
        check_model(everywhere[2][quirk], recorded, verdict)


UNSEEN = {
    # LiteLLM invents a stop reason, usage and a model's name in streams, and statuses for what is no answer.
    ("litellm", "true"): {"unknown_stop", "no_usage", "wrong_model", "html", "error_body", "not_json"},
    ("litellm", "false"): {"html", "error_body", "not_json"},
    # The end of such a stream is missing too, so it is one that was cut.
    ("openai-chat", "true"): {"no_usage"},
}


@pytest.mark.long
def test_what_a_provider_gets_wrong_is_an_error_through_every_driver(
    everywhere: tuple[str, str, dict[str, Trial]],
) -> None:
    driver, stream, done = everywhere
    for quirk, kind in PROVIDER:
        if quirk not in UNSEEN.get((driver, stream), ()):
            check_provider(done[quirk], kind)


@pytest.mark.long
def test_every_failure_for_now_is_seen_through_every_driver(everywhere: tuple[str, str, dict[str, Trial]]) -> None:
    driver, _, done = everywhere
    for number, (_, kind, wait_s) in enumerate(FOR_NOW):
        trial = done[f"for-now-{number}"]
        kinds = {kind, "provider_error"} if driver == "litellm" else {kind}  # it invents a status for a lost connection
        assert set(trial.kinds("model_retried")) <= kinds
        assert [detail["wait_s"] for detail in trial.details("model_retried")] == [wait_s]
        assert trial.line["verdict"] == "PASS"


@pytest.mark.long
@pytest.mark.parametrize("driver", ["anthropic", "openai-chat", "openai-responses"])
def test_a_stream_cut_after_any_event_is_never_taken_for_a_reply(tried: Tried, driver: str) -> None:
    cut = {
        f"cut-{after}": {"driver": driver, "quirk": f"nth: 2, quirk: cut_stream, after: {after}", "stream": "true"}
        for after in range(1, 9)
    }
    whole = []
    for name, trial in tried(**cut).items():
        if trial.rules("exercised"):  # the stream is not that long
            assert trial.line["verdict"] == "INCONCLUSIVE"
        elif trial.kinds("model_retried"):
            assert (trial.kinds("model_retried"), trial.line["verdict"]) == (["cut_stream"], "PASS")
        else:
            assert trial.line["verdict"] == "PASS"
            whole.append(name)
    # Everything was there; only the mark after the last event was cut.
    assert whole == (["cut-6"] if driver == "openai-chat" else [])
